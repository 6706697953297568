#include "os/clock.hpp"

#include <ctime>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/kept_errno.hpp"

namespace sorrel::os {

namespace {

std::int64_t read(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

std::int64_t monotonic_ns() {
  return read(CLOCK_MONOTONIC);
}

std::int64_t process_cpu_ns() {
  return read(CLOCK_PROCESS_CPUTIME_ID);
}

void sleep_ns(std::int64_t duration_ns) {
  const timespec duration{.tv_sec = duration_ns / 1'000'000'000,
                          .tv_nsec = duration_ns % 1'000'000'000};
  // The bare system call: in a rank, nanosleep() lets other ranks run (program/waits/sleep.cpp).
  const KeptErrno kept;
  syscall(SYS_nanosleep, &duration, nullptr);
}

}  // namespace sorrel::os
