//! The rank of a thread that a rank has started. Any thread.
#pragma once

namespace sorrel::program {

class RankProcess;

/// The rank that has started the calling thread, directly or through another thread. Null in every
/// other thread, and in a rank's own fiber.
[[nodiscard]] RankProcess* starter_of_thread();

/// The rank that runs on the calling thread, or that has started it; null elsewhere.
[[nodiscard]] RankProcess* process_of_thread();

/// The same for a call of the C library that returns to `caller`. Null also in a forked child and
/// in calls of the runtime itself.
[[nodiscard]] RankProcess* process_of_caller(const void* caller);

}  // namespace sorrel::program
