//! ViewSpace - the memory through which `sorrel top`, `stack` and `ps` look into a running job:
//! made by the looking process, mapped by each process of the job while it writes its answer.
//!
//! The looking process creates a nameless segment (os/shared_segment.hpp) with a slot for each
//! process, and sends SIGUSR1 with a value: a constant, its descriptor of the segment and the slot.
//! The receiver opens the segment as /proc/PID/fd/DESCRIPTOR of the sender. So the memory ends with
//! the sender, and only processes of the same user get it.
#pragma once

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <sys/types.h>

#include "os/shared_segment.hpp"

namespace sorrel::report {

/// What is wanted of each process.
enum class ViewKind : std::uint32_t {
  activity = 1,  ///< What ranks and workers do.
  stacks = 2,    ///< Also the calls in progress of each rank.
};

/// The signal's value; never that of a pointer.
struct ViewRequest {
  static constexpr std::uint64_t magic = 0x53524c;  // "SRL"
  static constexpr int number_bits = 20;

  pid_t sender = 0;
  std::uint32_t descriptor = 0;
  std::uint32_t slot = 0;

  [[nodiscard]] std::uint64_t value() const {
    return magic << 2 * number_bits | std::uint64_t{slot} << number_bits | descriptor;
  }

  /// In the signal's handler; nothing if the signal is no such request.
  [[nodiscard]] static std::optional<ViewRequest> of(const siginfo_t& info) {
    if (info.si_code != SI_QUEUE) return std::nullopt;
    const auto value = reinterpret_cast<std::uint64_t>(info.si_value.sival_ptr);
    if (value >> 2 * number_bits != magic) return std::nullopt;
    constexpr std::uint64_t mask = (std::uint64_t{1} << number_bits) - 1;
    return ViewRequest{.sender = info.si_pid,
                       .descriptor = static_cast<std::uint32_t>(value & mask),
                       .slot = static_cast<std::uint32_t>(value >> number_bits & mask)};
  }
};

class ViewSpace {
 public:
  enum class State : std::uint32_t { none, given };

  [[nodiscard]] static std::size_t bytes_needed(std::uint32_t slot_count,
                                                std::uint32_t slot_bytes) {
    return sizeof(Header) + std::size_t{slot_count} * slot_bytes;
  }

  /// The looking process: `segment` has bytes_needed(), all zero.
  ViewSpace(os::SharedSegment segment,
            std::uint32_t slot_count,
            std::uint32_t slot_bytes,
            ViewKind kind)
      : segment_(std::move(segment)) {
    header() = {.magic = ViewRequest::magic,
                .slot_count = slot_count,
                .slot_bytes = slot_bytes,
                .kind = kind};
  }

  /// The process that is looked into: the sender's space; nothing if there is none, or if the
  /// sender has ended. Safe in a signal handler.
  [[nodiscard]] static std::optional<ViewSpace> open(const ViewRequest& request) {
    const auto segment_of = [&](std::size_t bytes) {
      return os::SharedSegment::open_of(request.sender, static_cast<int>(request.descriptor),
                                        bytes);
    };
    ViewSpace space(segment_of(sizeof(Header)));
    if (!space.segment_.is_valid()) return std::nullopt;
    const Header header = space.header();
    const bool is_right = header.magic == ViewRequest::magic && request.slot < header.slot_count &&
                          header.slot_bytes > sizeof(Slot);
    if (!is_right) return std::nullopt;
    space.segment_ = segment_of(bytes_needed(header.slot_count, header.slot_bytes));
    return space.segment_.is_valid() ? std::optional(std::move(space)) : std::nullopt;
  }

  [[nodiscard]] int descriptor() const { return segment_.descriptor(); }

  [[nodiscard]] ViewKind kind() const { return header().kind; }

  [[nodiscard]] std::size_t text_bytes_max() const { return header().slot_bytes - sizeof(Slot); }

  /// The process that is looked into. Safe in a signal handler.
  void answer(std::uint32_t slot, std::string_view text) {
    const std::size_t bytes = std::min(text.size(), text_bytes_max());
    std::memcpy(text_of(slot), text.data(), bytes);
    Slot& own = slot_at(slot);
    own.bytes.store(static_cast<std::uint32_t>(bytes), std::memory_order_relaxed);
    // Release, pairs with text(): the text is written before.
    own.state.store(State::given, std::memory_order_release);
  }

  /// The looking process: the answer; nothing so far.
  [[nodiscard]] std::optional<std::string_view> text(std::uint32_t slot) {
    Slot& other = slot_at(slot);
    if (other.state.load(std::memory_order_acquire) != State::given) return std::nullopt;
    const std::size_t bytes = other.bytes.load(std::memory_order_relaxed);
    return std::string_view(text_of(slot), std::min(bytes, text_bytes_max()));
  }

 private:
  struct Header {
    std::uint64_t magic = 0;
    std::uint32_t slot_count = 0;
    std::uint32_t slot_bytes = 0;
    ViewKind kind = ViewKind::activity;
  };

  struct Slot {
    std::atomic<State> state{State::none};
    std::atomic<std::uint32_t> bytes{0};
  };

  explicit ViewSpace(os::SharedSegment segment) : segment_(std::move(segment)) {}

  [[nodiscard]] Header& header() const { return *reinterpret_cast<Header*>(segment_.base()); }

  [[nodiscard]] Slot& slot_at(std::uint32_t slot) const {
    return *reinterpret_cast<Slot*>(segment_.base() + sizeof(Header) +
                                    std::size_t{slot} * header().slot_bytes);
  }

  [[nodiscard]] char* text_of(std::uint32_t slot) const {
    return reinterpret_cast<char*>(&slot_at(slot) + 1);
  }

  os::SharedSegment segment_;
};

}  // namespace sorrel::report
