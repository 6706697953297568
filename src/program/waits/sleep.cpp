//! sleep, usleep, nanosleep, clock_nanosleep, thrd_sleep: while a rank sleeps its worker runs other
//! ranks.
//!
//! A signal handler of the rank ends its sleep.

#include <cerrno>
#include <ctime>
#include <unistd.h>

#include "program/base/durations.hpp"
#include "program/base/libc.hpp"
#include "program/base/user_memory.hpp"
#include "program/rank/rank_process.hpp"

namespace sorrel::program {

namespace {

constexpr OutsideWait sleep_wait{.call = "sleep", .is_endless = false};

[[nodiscard]] timespec of_ns(std::int64_t ns) {
  return {.tv_sec = ns / ns_per_second, .tv_nsec = ns % ns_per_second};
}

/// False: it is not a duration, or cannot be read.
[[nodiscard]] bool read_duration(timespec& to, const timespec* from) {
  return copy_from_user(&to, from, sizeof to) && is_duration(to);
}

/// 0, or the error after a signal has ended the sleep; `remaining` may be null.
[[nodiscard]] int sleep_for(RankProcess& process, const timespec& duration, timespec* remaining) {
  const std::int64_t left_ns = process.sleep(sleep_wait, to_ns(duration));
  if (left_ns == 0) return 0;
  return give(remaining, of_ns(left_ns)) ? EINTR : EFAULT;
}

/// The time until `time` on `clock`.
[[nodiscard]] std::int64_t ns_until(clockid_t clock, const timespec& time) {
  timespec now{};
  clock_gettime(clock, &now);
  return to_ns(time) - to_ns(now);
}

}  // namespace

}  // namespace sorrel::program

using namespace sorrel::program;

SORREL_INTERPOSED unsigned int sleep(unsigned int seconds) {
  static auto* const real = next_definition<unsigned int(unsigned int)>("sleep");
  RankProcess* process = process_that_may_wait(__builtin_return_address(0));
  if (process == nullptr) return real(seconds);
  const std::int64_t left_ns = process->sleep(sleep_wait, std::int64_t{seconds} * ns_per_second);
  // Rounded as the C library does.
  return static_cast<unsigned int>((left_ns + ns_per_second / 2) / ns_per_second);
}

SORREL_INTERPOSED int usleep(useconds_t microseconds) {
  static auto* const real = next_definition<int(useconds_t)>("usleep");
  RankProcess* process = process_that_may_wait(__builtin_return_address(0));
  if (process == nullptr) return real(microseconds);
  if (process->sleep(sleep_wait, std::int64_t{microseconds} * 1000) == 0) return 0;
  errno = EINTR;
  return -1;
}

SORREL_INTERPOSED int nanosleep(const timespec* duration, timespec* remaining) {
  static auto* const real = next_definition<int(const timespec*, timespec*)>("nanosleep");
  RankProcess* process = process_that_may_wait(__builtin_return_address(0));
  timespec time{};
  // An invalid duration gets the C library's answer.
  if (process == nullptr || !read_duration(time, duration)) return real(duration, remaining);
  const int error = sleep_for(*process, time, remaining);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

// <threads.h> cannot be included here: it declares thread_local for C.
SORREL_INTERPOSED int thrd_sleep(const timespec* duration, timespec* remaining) {
  static auto* const real = next_definition<int(const timespec*, timespec*)>("thrd_sleep");
  RankProcess* process = process_that_may_wait(__builtin_return_address(0));
  timespec time{};
  if (process == nullptr || !read_duration(time, duration)) return real(duration, remaining);
  const int error = sleep_for(*process, time, remaining);
  // The C library returns -1 after a signal, too, and another negative number after another error.
  return error == 0 ? 0 : error == EINTR ? -1 : -2;
}

SORREL_INTERPOSED int clock_nanosleep(clockid_t clock,
                                      int flags,
                                      const timespec* given,
                                      timespec* remaining) {
  static auto* const real =
      next_definition<int(clockid_t, int, const timespec*, timespec*)>("clock_nanosleep");
  RankProcess* process = process_that_may_wait(__builtin_return_address(0));
  const bool is_wall_clock = clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
  timespec time{};
  if (process == nullptr || !is_wall_clock || !read_duration(time, given))
    return real(clock, flags, given, remaining);
  if ((flags & TIMER_ABSTIME) == 0) return sleep_for(*process, time, remaining);
  const std::int64_t duration_ns = ns_until(clock, time);
  return duration_ns > 0 ? sleep_for(*process, of_ns(duration_ns), nullptr) : 0;
}
