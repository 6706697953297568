//! JobTrace - how libraries that do not see the workers of a job record what ranks do: the OpenMP
//! library, and task graphs.
//!
//! libmpi_abi defines sorrel_job_trace_1(); another layout gets another number. Any thread may call
//! any function; where the caller runs on no worker, nothing is recorded. Never suspends.
#pragma once

#include <cstdint>
#include <string_view>

namespace sorrel::trace {

/// Distinguishes the hash of a text from an address of a program, which lies in the lower half of
/// all words.
inline constexpr std::uint64_t hash_bit = std::uint64_t{1} << 63;

/// Identifies a text in a trace, wherever it lies (FNV-1a).
constexpr std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash | hash_bit;
}

[[nodiscard]] constexpr bool is_hash(std::uint64_t word) {
  return (word & hash_bit) != 0;
}

/// A family of tasks.
struct TaskName {
  const char* text = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t hash = 0;
};

struct JobTrace {
  /// A parallel region begins, whose code is at `body`.
  void (*begin_region)(std::uintptr_t body, std::uint32_t thread_count);
  void (*end_region)();
  void (*begin_task)(const TaskName& name, std::int64_t step, std::int64_t index);
  void (*end_task)();
};

}  // namespace sorrel::trace

/// Null: the run is not traced.
extern "C" [[gnu::weak]] const sorrel::trace::JobTrace* sorrel_job_trace_1(void);

namespace sorrel::trace {

/// The calling process's; null: it is no part of a job, or not traced.
inline const JobTrace* job_trace() {
  return sorrel_job_trace_1 == nullptr ? nullptr : sorrel_job_trace_1();
}

}  // namespace sorrel::trace
