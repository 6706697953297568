//! Record - one event of a worker: 32 bytes. Plain data; README.md lists what each kind holds.
#pragma once

#include <cstdint>

#include "arch/cpu.hpp"

namespace sorrel::trace {

/// The numbers are part of the format of files.
enum class Kind : std::uint8_t {
  none = 0,
  // Of fibers. `subject`: Fiber::user, the address of the state of its rank; `first`, `second`:
  // the name and the call site of its latest call.
  wait = 1,            ///< It waits, and another fiber runs.
  wait_then_idle = 2,  ///< It waits, and no fiber of the worker is ready.
  end = 3,             ///< It has ended, and another fiber runs.
  end_then_idle = 4,   ///< It has ended, and no fiber of the worker is ready.
  wake = 5,            ///< It runs, the first one after the worker was idle.

  // Of traces only.
  yield = 16,    ///< As `wait`, but the fiber is ready.
  park = 17,     ///< The worker's thread sleeps.
  call = 18,     ///< A rank calls MPI: as `wait`.
  on_comm = 19,  ///< Of the call before; `first`: the communicator's context.
  result = 20,   ///< The rank's call returns.
  send = 21,     ///< A message; see MessageRecord.
  receive = 22,  ///< A message has reached its receive.

  // What the others refer to.
  begin =
      32,  ///< Of a file; `subject`: process and worker, `first`: format, `second`: its version.
  clock = 33,  ///< `subject`, `first`: nanoseconds of the monotonic clock, and since 1970.
  text =
      34,  ///< `first` bytes, in the records that follow, named `subject`: an address or TextName.
  rank = 35,  ///< Rank `first` has the name `subject`.
  code = 36,  ///< Addresses [subject, first): a file, whose offset and TextName are in `second`.
};

/// Names of texts that are no addresses.
enum class TextName : std::uint16_t { machine = 1, first_path = 16 };

struct Record {
  /// Cycle counter in the upper 56 bits, 0 if there is no time; Kind in the lower 8.
  std::uint64_t time_and_kind = 0;
  std::uint64_t subject = 0;
  std::uint64_t first = 0;
  std::uint64_t second = 0;

  static constexpr int kind_bits = 8;

  /// With the present time.
  static Record now(Kind kind,
                    std::uint64_t subject,
                    std::uint64_t first = 0,
                    std::uint64_t second = 0) {
    Record record{.time_and_kind = static_cast<std::uint8_t>(kind),
                  .subject = subject,
                  .first = first,
                  .second = second};
    record.set_time(arch::cycles());
    return record;
  }

  /// Of a record without a time.
  void set_time(std::uint64_t cycles) { time_and_kind |= cycles << kind_bits; }

  [[nodiscard]] Kind kind() const { return static_cast<Kind>(time_and_kind & 0xff); }

  /// Cycles from this record to `now`, a later reading of the counter. Below 2^56: 278 days at 3
  /// GHz.
  [[nodiscard]] std::uint64_t cycles_until(std::uint64_t now) const {
    return ((now << kind_bits) - (time_and_kind & ~std::uint64_t{0xff})) >> kind_bits;
  }
};

static_assert(sizeof(Record) == 32);

[[nodiscard]] inline std::uint64_t name_of(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}

/// A message, as its sender and its receiver record it. The k-th send and the k-th receive with
/// equal keys are the same message.
struct MessageRecord {
  static constexpr int bytes_bits = 40;

  std::uint32_t context = 0;
  std::int32_t tag = 0;
  std::int32_t source = 0;       ///< rank of the sender in the communicator
  std::int32_t rank = 0;         ///< rank of the job that records it
  std::int32_t destination = 0;  ///< rank of the job that receives it; below 2^24
  std::uint64_t bytes = 0;       ///< below 2^40

  [[nodiscard]] Record as(Kind kind) const {
    return Record::now(
        kind, pair_of(rank, source), pair_of(static_cast<std::int32_t>(context), tag),
        std::uint64_t{static_cast<std::uint32_t>(destination)} << bytes_bits | bytes);
  }

  static MessageRecord of(const Record& record) {
    return {.context = static_cast<std::uint32_t>(record.first >> 32),
            .tag = static_cast<std::int32_t>(record.first),
            .source = static_cast<std::int32_t>(record.subject),
            .rank = static_cast<std::int32_t>(record.subject >> 32),
            .destination = static_cast<std::int32_t>(record.second >> bytes_bits),
            .bytes = record.second & ((std::uint64_t{1} << bytes_bits) - 1)};
  }

 private:
  static std::uint64_t pair_of(std::int32_t high, std::int32_t low) {
    return std::uint64_t{static_cast<std::uint32_t>(high)} << 32 | static_cast<std::uint32_t>(low);
  }
};

}  // namespace sorrel::trace
