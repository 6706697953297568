//! The rank of a thread that a rank has started. Any thread.
#pragma once

namespace sorrel::program {

class RankProcess;

/// The rank that has started the calling thread, directly or through another thread. Null in every
/// other thread, and in a rank's own fiber.
[[nodiscard]] RankProcess* starter_of_thread();

/// The rank that runs on the calling thread, or that has started it; null elsewhere.
[[nodiscard]] RankProcess* process_of_thread();

/// As process_of_thread(), for signal handlers: a rank that is lent does not go home.
[[nodiscard]] RankProcess* process_of_interrupted_thread();

/// As process_of_thread(), for a call of the C library that returns to `caller`. Null also in a
/// forked child and in calls of the runtime itself.
[[nodiscard]] RankProcess* process_of_caller(const void* caller);

/// As process_of_caller(), in a job whose ranks are saved or move; null in any other.
[[nodiscard]] RankProcess* saved_process_of_caller(const void* caller);

/// Calls `hook` on the starting thread before each thread that the program starts. Once.
void set_thread_start_hook(void (*hook)());

/// Whether pthread_create() of the program is this library's: not if the program has loaded the
/// library while it ran.
[[nodiscard]] bool sees_thread_starts();

/// Gives the calling thread directory, mask and locale of a rank that goes on with it.
void take_settings_of(const RankProcess& process);

}  // namespace sorrel::program
