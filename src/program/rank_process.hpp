//! RankProcess - what an operating system's process would be to one rank: its image, arguments,
//! streams, exit handlers and the state that the C library keeps once per process.
//!
//! Created by any thread before the rank runs; afterwards everything here is touched by the rank
//! alone (its worker), except output(), whose stream locks itself. The interposers of this module
//! reach it through current_rank_process(). It does not know the scheduler: two hooks tell who runs
//! and how a rank ends.
#pragma once

#include <memory>

#include "program/arguments.hpp"
#include "program/copy_slab.hpp"
#include "program/exit_handlers.hpp"
#include "program/getopt_state.hpp"
#include "program/libc_state.hpp"
#include "program/rank_streams.hpp"
#include "program/start.hpp"

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
  std::size_t destructors_left_;
  bool has_fini_left_ = true;
};

/// Who runs on the calling thread: nullptr outside of ranks.
[[nodiscard]] RankProcess* current_rank_process();

/// What the composition root provides, once, before the first rank runs.
struct RankHooks {
  RankProcess* (*current)() = nullptr;
  /// Ends the running rank, which has done its exit processing, from the middle of its stack.
  void (*end_rank)(RankProcess& process, int status) = nullptr;
};

void set_rank_hooks(const RankHooks& hooks);

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
