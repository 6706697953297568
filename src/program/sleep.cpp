//! sleep, usleep, nanosleep, clock_nanosleep: a rank that sleeps leaves its worker to the others.
//!
//! A signal does not cut a rank's sleep short, because signals belong to the process.

#include <cerrno>
#include <ctime>
#include <unistd.h>

#include "core/worker.hpp"
#include "program/libc.hpp"
#include "program/rank_process.hpp"

namespace sorrel::program {

namespace {

constexpr long ns_per_second = 1'000'000'000;

/// The worker of the calling rank; null outside of ranks, and in a child that a rank has forked.
[[nodiscard]] core::Worker* worker_of_rank() {
  if (current_rank_process() == nullptr || is_forked_child()) return nullptr;
  return core::Worker::current();
}

[[nodiscard]] bool is_duration(const timespec& time) {
  return time.tv_sec >= 0 && time.tv_nsec >= 0 && time.tv_nsec < ns_per_second;
}

[[nodiscard]] std::int64_t to_ns(const timespec& time) {
  return std::int64_t{time.tv_sec} * ns_per_second + time.tv_nsec;
}

/// How long it is until `time` on `clock`.
[[nodiscard]] std::int64_t ns_until(clockid_t clock, const timespec& time) {
  timespec now{};
  clock_gettime(clock, &now);
  return to_ns(time) - to_ns(now);
}

}  // namespace

SORREL_INTERPOSED unsigned int sleep(unsigned int seconds) {
  static auto* const real = next_definition<unsigned int(unsigned int)>("sleep");
  core::Worker* worker = worker_of_rank();
  if (worker == nullptr) return real(seconds);
  worker->sleep(std::int64_t{seconds} * ns_per_second);
  return 0;
}

SORREL_INTERPOSED int usleep(useconds_t microseconds) {
  static auto* const real = next_definition<int(useconds_t)>("usleep");
  core::Worker* worker = worker_of_rank();
  if (worker == nullptr) return real(microseconds);
  worker->sleep(std::int64_t{microseconds} * 1000);
  return 0;
}

SORREL_INTERPOSED int nanosleep(const timespec* duration, timespec* remaining) {
  static auto* const real = next_definition<int(const timespec*, timespec*)>("nanosleep");
  core::Worker* worker = worker_of_rank();
  // A duration that is none gets the C library's answer.
  if (worker == nullptr || !is_duration(*duration)) return real(duration, remaining);
  worker->sleep(to_ns(*duration));
  return 0;
}

SORREL_INTERPOSED int clock_nanosleep(clockid_t clock,
                                      int flags,
                                      const timespec* time,
                                      timespec* remaining) {
  static auto* const real =
      next_definition<int(clockid_t, int, const timespec*, timespec*)>("clock_nanosleep");
  core::Worker* worker = worker_of_rank();
  const bool is_wall_clock = clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
  if (worker == nullptr || !is_wall_clock || !is_duration(*time)) {
    return real(clock, flags, time, remaining);
  }
  const std::int64_t duration_ns =
      (flags & TIMER_ABSTIME) != 0 ? ns_until(clock, *time) : to_ns(*time);
  if (duration_ns > 0) worker->sleep(duration_ns);
  return 0;
}

}  // namespace sorrel::program
