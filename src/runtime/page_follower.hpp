//! PageFollower - moves the memory of ranks that have changed their memory node after them.
//!
//! A thread of its own, made for the first such rank, moves pages in the background: a chunk, then
//! a pause of several times as long. So a process spends at most a ninth of one core on it. Ranks
//! run meanwhile; one that uses a page at the moment of its move waits for microseconds. Only pages
//! that are in memory are moved, and none are made. Nothing depends on the result: where the system
//! refuses, pages stay.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "os/page_nodes.hpp"
#include "os/touched_pages.hpp"

namespace sorrel::runtime {

class PageFollower {
 public:
  PageFollower() = default;
  PageFollower(const PageFollower&) = delete;
  PageFollower& operator=(const PageFollower&) = delete;
  ~PageFollower();

  /// The memory of the rank at place `place`, the part first that it uses most, goes to `node`.
  /// What is left of an earlier journey is dropped. Any thread.
  void follow(std::size_t place, std::vector<os::MemoryRange> memory, int node);

  /// The rank has left the place. Any thread.
  void forget(std::size_t place);

  struct Report {
    std::uint64_t rank_count = 0;
    /// Pages looked at, one that was moved twice counts twice.
    os::PageCount pages;
  };

  /// Any thread.
  [[nodiscard]] Report report();

  static constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
  /// Length of a pause over that of the chunk before.
  static constexpr std::int64_t pause_factor = 8;

 private:
  struct Journey {
    std::size_t place;
    std::vector<os::MemoryRange> memory;
    int node;
    /// What is done of the first range.
    std::size_t done_bytes = 0;
  };

  /// A piece of a journey.
  struct Chunk {
    os::MemoryRange range;
    int node = -1;
  };

  static void* thread_main(void* argument);
  void run();
  [[nodiscard]] bool take(Chunk& chunk);

  std::mutex mutex_;
  /// Under the lock.
  std::vector<Journey> journeys_;
  Report report_;
  bool has_thread_ = false;

  /// Counts what the thread is to look at. It sleeps on it.
  std::atomic<std::uint32_t> news_{0};
  std::atomic<bool> is_stopping_{false};
  std::atomic<std::uint32_t> has_ended_{0};
};

}  // namespace sorrel::runtime
