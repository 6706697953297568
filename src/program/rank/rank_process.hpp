//! RankProcess - for one rank, what an operating system's process would hold: its image, arguments,
//! streams, exit handlers and the state that the C library keeps once per process.
//!
//! Created by any thread before the rank runs. Afterwards only the rank uses it (on its worker),
//! except output(), whose stream has a lock. The interposers of this module reach it through
//! current_rank_process(). It does not know the scheduler: hooks return the running rank and end
//! ranks.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <sys/types.h>

#include "os/own_process.hpp"
#include "program/image/image_slab.hpp"
#include "program/image/start.hpp"
#include "program/rank/rank_libraries.hpp"
#include "program/rank/rank_settings.hpp"
#include "program/state/arguments.hpp"
#include "program/state/environment.hpp"
#include "program/state/exit_handlers.hpp"
#include "program/state/fork_handlers.hpp"
#include "program/state/getopt_state.hpp"
#include "program/state/libc_state.hpp"
#include "program/state/outside_wait.hpp"
#include "program/state/rank_children.hpp"
#include "program/state/rank_mappings.hpp"
#include "program/state/rank_signals.hpp"
#include "program/state/rank_streams.hpp"
#include "program/state/started_threads.hpp"
#include "program/state/thread_cleanups.hpp"
#include "program/state/thread_keys.hpp"
#include "program/state/unsaved_state.hpp"

namespace sorrel::core {
struct Fiber;
struct Sleep;
}  // namespace sorrel::core

namespace sorrel::program {

class RankFiles;

class RankProcess {
 public:
  /// `own_variables`: those of the rank's environment alone (state/environment.hpp).
  RankProcess(const ProgramStart& start,
              const PrivatizedImage& copy,
              int rank,
              const OutputFormat& format,
              std::string own_variables);
  RankProcess(const RankProcess&) = delete;
  RankProcess& operator=(const RankProcess&) = delete;
  ~RankProcess();

  [[nodiscard]] int rank() const { return rank_; }

  [[nodiscard]] const PrivatizedImage& copy() const { return copy_; }

  /// Whether the rank's image, or one of a library that it has opened, holds the address.
  [[nodiscard]] bool contains(std::uintptr_t address) const {
    return copy_.contains(address) || libraries_.contains(address);
  }

  /// Whether a caller's return address lies in code of ranks: private images, what the rank has
  /// opened, and a C++ library that ranks share.
  [[nodiscard]] bool is_own_code(const void* caller) const;

  [[nodiscard]] RankLibraries& libraries() { return libraries_; }

  [[nodiscard]] const RankLibraries& libraries() const { return libraries_; }

  [[nodiscard]] ExitHandlers& exit_handlers() { return exit_handlers_; }

  [[nodiscard]] ForkHandlers& fork_handlers() { return fork_handlers_; }

  [[nodiscard]] RankStreams& streams() { return streams_; }

  [[nodiscard]] GetoptState& getopt_state() { return getopt_; }

  /// Made at the first use: most ranks need none of it.
  [[nodiscard]] LibcState& libc_state() {
    if (libc_ == nullptr) libc_ = std::make_unique<LibcState>();
    return *libc_;
  }

  /// Working directory, file mode mask, locale.
  [[nodiscard]] RankSettings& settings() { return settings_; }

  [[nodiscard]] const RankSettings& settings() const { return settings_; }

  [[nodiscard]] RankChildren& children() { return children_; }

  /// The rank's wait outside of MPI, while its worker runs other ranks.
  [[nodiscard]] OutsideWaitMark& outside_wait() { return outside_wait_; }

  [[nodiscard]] const OutsideWaitMark& outside_wait() const { return outside_wait_; }

  [[nodiscard]] ThreadCleanups& thread_cleanups() { return thread_cleanups_; }

  [[nodiscard]] ThreadKeys& thread_keys() { return thread_keys_; }

  [[nodiscard]] StartedThreads& started_threads() { return started_threads_; }

  [[nodiscard]] RankSignals& signals() { return signals_; }

  /// A zeroed pointer in which the OpenMP library keeps the lock of the rank's unnamed critical
  /// construct.
  [[nodiscard]] void** openmp_critical_name() { return &openmp_critical_name_; }

