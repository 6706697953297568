#include "governor/job_registry.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "governor/governor.hpp"
#include "os/futex.hpp"
#include "os/shared_page.hpp"

namespace sorrel::governor {

JobRegistry::JobRegistry(Page* page,
                         std::uint64_t own_identity,
                         const Cpus& cpus,
                         const char* folder)
    : page_(page), identity_(own_identity), cpus_(cpus) {
  if (page_ == nullptr) return;
  if (folder != nullptr) {
    users_ = std::make_unique<os::UserPages>(folder, page_name, sizeof(Page));
    users_->find();
    copy_ = std::make_unique<Page>();
  }
  reclaim();
  for (Entry& entry : page_->entries) {
    std::uint64_t free = 0;
    // Relaxed: the entry's contents are published by (F) below; until then its demand is 0.
    if (entry.identity.load(std::memory_order_relaxed) != 0 ||
        !entry.identity.compare_exchange_strong(free, identity_, std::memory_order_relaxed))
      continue;
    entry.demand.store(0, std::memory_order_relaxed);
    for (std::size_t i = 0; i < cpu_words; ++i)
      entry.cpus[i].store(cpus_[i], std::memory_order_relaxed);
    own_entry_ = &entry;
    return;
  }
}

JobRegistry::~JobRegistry() {
  if (own_entry_ == nullptr) return;
  set_demand(0);
  // Relaxed: the process that takes the entry next writes all of it.
  own_entry_->identity.store(0, std::memory_order_relaxed);
}

JobRegistry::Page* JobRegistry::map_page(std::string& trouble, const char* folder) {
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
  os::SharedPage page = folder == nullptr
                            ? os::map_shared_page(page_name, sizeof(Page))
                            : os::map_shared_page(page_name, sizeof(Page),
                                                  {.folder = folder, .is_readable_by_all = true});
  trouble = std::move(page.error);
  return static_cast<Page*>(page.base);
}

JobRegistry::Cpus JobRegistry::mask_of(std::span<const int> cpus) {
  Cpus mask{};
  for (const int cpu : cpus) {
    const auto bit = std::min(static_cast<std::size_t>(std::max(cpu, 0)), cpu_words * 64UL - 1);
    mask[bit / 64] |= std::uint64_t{1} << (bit % 64);
  }
  return mask;
}

void JobRegistry::set_demand(std::uint32_t demand, bool keeps) {
  if (demand != 0 && keeps) demand |= keeps_bit;
  if (own_entry_ == nullptr) return;
  std::uint32_t before = own_entry_->demand.load(std::memory_order_relaxed);
  do {
    if (before == deregistered) return;
    // (F) release, pairs with read(): a process that sees the demand sees its processors.
  } while (!own_entry_->demand.compare_exchange_weak(before, demand, std::memory_order_release,
                                                     std::memory_order_relaxed));
  if ((before == 0) != (demand == 0)) publish_change();
}

void JobRegistry::deregister() const {
  if (own_entry_ == nullptr) return;
  const std::uint32_t before = own_entry_->demand.exchange(deregistered, std::memory_order_release);
  if (before != 0 && before != deregistered) publish_change();
}

void JobRegistry::wait_for_change(std::uint32_t known, std::int64_t timeout_ns) const {
  os::futex_wait(change_word(), known, timeout_ns, os::FutexScope::shared);
}

void JobRegistry::publish_change() const {
  // Release, pairs with change_count(): the demand was written before.
  change_word().fetch_add(1, std::memory_order_release);
  os::futex_wake_all(change_word(), os::FutexScope::shared);
}

JobRegistry::View JobRegistry::read(std::uint32_t cpus, std::uint32_t own_demand) const {
  if (own_entry_ == nullptr) return {.fair_share = cpus};
  // One order in all processes: by user, then by entry.
  const std::uint32_t user = os::own_user();
  Sum sum;
  if (user != 0) add_users(0, user - 1, sum);
  std::size_t index = 0;
  for (const Entry& entry : page_->entries) {
    if (&entry == own_entry_) {
      index = sum.demands.size();
      sum.demands.push_back(own_demand);
    } else {
      add(entry, sum);
    }
  }
  add_users(user + 1, std::numeric_limits<std::uint32_t>::max(), sum);
  return {.fair_share = fair_share(cpus, sum.demands, index),
          .process_count = static_cast<std::uint32_t>(sum.demands.size()),
          .do_all_keep = sum.do_all_keep};
}

/// A peer with work on common processors.
void JobRegistry::add(const Entry& entry, Sum& sum) const {
  // (F) acquire.
  const std::uint32_t demand = entry.demand.load(std::memory_order_acquire);
  if ((demand & ~keeps_bit) == 0 || !competes(entry)) return;
  sum.demands.push_back(demand & ~keeps_bit);
  sum.do_all_keep = sum.do_all_keep && (demand & keeps_bit) != 0;
}

/// The peers of the users `first` to `last`, if they run: entries of dead processes stay until a
/// process of their user reclaims them.
void JobRegistry::add_users(std::uint32_t first, std::uint32_t last, Sum& sum) const {
  if (users_ == nullptr) return;
  for (const os::UserPages::Page& page : users_->pages()) {
    if (page.user < first || page.user > last || !users_->copy(page, copy_.get())) continue;
    for (const Entry& entry : copy_->entries) {
      const std::uint64_t identity = entry.identity.load(std::memory_order_relaxed);
      const bool has_work =
          (entry.demand.load(std::memory_order_relaxed) & ~keeps_bit) != 0 && identity != 0;
      if (has_work && os::is_process_of_user(identity, page.user)) add(entry, sum);
    }
  }
}

void JobRegistry::find_other_users() {
  if (users_ != nullptr) users_->find();
}

bool JobRegistry::competes(const Entry& entry) const {
  for (std::size_t i = 0; i < cpu_words; ++i) {
    if ((entry.cpus[i].load(std::memory_order_relaxed) & cpus_[i]) != 0) return true;
  }
  return false;
}

void JobRegistry::reclaim() const {
  reclaim_if([](std::uint64_t identity) { return !os::is_process_alive(identity); });
}

void JobRegistry::reclaim_gone() const {
  reclaim_if(os::is_process_gone);
}

void JobRegistry::reclaim_if(bool (*is_dead)(std::uint64_t identity)) const {
  if (page_ == nullptr) return;
  for (Entry& entry : page_->entries) {
    std::uint64_t identity = entry.identity.load(std::memory_order_relaxed);
    if (identity == 0 || identity == identity_ || !is_dead(identity)) continue;
    // First the demand, so that the dead process competes for nothing; then, if no other process
    // was faster, the entry.
    entry.demand.store(0, std::memory_order_relaxed);
    entry.identity.compare_exchange_strong(identity, 0, std::memory_order_relaxed);
  }
}

}  // namespace sorrel::governor
