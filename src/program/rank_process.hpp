//! RankProcess - what an operating system's process would be to one rank: its image, arguments,
//! streams, exit handlers and the state that the C library keeps once per process.
//!
//! Created by any thread before the rank runs; afterwards everything here is touched by the rank
//! alone (its worker), except output(), whose stream locks itself. The interposers of this module
//! reach it through current_rank_process(). It does not know the scheduler: two hooks tell who runs
//! and how a rank ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "program/arguments.hpp"
#include "program/copy_slab.hpp"
#include "program/environment.hpp"
#include "program/exit_handlers.hpp"
#include "program/getopt_state.hpp"
#include "program/libc_state.hpp"
#include "program/outside_wait.hpp"
#include "program/rank_signals.hpp"
#include "program/rank_streams.hpp"
#include "program/start.hpp"
#include "program/started_threads.hpp"
#include "program/thread_cleanups.hpp"
#include "program/thread_keys.hpp"

namespace sorrel::core {
struct Fiber;
struct Sleep;
}  // namespace sorrel::core

namespace sorrel::program {

class RankProcess {
 public:
  RankProcess(const ProgramStart& start,
              const ImageCopy& copy,
              int rank,
              const OutputFormat& format);
  RankProcess(const RankProcess&) = delete;
  RankProcess& operator=(const RankProcess&) = delete;
  ~RankProcess();

  [[nodiscard]] int rank() const { return rank_; }

  [[nodiscard]] const ImageCopy& copy() const { return copy_; }

  [[nodiscard]] ExitHandlers& exit_handlers() { return exit_handlers_; }

  [[nodiscard]] RankStreams& streams() { return streams_; }

  [[nodiscard]] GetoptState& getopt_state() { return getopt_; }

  [[nodiscard]] LibcState& libc_state() { return libc_; }

  /// What the rank waits for outside of MPI while its worker runs other ranks.
  [[nodiscard]] OutsideWaitMark& outside_wait() { return outside_wait_; }

  [[nodiscard]] const OutsideWaitMark& outside_wait() const { return outside_wait_; }

  [[nodiscard]] ThreadCleanups& thread_cleanups() { return thread_cleanups_; }

  [[nodiscard]] ThreadKeys& thread_keys() { return thread_keys_; }

  [[nodiscard]] StartedThreads& started_threads() { return started_threads_; }

  [[nodiscard]] RankSignals& signals() { return signals_; }

  /// Where the rank runs: before it does.
  void set_fiber(core::Fiber& fiber, const void* stack_bottom, std::size_t stack_bytes) {
    fiber_ = &fiber;
    stack_bottom_ = static_cast<const std::byte*>(stack_bottom);
    stack_bytes_ = stack_bytes;
  }

  /// Null before it is set.
  [[nodiscard]] core::Fiber* fiber() const { return fiber_; }

  /// Any thread.
  [[nodiscard]] bool is_on_stack(const void* address) const {
    const auto* byte = static_cast<const std::byte*>(address);
    return byte >= stack_bottom_ && byte < stack_bottom_ + stack_bytes_;
  }

  /// Suspends the rank, which calls it, for `duration_ns`, or until a signal handler has run for
  /// it. Returns the time left: 0 if none has.
  std::int64_t sleep(const OutsideWait& wait, std::int64_t duration_ns);

  /// On the worker of the rank, which waits: ends its sleep(). False if it waits in another way.
  bool end_sleep();

  [[nodiscard]] Environment& environment() { return environment_; }

  /// Constructors of this copy, main, exit processing. Call on the rank's own stack. May suspend,
  /// because the program may.
  [[nodiscard]] int run();

  /// What exit() does before the process would end: handlers in reverse, destructors, streams.
  /// Returns `status`. A handler that calls exit() again goes on where this call was. May suspend.
  int finish(int status);

 private:
  void run_constructors();
  void run_destructors();

  const ProgramStart start_;
  const ImageCopy copy_;
  const int rank_;
  Arguments arguments_;
  ExitHandlers exit_handlers_;
  RankStreams streams_;
  GetoptState getopt_;
  LibcState libc_;
  OutsideWaitMark outside_wait_;
  core::Fiber* fiber_ = nullptr;
  const std::byte* stack_bottom_ = nullptr;
  std::size_t stack_bytes_ = 0;
  /// In sleep(), until it is ended.
  core::Sleep* sleep_ = nullptr;
  RankSignals signals_;
  ThreadCleanups thread_cleanups_;
  StartedThreads started_threads_;
  ThreadKeys thread_keys_;
  Environment environment_;
  std::size_t destructors_left_;
  bool has_fini_left_ = true;
};

/// Who runs on the calling thread: nullptr outside of ranks.
[[nodiscard]] RankProcess* current_rank_process();

/// The rank that runs on the calling thread if it may suspend in a call of the C library, which
/// returns to `caller`. Null outside of ranks, in a forked child, and where the runtime itself
/// calls.
[[nodiscard]] RankProcess* process_that_may_wait(const void* caller);

/// The standard stream that `live` (stdin, stdout or stderr of the C library) is for the caller,
/// whose program may have set its own variable.
[[nodiscard]] FILE* standard_stream(FILE*& live);

/// What the composition root provides, once, before the first rank runs.
struct RankHooks {
  RankProcess* (*current)() = nullptr;
  /// Any thread: ends the job because of a signal that the rank has no handler for.
  void (*end_by_signal)(RankProcess& process, int number) = nullptr;
  /// Ends the job because a signal handler of the running rank jumps out of a call of the library.
  void (*refuse_jump)(RankProcess& process) = nullptr;
  /// Ends the running rank, which has done its exit processing, from the middle of its stack.
  void (*end_rank)(RankProcess& process, int status) = nullptr;
};

void set_rank_hooks(const RankHooks& hooks);

/// The hook of that name. Never return.
[[noreturn]] void end_by_signal(RankProcess& process, int number);
[[noreturn]] void refuse_jump(RankProcess& process);

/// Ends the calling rank with the hook. Never returns.
[[noreturn]] void end_rank(RankProcess& process, int status);

/// What exit() means for the caller: the end of the rank that runs, or of the process. Never
/// returns.
[[noreturn]] void exit_rank(int status);

/// Whether this is a child that a rank has forked: there, ending means the end of the process.
[[nodiscard]] bool is_forked_child();

/// Runs the program for one rank on its own stack and returns its exit status. May suspend.
[[nodiscard]] inline int run_rank_main(RankProcess& process) {
  return process.run();
}

}  // namespace sorrel::program