  /// The rank's fiber and stack; set before the rank runs.
  void set_fiber(core::Fiber& fiber, const void* stack_bottom, std::size_t stack_bytes);

  /// The thread with which the rank goes on outside of its worker; 0: it has not left it. Any
  /// thread.
  [[nodiscard]] pid_t own_thread() const { return own_thread_.load(std::memory_order_relaxed); }

  void set_own_thread(pid_t thread) { own_thread_.store(thread, std::memory_order_relaxed); }

  /// Null before it is set.
  [[nodiscard]] core::Fiber* fiber() const { return fiber_; }

  /// The lowest address of the rank's stack, and its size. Null before set_fiber().
  [[nodiscard]] void* stack_bottom() const { return const_cast<std::byte*>(stack_bottom_); }

  [[nodiscard]] std::size_t stack_bytes() const { return stack_bytes_; }

  /// Any thread.
  [[nodiscard]] bool is_on_stack(const void* address) const {
    const auto* byte = static_cast<const std::byte*>(address);
    return byte >= stack_bottom_ && byte < stack_bottom_ + stack_bytes_;
  }

  /// Suspends the calling rank for `duration_ns`, or until a signal handler has run for it. Returns
  /// the time left: 0 if no handler has run.
  std::int64_t sleep(const OutsideWait& wait, std::int64_t duration_ns);

  /// Between pin() and unpin(), the rank's fiber is not lent to another worker: frames of this
  /// library, or of the C library with a state of their own, lie below the program's.
  void pin();
  void unpin();

  /// Ends sleep() of a waiting rank, on its worker. False if the rank waits in another way.
  bool end_sleep();

  [[nodiscard]] Environment& environment() { return environment_; }

  /// Ends the job if a signal is pending that the rank neither handles, blocks nor ignores. Any
  /// thread.
  void end_if_signalled();

  /// Before the rank, with the stack pointer `from`, jumps to where it is `to`, which may leave
  /// handlers of signals. Ends the job if that would leave a call of this library unfinished.
  void leave_handlers(std::uintptr_t from, std::uintptr_t to);

  /// Before any rank runs: ranks may be saved. So their arguments and environments will lie on
  /// their own stacks, and what they open and map is recorded.
  static void set_saved() { are_saved_ = true; }

  [[nodiscard]] static bool are_saved() { return are_saved_; }

  /// The files that the rank has opened by name. Only if are_saved(), as the next two.
  [[nodiscard]] RankFiles& files();

  [[nodiscard]] RankMappings& mappings();

  /// What functions of the C library have made for the rank.
  [[nodiscard]] UnsavedState& unsaved();

  /// Why save(), files() and the rank's memory are not all of its state, for a user; null if they
  /// are.
  [[nodiscard]] const char* reason_not_saved() const;

  /// For a rank whose memory is saved and restored: what this object has of its state. While the
  /// rank does not run. False: no memory for its signal actions.
  void save(ByteWriter& to);
  [[nodiscard]] bool restore(ByteCursor& from);

  /// The rank has gone to another process, or does not come after restore().
  void leave();

  /// While the rank does not run, or by itself: the parts of its state agree.
  void check_invariants() const;

  /// Constructors of this image, main, exit processing. Call on the rank's own stack. May suspend,
  /// because the program may.
  [[nodiscard]] int run();

  /// Runs the constructors, or the destructors, of one module of an image. May suspend.
  void run_constructors(const PrivatizedImage& copy, const Module& module);
  static void run_destructors(const PrivatizedImage& copy, const Module& module);

  /// The exit processing before the end of a process: handlers in reverse, destructors, streams.
  /// Returns `status`. If a handler calls exit() again, that call continues where this one was. May
  /// suspend.
  int finish(int status);

 private:
  static std::int64_t sleep_on_own_thread(std::int64_t duration_ns);
  void set_stack_end() const;
  void run_constructors();
  [[nodiscard]] int run_main();
  void run_constructors(const PrivatizedImage& copy,
                        const Module& module,
                        const FunctionTable& table);
  /// What is recorded of a rank that may be saved or move.
  struct RecordedState;

  [[nodiscard]] RecordedState& recorded();
  void run_destructors();

