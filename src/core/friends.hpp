//! Friends - the Sorrel processes of one user, who see each other in a shared page and take fair
//! shares of the processors.
//!
//! Every process has one entry: who it is, how many threads it could use now, and on which
//! processors. Each computes its own share from all entries, by the same rule, so nobody hands out
//! anything and nobody can keep what it had first. Entries of processes that have died are
//! reclaimed by whoever looks. One owner per process. Limit: entry_count_max processes; who finds
//! no entry free sees no friends. Ordering label: (F) the identity of an entry.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>

#include "base/cache_line.hpp"

namespace sorrel::core {

class Friends {
 public:
  static constexpr std::uint32_t entry_count_max = 128;
  static constexpr std::uint32_t cpu_words = 16;
  using Cpus = std::array<std::uint64_t, cpu_words>;

  struct alignas(cache_line_bytes) Entry {
    /// 0: free.
    std::atomic<std::uint64_t> identity;
    /// Threads that could be used now; keeps_bit: by somebody who keeps them when others do, or
    /// who has left.
    std::atomic<std::uint32_t> demand;
    std::array<std::atomic<std::uint64_t>, cpu_words> cpus;
  };

  struct Page {
    std::array<Entry, entry_count_max> entries;
    /// Counts what the others should look at soon; what all sleep on.
    alignas(cache_line_bytes) std::atomic<std::uint32_t> news;
  };

  /// What a look at the page tells.
  struct View {
    std::uint32_t fair_share = 1;
    /// With work, on processors that are ours, too; we included.
    std::uint32_t friend_count = 1;
    /// All of them, but we, keep their threads when others do.
    bool do_all_keep = true;
  };

  /// Takes an entry of `page` (all zero when it is new); null: no friends.
  Friends(Page* page, std::uint64_t own_identity, const Cpus& cpus);
  ~Friends();
  Friends(const Friends&) = delete;
  Friends& operator=(const Friends&) = delete;

  /// The page of this user on this machine; or null, and one line in `trouble` that says why.
  static Page* map_page(std::string& trouble);

  /// The mask of a list of processors; those beyond the mask's end count as the last one.
  static Cpus mask_of(std::span<const int> cpus);

  /// Tells the others how many threads we could use (0: none, we wait), and whether we keep them if
  /// all others do, too.
  void set_demand(std::uint32_t demand, bool keeps = false);

  /// We want no processors any more, whatever is said later; any thread. The entry stays ours until
  /// we are destroyed, or dead.
  void leave() const;

  /// So many times somebody has come, gone, or begun or ceased to want processors. Acquire.
  [[nodiscard]] std::uint32_t news() const { return news_word().load(std::memory_order_acquire); }

  /// Sleeps until the news are others than `known`, at most timeout_ns nanoseconds; may return for
  /// no reason.
  void wait_for_news(std::uint32_t known, std::int64_t timeout_ns) const;

  /// Any thread: wakes who sleeps in wait_for_news(), here and in all other processes.
  void tell_news() const;

  /// Our share of `cpus` processors now, if we wanted `demand`: what we shall take when we come
  /// back from waiting or serial work.
  [[nodiscard]] View look(std::uint32_t cpus, std::uint32_t demand) const;

  /// Frees the entries of the dead.
  void reclaim() const;

  /// The same, but for those that have ended and whose parents have not asked for them yet, or
  /// whose numbers others have now: quicker.
  void reclaim_gone() const;

 private:
  static constexpr std::uint32_t keeps_bit = 1U << 31;
  /// A demand: none, for ever.
  static constexpr std::uint32_t has_left = keeps_bit;

  void reclaim_if(bool (*is_dead)(std::uint64_t identity)) const;
  [[nodiscard]] bool competes(const Entry& entry) const;

  [[nodiscard]] std::atomic<std::uint32_t>& news_word() const {
    return mine_ != nullptr ? page_->news : own_news_;
  }

  Page* const page_;
  const std::uint64_t identity_;
  const Cpus cpus_;
  Entry* mine_ = nullptr;
  /// Where there is no entry.
  mutable std::atomic<std::uint32_t> own_news_{0};
};

}  // namespace sorrel::core
