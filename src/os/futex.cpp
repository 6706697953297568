#include "os/futex.hpp"

#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sorrel::os {

namespace {

int flag_of(FutexScope scope) {
  return scope == FutexScope::process ? FUTEX_PRIVATE_FLAG : 0;
}

}  // namespace

void futex_wait(std::atomic<std::uint32_t>& word,
                std::uint32_t expected,
                std::int64_t timeout_ns,
                FutexScope scope) {
  timespec timeout{.tv_sec = timeout_ns / 1'000'000'000, .tv_nsec = timeout_ns % 1'000'000'000};
  syscall(SYS_futex, &word, FUTEX_WAIT | flag_of(scope), expected,
          timeout_ns < 0 ? nullptr : &timeout, nullptr, 0);
}

void futex_wake_one(std::atomic<std::uint32_t>& word, FutexScope scope) {
  syscall(SYS_futex, &word, FUTEX_WAKE | flag_of(scope), 1, nullptr, nullptr, 0);
}

}  // namespace sorrel::os
