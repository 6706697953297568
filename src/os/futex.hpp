//! Futex - sleep on a 32-bit word and wake its sleepers, within one process.
#pragma once

#include <atomic>
#include <cstdint>

namespace sorrel::os {

/// Sleeps while `word` is `expected`, at most timeout_ns nanoseconds (negative: no limit). Returns
/// on wake-up, change, time-out or signal alike: the caller looks again. Blocks the thread, not
/// just the fiber.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t timeout_ns);

/// Wakes one sleeper.
void futex_wake_one(std::atomic<std::uint32_t>& word);

}  // namespace sorrel::os
