#include "governor/job_registry.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "governor/governor.hpp"
#include "os/futex.hpp"
#include "os/shared_page.hpp"

namespace sorrel::governor {

JobRegistry::JobRegistry(Page* page, std::uint64_t own_identity, const Cpus& cpus)
    : page_(page), identity_(own_identity), cpus_(cpus) {
  if (page_ == nullptr) return;
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

JobRegistry::Page* JobRegistry::map_page(std::string& trouble) {
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
  os::SharedPage page = os::map_shared_page("sorrel-4", sizeof(Page));
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
  std::array<std::uint32_t, entry_count_max> demands;
  std::size_t count = 0;
  std::size_t index = 0;
  bool do_all_keep = true;
  for (const Entry& entry : page_->entries) {
    // (F) acquire.
    const std::uint32_t demand = entry.demand.load(std::memory_order_acquire);
    if (&entry == own_entry_) {
      index = count;
      demands[count++] = own_demand;
    } else if ((demand & ~keeps_bit) != 0 && competes(entry)) {
      demands[count++] = demand & ~keeps_bit;
      do_all_keep = do_all_keep && (demand & keeps_bit) != 0;
    }
  }
  return {.fair_share = fair_share(cpus, std::span(demands.data(), count), index),
          .process_count = static_cast<std::uint32_t>(count),
          .do_all_keep = do_all_keep};
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
