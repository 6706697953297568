//! Steps - what a measuring build takes back of the message layer: the steps of a published study
//! (Mei 2008), each as a switch. docs/benchmarks.md, "Steps of the message layer".
//!
//! Only a build with SORREL_STUDY reads them. Constant after the library has been loaded.
#pragma once

#include <optional>
#include <string_view>

namespace sorrel::core::study {

/// How records come to a worker.
enum class Queue {
  own,      ///< A mailbox for each sender, as in every other build.
  shared,   ///< One queue of all senders: slots reserved by a read-modify-write.
  relaxed,  ///< One queue behind a lock; a poll looks first whether it is empty.
  locked,   ///< One queue behind a lock; each poll takes it.
};

/// Where the buffers of unexpected messages come from.
enum class Heap {
  pool,    ///< A pool of each worker, as in every other build.
  system,  ///< The C library's heap.
  locked,  ///< The C library's heap behind one more lock for all workers.
};

/// Counters of the sender and the receiver of a mailbox.
enum class Counters {
  apart,   ///< On cache lines of their own, as in every other build.
  packed,  ///< Side by side: each side's store takes the line from the other side.
};

struct Steps {
  Queue queue = Queue::own;
  Heap heap = Heap::pool;
  Counters counters = Counters::apart;

  friend bool operator==(const Steps&, const Steps&) = default;
};

/// "queue=locked,heap=system,counters=packed", each at most once, in any order; nothing if it is
/// anything else.
[[nodiscard]] constexpr std::optional<Steps> parse_steps(std::string_view text) {
  Steps steps;
  bool has_queue = false;
  bool has_heap = false;
  bool has_counters = false;
  // Sets a field once.
  const auto set = [](auto& field, bool& is_set, auto value) {
    if (is_set) return false;
    field = value;
    is_set = true;
    return true;
  };
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    bool is_known = false;
    if (word == "queue=own") is_known = set(steps.queue, has_queue, Queue::own);
    if (word == "queue=shared") is_known = set(steps.queue, has_queue, Queue::shared);
    if (word == "queue=relaxed") is_known = set(steps.queue, has_queue, Queue::relaxed);
    if (word == "queue=locked") is_known = set(steps.queue, has_queue, Queue::locked);
    if (word == "heap=pool") is_known = set(steps.heap, has_heap, Heap::pool);
    if (word == "heap=system") is_known = set(steps.heap, has_heap, Heap::system);
    if (word == "heap=locked") is_known = set(steps.heap, has_heap, Heap::locked);
    if (word == "counters=apart") is_known = set(steps.counters, has_counters, Counters::apart);
    if (word == "counters=packed") is_known = set(steps.counters, has_counters, Counters::packed);
    if (!is_known) return std::nullopt;
  }
  return steps;
}

/// This process's steps, from SORREL_STUDY_STEPS. A build without SORREL_STUDY has none.
extern const Steps steps;

}  // namespace sorrel::core::study
