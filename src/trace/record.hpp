//! Record - one event of a worker: 32 bytes. Plain data; README.md lists what each kind holds.
#pragma once

#include <cstdint>

#include "arch/cpu.hpp"

namespace sorrel::trace {

/// The numbers are part of the format of files.
enum class Kind : std::uint8_t {
  none = 0,
  // Fibers. `subject`: Fiber::user, the address of the state of its rank; `first`, `second`:
  // the name and the call site of its latest call.
  wait = 1,            ///< It waits, and another fiber runs.
  wait_then_idle = 2,  ///< It waits, and no fiber of the worker is ready.
  end = 3,             ///< It has ended, and another fiber runs.
  end_then_idle = 4,   ///< It has ended, and no fiber of the worker is ready.
  wake = 5,            ///< It runs, the first one after the worker was idle.

  // Only in traces.
  yield = 16,    ///< As `wait`, but the fiber is ready.
  park = 17,     ///< The worker's thread sleeps.
  call = 18,     ///< A rank calls MPI: as `wait`.
  on_comm = 19,  ///< Follows a call; `first`: the communicator's context.
  result = 20,   ///< The rank's call returns.
  send = 21,     ///< A message; see MessageRecord.
  receive = 22,  ///< A message has reached its receive.

  // Fibers that other workers run, and ranks that change their worker.
  lend = 23,       ///< The fiber is ready to run on any worker, and another fiber runs.
  borrow = 24,     ///< This worker runs a fiber of worker `first`, until `give_back`.
  give_back = 25,  ///< The fiber goes back.
  move = 26,       ///< The rank belongs to worker `first` from now on.

  resume = 27,  ///< A thread runs the worker's fibers again; see README.md, "Files".

  // What runs within others, and ends with the record whose number is greater by one. `subject`:
  // the rank, or 0: a worker that helps.
  loop = 32,        ///< A parallel loop; `first`: its code, `second`: its iterations.
  loop_end = 33,    ///< Ends it.
  chunk = 34,       ///< A part of a loop: iterations [first, second).
  chunk_end = 35,   ///< Ends it.
  task = 36,        ///< A task of a graph; `first`: name, `second`: step and index. See TaskRecord.
  task_end = 37,    ///< Ends it.
  region = 38,      ///< A parallel region of OpenMP; `first`: its code, `second`: its threads.
  region_end = 39,  ///< Ends it.

  // Processes; see PacketRecord.
  packet_sent = 48,
  packet_received = 49,
  width = 50,   ///< The job's workers may use `subject` threads from now on, before it `first`.
  thread = 51,  ///< What the kernel has given the worker's thread until now; see ThreadRecord.

  // What the others refer to.
  begin =
      64,  ///< For a file; `subject`: process and worker, `first`: format, `second`: its version.
  clock = 65,  ///< `subject`, `first`: nanoseconds of the monotonic clock, and since 1970.
  text = 66,   ///< `first` bytes, which follow, named `subject`: an address, the hash of a text, or
               ///< TextName.
  rank = 67,   ///< Rank `first` has the name `subject`.
  code = 68,   ///< Addresses [subject, first): a file, whose offset and TextName are in `second`.
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

  /// With the time of another record.
  static Record like(const Record& other,
                     Kind kind,
                     std::uint64_t subject,
                     std::uint64_t first = 0,
                     std::uint64_t second = 0) {
    const std::uint64_t time = other.time_and_kind >> kind_bits << kind_bits;
    return {.time_and_kind = time | static_cast<std::uint8_t>(kind),
            .subject = subject,
            .first = first,
            .second = second};
  }

  /// For a record without a time.
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

/// `second` of a task: the lower halves of its step and of its index within its family.
struct TaskRecord {
  std::uint32_t step = 0;
  std::uint32_t index = 0;

  [[nodiscard]] std::uint64_t word() const { return std::uint64_t{step} << 32 | index; }

  static TaskRecord of(std::uint64_t word) {
    return {.step = static_cast<std::uint32_t>(word >> 32),
            .index = static_cast<std::uint32_t>(word)};
  }
};

/// A packet from one worker of the job to another one in another process, as either records it.
/// Packets of a pair keep their order.
struct PacketRecord {
  static constexpr int bytes_bits = 40;

  std::uint64_t from = 0;  ///< process (or simulated node), worker
  std::uint64_t to = 0;
  std::uint32_t packet_kind = 0;  ///< below 2^24
  std::uint64_t bytes = 0;        ///< below 2^40

  [[nodiscard]] Record as(Kind kind) const {
    return Record::now(kind, from, to, std::uint64_t{packet_kind} << bytes_bits | bytes);
  }

  static PacketRecord of(const Record& record) {
    return {.from = record.subject,
            .to = record.first,
            .packet_kind = static_cast<std::uint32_t>(record.second >> bytes_bits),
            .bytes = record.second & ((std::uint64_t{1} << bytes_bits) - 1)};
  }
};

/// The kernel's accounting of a thread since it has begun. `slice_count`: how often it got a core.
struct ThreadRecord {
  std::uint32_t number = 0;
  std::uint32_t slice_count = 0;
  std::int64_t run_ns = 0;
  std::int64_t delay_ns = 0;  ///< in which it could run and had no core

  [[nodiscard]] Record as_record() const {
    return Record::now(Kind::thread, std::uint64_t{number} << 32 | slice_count,
                       static_cast<std::uint64_t>(run_ns), static_cast<std::uint64_t>(delay_ns));
  }

  static ThreadRecord of(const Record& record) {
    return {.number = static_cast<std::uint32_t>(record.subject >> 32),
            .slice_count = static_cast<std::uint32_t>(record.subject),
            .run_ns = static_cast<std::int64_t>(record.first),
            .delay_ns = static_cast<std::int64_t>(record.second)};
  }
};

}  // namespace sorrel::trace