  const ProgramStart start_;
  const PrivatizedImage copy_;
  const int rank_;
  Arguments arguments_;
  ExitHandlers exit_handlers_;
  ForkHandlers fork_handlers_;
  RankStreams streams_;
  GetoptState getopt_;
  std::unique_ptr<LibcState> libc_;
  RankSettings settings_;
  RankChildren children_;
  OutsideWaitMark outside_wait_;
  core::Fiber* fiber_ = nullptr;
  const std::byte* stack_bottom_ = nullptr;
  std::size_t stack_bytes_ = 0;
  // Relaxed: a signal that goes to the worker's thread instead is sent again.
  std::atomic<pid_t> own_thread_{0};
  /// Set during sleep(), until it is ended.
  core::Sleep* sleep_ = nullptr;
  RankSignals signals_;
  void* openmp_critical_name_ = nullptr;
  ThreadCleanups thread_cleanups_;
  StartedThreads started_threads_;
  ThreadKeys thread_keys_;
  Environment environment_;
  RankLibraries libraries_;
  /// Modules whose destructors have not all run.
  std::size_t modules_left_;
  /// Destructors of the last of them that have run.
  std::size_t destructors_run_ = 0;
  /// Null: ranks are not saved.
  const std::unique_ptr<RecordedState> recorded_;

  static inline bool are_saved_ = false;
};

/// The rank that runs on the calling thread, a worker's or its own; nullptr outside of ranks, and
/// in further threads of a rank. May suspend: a rank that another worker has borrowed returns to
/// its own first.
[[nodiscard]] RankProcess* current_rank_process();

/// Whether the calling thread runs a worker: not a thread of a rank outside of calls of MPI.
[[nodiscard]] bool runs_worker();

/// As current_rank_process(), but the rank stays where it is: for signal handlers.
[[nodiscard]] RankProcess* peek_rank_process();

/// While it exists, the rank is pinned.
class PinnedRank {
 public:
  explicit PinnedRank(RankProcess& process) : process_(process) { process_.pin(); }

  ~PinnedRank() { process_.unpin(); }

  PinnedRank(const PinnedRank&) = delete;
  PinnedRank& operator=(const PinnedRank&) = delete;

 private:
  RankProcess& process_;
};

/// The rank that runs on the calling thread, if it may suspend in a call of the C library that
/// returns to `caller`. Null outside of ranks, in a forked child, and in calls of the runtime
/// itself.
[[nodiscard]] RankProcess* process_that_may_wait(const void* caller);

/// The rank that runs on the calling thread, which is the rank's own, in a call of the C library
/// that returns to `caller`: it waits by itself. Else as above.
[[nodiscard]] RankProcess* process_on_own_thread(const void* caller);

/// Provided by the composition root, once, before the first rank runs.
struct RankHooks {
  RankProcess* (*current)() = nullptr;
  /// For peek_rank_process().
  RankProcess* (*peek)() = nullptr;
  /// Any thread: ends the job because of a signal for which the rank has no handler.
  void (*end_by_signal)(RankProcess& process, int number) = nullptr;
  /// Ends the job because a signal handler of the running rank jumps out of a call of this library.
  void (*end_by_jump)(RankProcess& process) = nullptr;
  /// A further thread of a rank ends the process: ends the job, if the rank must not end now.
  void (*end_by_thread)(RankProcess& process, int status) = nullptr;
  /// Ends the running rank, which has done its exit processing, from the middle of its stack.
  void (*end_rank)(RankProcess& process, int status) = nullptr;
};

void set_rank_hooks(const RankHooks& hooks);

/// Whether the hooks are set: the process has ranks, or is about to have some.
[[nodiscard]] bool has_ranks();

/// Call the hook of that name. Never return.
[[noreturn]] void end_by_signal(RankProcess& process, int number);
[[noreturn]] void end_by_jump(RankProcess& process);

/// Calls the hook of that name.
void end_by_thread(RankProcess& process, int status);

/// Ends the calling rank with the hook. Never returns.
[[noreturn]] void end_rank(RankProcess& process, int status);

/// exit() for the caller: ends the running rank, or the process outside of ranks. Never returns.
[[noreturn]] void exit_rank(int status);

/// In a child that a rank has forked, exit() ends the process.
using os::is_forked_child;

/// Runs the program for one rank on its own stack and returns its exit status. May suspend.
[[nodiscard]] inline int run_rank_main(RankProcess& process) {
  return process.run();
}

}  // namespace sorrel::program
