//! Record - one event of a worker: 32 bytes. Plain data; README.md lists what each kind holds.
#pragma once

#include <cstdint>

namespace sorrel::trace {

enum class Kind : std::uint8_t {
  none,
  // Of fibers. `subject`: Fiber::user, the address of the state of its rank; `first`, `second`:
  // the name and the call site of its latest call.
  wait,            ///< It waits, and another fiber runs.
  wait_then_idle,  ///< It waits, and no fiber of the worker is ready.
  end,             ///< It has ended, and another fiber runs.
  end_then_idle,   ///< It has ended, and no fiber of the worker is ready.
  wake,            ///< It runs, the first one after the worker was idle.
};

struct Record {
  /// Cycle counter in the upper 56 bits, Kind in the lower 8.
  std::uint64_t time_and_kind = 0;
  std::uint64_t subject = 0;
  std::uint64_t first = 0;
  std::uint64_t second = 0;

  static constexpr int kind_bits = 8;

  [[nodiscard]] Kind kind() const { return static_cast<Kind>(time_and_kind & 0xff); }

  /// Cycles from this record to `now`, a later reading of the counter. Below 2^56: 278 days at 3
  /// GHz.
  [[nodiscard]] std::uint64_t cycles_until(std::uint64_t now) const {
    return ((now << kind_bits) - (time_and_kind & ~std::uint64_t{0xff})) >> kind_bits;
  }
};

static_assert(sizeof(Record) == 32);

}  // namespace sorrel::trace
