//! Futex - sleep on a 32-bit word and wake its sleepers, within one process or, on a word of shared
//! memory, between processes.
#pragma once

#include <atomic>
#include <cstdint>

namespace sorrel::os {

/// Who may sleep on a word: sleeper and waker must say the same.
enum class FutexScope : std::uint8_t { process, shared };

/// Sleeps while `word` is `expected`, at most timeout_ns nanoseconds (negative: no limit). Returns
/// on wake-up, change, time-out or signal alike: the caller looks again. Blocks the thread, not
/// just the fiber.
void futex_wait(std::atomic<std::uint32_t>& word,
                std::uint32_t expected,
                std::int64_t timeout_ns,
                FutexScope scope = FutexScope::process);

/// Wakes one sleeper.
void futex_wake_one(std::atomic<std::uint32_t>& word, FutexScope scope = FutexScope::process);

}  // namespace sorrel::os
