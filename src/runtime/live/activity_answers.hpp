//! ActivityAnswers - a thread obtains descriptions of all ranks of the process from the threads of
//! their workers, which it interrupts by a signal.
//!
//! A thread that sleeps in a system call which a signal would end is left alone, and one that does
//! not answer in time too: of their ranks there is what any thread may read.
#pragma once

#include <csignal>
#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

#include "runtime/base/job_view.hpp"
#include "runtime/live/activity_description.hpp"
#include "runtime/live/rank_stack.hpp"
#include "runtime/python/stack.hpp"

namespace sorrel::runtime {

inline constexpr int activity_signal = SIGUSR1;

/// What a requester knows of a worker's thread.
struct WorkerView {
  pid_t thread = 0;
  /// The system call in which the program sleeps; empty: none.
  std::string call;
};

struct ActivityAnswers {
  std::vector<ActivityDescription> ranks;  ///< By index among the ranks of the process.
  std::vector<WorkerView> workers;         ///< By number of the worker.
  /// By index among the ranks, if wanted.
  std::vector<RankStack> stacks;
  /// By index among the ranks; empty: the process runs no Python.
  std::vector<PythonStack> python;
};

/// Before the first rank of the job runs.
void prepare_activity_answers(const JobView& job);

enum class AnswerDetail : std::uint8_t { activity, with_stacks };

/// Describes all ranks of the process. One thread at a time, while the job has ranks. Waits for the
/// workers' threads for a limited time.
[[nodiscard]] ActivityAnswers ask_for_activity(const JobView& job,
                                               AnswerDetail detail = AnswerDetail::activity);

/// Sends a thread the signal in such a way that its handler recognises it. False: it has ended.
/// Any thread, and signal handlers.
bool interrupt_for_activity(pid_t thread);

/// In the signal's handler: whether interrupt_for_activity() has sent it.
[[nodiscard]] bool is_interruption(const siginfo_t& info);

/// In the signal's handler, whose third argument is `context`, on a thread that has been
/// interrupted.
void give_activity_answer(const JobView& job, const void* context);

}  // namespace sorrel::runtime
