//! ReportWindow - when the ranks of the process's job exist and may be read for a report.
//!
//! The reporting thread reads between begin_reading() and end_reading(). The thread that is about
//! to destroy the ranks closes the window and waits until no thread reads them.
#pragma once

#include <cstdint>

namespace sorrel::runtime {

class Job;

enum class RankStage : std::uint32_t {
  before_ranks,
  open,
  reading,
  changing,  ///< Ranks come from other processes, or go there.
  after_ranks
};

/// Before the first rank runs: what the watch of the process's job calls when a signal handler has
/// requested a report.
void set_report_answer(void (*answer)());

/// Calls what set_report_answer() was given, if anything.
void answer_report_request();

/// The ranks of `job` exist from now on; until close_window(), on the thread of a worker that is
/// about to destroy them, which waits while they are being read. Other jobs are ignored.
void open_window(const Job& job);
void close_window(const Job& job);

/// Between the two, while all workers are stopped, ranks come and go: nothing reads them.
void begin_change(const Job& job);
void end_change(const Job& job);

/// Safe in signal handlers.
[[nodiscard]] RankStage rank_stage();

/// `open` if the caller may read until end_reading(), else the stage that prevents it. Waits for
/// the end of a change.
[[nodiscard]] RankStage begin_reading();
void end_reading();

}  // namespace sorrel::runtime
