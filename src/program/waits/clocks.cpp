//! clock_gettime, gettimeofday, timespec_get: a rank that polls memory with a limit of time lets
//! the other ranks of its worker run, if it has a window (abi/polled_memory.hpp).
//!
//! Without windows in the process, a read costs one load more.

#include <cstdint>
#include <ctime>
#include <sys/time.h>

#include "program/base/clock_watch.hpp"
#include "program/base/durations.hpp"
#include "program/base/libc.hpp"
#include "program/rank/rank_process.hpp"

using namespace sorrel::program;

namespace {

/// Out of line, so that a read without windows has no frame.
[[gnu::noinline]] void note_read(ClockWatch watch, const void* caller, std::int64_t now_ns) {
  const RankProcess* process = process_that_may_wait(caller);
  // A library's read may come from a host MPI, which may run in code that must not be interrupted.
  if (process != nullptr && process->is_own_code(caller)) watch(now_ns);
}

inline void note(const void* caller, std::int64_t now_ns) {
  const ClockWatch watch = clock_watch.load(std::memory_order_relaxed);
  if (watch != nullptr) [[unlikely]]
    note_read(watch, caller, now_ns);
}

}  // namespace

SORREL_INTERPOSED int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static auto* const real = next_definition<int(clockid_t, timespec*)>("clock_gettime");
  const int result = real(clock, time);
  if (result == 0) note(__builtin_return_address(0), to_ns(*time));
  return result;
}

SORREL_INTERPOSED int timespec_get(timespec* time, int base) noexcept {
  static auto* const real = next_definition<int(timespec*, int)>("timespec_get");
  const int result = real(time, base);
  if (result != 0) note(__builtin_return_address(0), to_ns(*time));
  return result;
}

SORREL_INTERPOSED int gettimeofday(timeval* to, void* zone) noexcept {
  static auto* const real = next_definition<int(timeval*, void*)>("gettimeofday");
  const int result = real(to, zone);
  // The system allows null, which the header does not.
  timeval* const volatile time = to;
  if (result == 0 && time != nullptr)
    note(__builtin_return_address(0), time->tv_sec * ns_per_second + time->tv_usec * 1000);
  return result;
}
