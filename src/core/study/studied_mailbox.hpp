//! StudiedMailbox - the mailbox of a measuring build: of the kind that SORREL_STUDY_STEPS selects.
//!
//! Functions as in core/mailbox.hpp. Every kind is selected by one test of a constant, which
//! the processor predicts, so all kinds pay the same for being selectable.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "core/mailbox.hpp"
#include "core/study/locked_mailbox.hpp"
#include "core/study/shared_mailbox.hpp"
#include "core/study/steps.hpp"

namespace sorrel::core::study {

/// A mailbox whose counters share a cache line.
using PackedMailbox =
    BasicMailbox<StdSync, 256, 16384, record_inline_bytes, alignof(std::uint64_t)>;

class StudiedMailbox {
  using Shared = SharedMailbox<StdSync>;
  using Relaxed = LockedMailbox<EmptyCheck::without_lock>;
  using Locked = LockedMailbox<EmptyCheck::under_lock>;

  static constexpr std::size_t bytes =
      std::max({sizeof(Mailbox), sizeof(PackedMailbox), sizeof(Shared), sizeof(Locked)});

  /// All zero is the empty queue of every kind.
  template <class Kind>
  Kind& as() {
    static_assert(sizeof(Kind) <= bytes && alignof(Kind) <= 2 * cache_line_bytes);
    return *reinterpret_cast<Kind*>(space_.data());
  }

  template <class Call>
  decltype(auto) apply(Call&& call) {
    switch (steps.queue) {
      case Queue::shared:
        return call(as<Shared>());
      case Queue::relaxed:
        return call(as<Relaxed>());
      case Queue::locked:
        return call(as<Locked>());
      case Queue::own:
        break;
    }
    return steps.counters == Counters::packed ? call(as<PackedMailbox>()) : call(as<Mailbox>());
  }

  template <class Call>
  decltype(auto) apply(Call&& call) const {
    return const_cast<StudiedMailbox*>(this)->apply(
        [&](const auto& queue) -> decltype(auto) { return call(queue); });
  }

 public:
  static constexpr std::uint32_t payload_bytes_max = Mailbox::payload_bytes_max;

  bool try_post(const Record& record, const void* payload) {
    return apply([&](auto& queue) { return queue.try_post(record, payload); });
  }

  void fetch_record() const {
    apply([](const auto& queue) { queue.fetch_record(); });
  }

  [[nodiscard]] bool has_record() const {
    return apply([](const auto& queue) { return queue.has_record(); });
  }

  template <class Consume>
  bool take(Consume&& consume, Flow flow = Flow::single) {
    return apply([&](auto& queue) { return queue.take(std::forward<Consume>(consume), flow); });
  }

 private:
  alignas(2 * cache_line_bytes) std::array<std::byte, bytes> space_;
};

}  // namespace sorrel::core::study
