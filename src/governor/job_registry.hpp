//! JobRegistry - the processes of one user's jobs, which see each other in a shared page and take
//! fair shares of the processors; on machines whose administrator allows it, those of all users.
//!
//! Every process has one entry: its identity, how many threads it could use now, and on which
//! processors. Each computes its own share from all entries, by the same rule. So no process
//! assigns shares, and none can keep what it had first. Any process frees the entries of dead
//! processes. One owner per process. Limit: entry_count_max processes; a process that finds no free
//! entry sees no peers. Each user has a page; those of other users are only read, and their changes
//! are seen at the next tick. Ordering label: (F) the identity of an entry.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/cache_line.hpp"
#include "os/user_pages.hpp"

namespace sorrel::governor {

class JobRegistry {
 public:
  static constexpr std::uint32_t entry_count_max = 128;
  static constexpr std::uint32_t cpu_words = 16;
  using Cpus = std::array<std::uint64_t, cpu_words>;

  struct alignas(cache_line_bytes) Entry {
    /// 0: free.
    std::atomic<std::uint64_t> identity;
    /// Threads that could be used now. keeps_bit: the process keeps them if its peers keep theirs,
    /// or it has deregistered.
    std::atomic<std::uint32_t> demand;
    std::array<std::atomic<std::uint64_t>, cpu_words> cpus;
  };

  struct Page {
    std::array<Entry, entry_count_max> entries;
    /// Counts changes that peers should read soon; all processes sleep on it.
    alignas(cache_line_bytes) std::atomic<std::uint32_t> change_count;
  };

  /// The result of reading the page.
  struct View {
    std::uint32_t fair_share = 1;
    /// Processes with work on processors that this process may use; this process included.
    std::uint32_t process_count = 1;
    /// All peers keep their threads if this process does.
    bool do_all_keep = true;
  };

  /// The folder with a page of each user, if the administrator has made it.
  static constexpr const char* users_folder = "/dev/shm/sorrel-users";

  /// Takes an entry of `page` (all zero when it is new); null: no peers. `folder`: of the pages of
  /// other users; null: they are not read.
  JobRegistry(Page* page,
              std::uint64_t own_identity,
              const Cpus& cpus,
              const char* folder = nullptr);
  ~JobRegistry();
  JobRegistry(const JobRegistry&) = delete;
  JobRegistry& operator=(const JobRegistry&) = delete;

  /// The page of this user on this machine; or null, and one line in `trouble` with the reason. In
  /// `folder`, if it is not null.
  static Page* map_page(std::string& trouble, const char* folder);

  /// The mask of a list of processors; those beyond the mask's end count as the last one.
  static Cpus mask_of(std::span<const int> cpus);

  /// Publishes how many threads this process could use (0: none, it waits), and whether it keeps
  /// them if all peers do, too.
  void set_demand(std::uint32_t demand, bool keeps = false);

  /// Sets the demand to 0 for good; later calls of set_demand() have no effect. Any thread. The
  /// entry is freed by the destructor, or after the process's death.
  void deregister() const;

  /// Counts processes that come, go, or begin or cease to need processors. Acquire.
  [[nodiscard]] std::uint32_t change_count() const {
    return change_word().load(std::memory_order_acquire);
  }

  /// Sleeps until that number differs from `known`, at most timeout_ns; may return early.
  void wait_for_change(std::uint32_t known, std::int64_t timeout_ns) const;

  /// Any thread: wakes all threads in wait_for_change(), in all processes.
  void publish_change() const;

  /// The process's share of `cpus` processors now, if it had `demand`: the share that it takes
  /// after a wait or serial work.
  [[nodiscard]] View read(std::uint32_t cpus, std::uint32_t demand) const;

  /// Looks for pages of other users. The monitor's thread.
  void find_other_users();

  /// Frees the entries of dead processes.
  void reclaim() const;

  /// As reclaim(), but only for processes that have ended and are not reaped, or whose numbers have
  /// been reused: faster.
  void reclaim_gone() const;

 private:
  static constexpr std::uint32_t keeps_bit = 1U << 31;
  /// A demand of 0 that cannot change.
  static constexpr std::uint32_t deregistered = keeps_bit;

  static constexpr const char* page_name = "sorrel-4";

  struct Sum {
    std::vector<std::uint32_t> demands;
    bool do_all_keep = true;
  };

  void add(const Entry& entry, Sum& sum) const;
  void add_users(std::uint32_t first, std::uint32_t last, Sum& sum) const;
  void reclaim_if(bool (*is_dead)(std::uint64_t identity)) const;
  [[nodiscard]] bool competes(const Entry& entry) const;

  [[nodiscard]] std::atomic<std::uint32_t>& change_word() const {
    return own_entry_ != nullptr ? page_->change_count : own_change_count_;
  }

  Page* const page_;
  const std::uint64_t identity_;
  const Cpus cpus_;
  Entry* own_entry_ = nullptr;
  /// Null where the administrator has not allowed it.
  std::unique_ptr<os::UserPages> users_;
  /// A copy of another user's page.
  std::unique_ptr<Page> copy_;
  /// Used without an entry.
  mutable std::atomic<std::uint32_t> own_change_count_{0};
};

}  // namespace sorrel::governor
