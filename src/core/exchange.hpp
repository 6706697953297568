//! Exchange - participants, a process each, publish a number in rounds and read those of all.
//!
//! All take part in every round, so each counts the rounds by itself. One counter tells how many
//! have published in all rounds together. A participant reads the numbers of a round when all have
//! published in it. A slot has two numbers: its owner may be one round ahead of a reader, and no
//! more, since the next round waits for that reader.
//!
//! Progress: wait-free; the caller waits until is_complete(). All zero is the initial state.
//! Limits: 2^64 numbers. Ordering labels: (P) publish, (R) read. README.md, "Stops of a job".
#pragma once

#include <array>
#include <cstdint>

#include "core/sync.hpp"

namespace sorrel::core {

template <class Sync>
class BasicExchange {
 public:
  /// The numbers of a participant, by the parity of their rounds.
  struct Slot {
    std::array<typename Sync::template Plain<std::uint64_t>, 2> numbers;
  };

  /// Each participant once in every round, from round 0 on, after it has read those before.
  void publish(Slot& own, std::uint64_t round, std::uint64_t number) {
    own.numbers[round % 2].mutate() = number;
    // (P) release, pairs with (R): the number, and what the caller has read before. Each addition
    // continues the release sequences of those before.
    published_.fetch_add(1, Order::release);
  }

  /// Whether all have published in the round.
  [[nodiscard]] bool is_complete(std::uint64_t round, std::uint32_t participant_count) const {
    // (R) acquire, pairs with (P).
    return published_.load(Order::acquire) >= (round + 1) * participant_count;
  }

  /// The number of a complete round, before the caller publishes in the next one.
  [[nodiscard]] static std::uint64_t number_in(const Slot& slot, std::uint64_t round) {
    return slot.numbers[round % 2].get();
  }

 private:
  typename Sync::template Atomic<std::uint64_t> published_;
};

using Exchange = BasicExchange<StdSync>;

}  // namespace sorrel::core
