//! Futex - sleep on a 32-bit word and wake its sleepers, within one process or, on a word of shared
//! memory, between processes.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

namespace sorrel::os {

/// Processes that may sleep on a word; the sleeper and the waker must pass the same scope.
enum class FutexScope : std::uint8_t { process, shared };

/// Sleeps while `word` is `expected`, at most timeout_ns nanoseconds (negative: no limit). Returns
/// on wake-up, change, time-out or signal alike: the caller checks the word again. Blocks the
/// thread, not just the fiber.
void futex_wait(std::atomic<std::uint32_t>& word,
                std::uint32_t expected,
                std::int64_t timeout_ns,
                FutexScope scope = FutexScope::process);

/// A word to sleep on and its expected value.
struct FutexWait {
  std::atomic<std::uint32_t>* word = nullptr;
  std::uint32_t expected = 0;
  FutexScope scope = FutexScope::process;
};

/// As futex_wait(), until any of the words differs or is woken, or the monotonic clock reaches
/// `deadline_ns` (negative: no limit). Where the kernel cannot wait for several words, or for so
/// many, the call returns after at most a millisecond.
void futex_wait_any(std::span<const FutexWait> waits, std::int64_t deadline_ns);

/// Wakes one sleeper.
void futex_wake_one(std::atomic<std::uint32_t>& word, FutexScope scope = FutexScope::process);

/// Wakes all sleepers.
void futex_wake_all(std::atomic<std::uint32_t>& word, FutexScope scope = FutexScope::process);

}  // namespace sorrel::os
