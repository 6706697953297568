#include "os/futex.hpp"

#include <array>
#include <cerrno>
#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/check.hpp"
#include "os/kept_errno.hpp"

namespace sorrel::os {

namespace {

// The system waits on the bytes of the object.
static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t) &&
              std::atomic<std::uint32_t>::is_always_lock_free);

int flag_of(FutexScope scope) {
  return scope == FutexScope::process ? FUTEX_PRIVATE_FLAG : 0;
}

}  // namespace

void futex_wait(std::atomic<std::uint32_t>& word,
                std::uint32_t expected,
                std::int64_t timeout_ns,
                FutexScope scope) {
  const KeptErrno kept;
  timespec timeout{.tv_sec = timeout_ns / 1'000'000'000, .tv_nsec = timeout_ns % 1'000'000'000};
  syscall(SYS_futex, &word, FUTEX_WAIT | flag_of(scope), expected,
          timeout_ns < 0 ? nullptr : &timeout, nullptr, 0);
}

void futex_wait_any(std::span<const FutexWait> waits, std::int64_t deadline_ns) {
  SORREL_ASSERT(!waits.empty(), "a wait for nothing");
  const KeptErrno kept;
#ifdef SYS_futex_waitv
  if (waits.size() <= FUTEX_WAITV_MAX) {
    std::array<futex_waitv, FUTEX_WAITV_MAX> words{};
    for (std::size_t i = 0; i < waits.size(); ++i) {
      words[i].val = waits[i].expected;
      words[i].uaddr = reinterpret_cast<std::uintptr_t>(waits[i].word);
      words[i].flags = FUTEX_32 | static_cast<std::uint32_t>(flag_of(waits[i].scope));
    }
    const timespec deadline{.tv_sec = deadline_ns / 1'000'000'000,
                            .tv_nsec = deadline_ns % 1'000'000'000};
    const long status = syscall(SYS_futex_waitv, words.data(), waits.size(), 0,
                                deadline_ns < 0 ? nullptr : &deadline, CLOCK_MONOTONIC);
    if (status >= 0 || errno != ENOSYS) return;
  }
#endif
  futex_wait(*waits[0].word, waits[0].expected, 1'000'000, waits[0].scope);
}

void futex_wake_one(std::atomic<std::uint32_t>& word, FutexScope scope) {
  syscall(SYS_futex, &word, FUTEX_WAKE | flag_of(scope), 1, nullptr, nullptr, 0);
}

void futex_wake_all(std::atomic<std::uint32_t>& word, FutexScope scope) {
  syscall(SYS_futex, &word, FUTEX_WAKE | flag_of(scope), INT_MAX, nullptr, nullptr, 0);
}

}  // namespace sorrel::os
