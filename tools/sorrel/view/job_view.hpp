//! JobView - looks into a running job: asks each of its processes what its ranks and workers do,
//! and adds up the answers.
//!
//! A process is asked by SIGUSR1 with a value that its library recognises, whatever handlers the
//! program has (report/view_space.hpp). The signal goes to the thread that writes reports, so that
//! it ends no system call of the program. A process that could not recognise it gets none. Nothing
//! is left behind, however this process ends.
#pragma once

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

#include <sorrel/result.hpp>

#include "report/process_view.hpp"
#include "report/view_space.hpp"
#include "tools/sorrel/view/job_list.hpp"

namespace sorrel::tool {

/// The thread of a worker, at the time of the view.
struct WorkerThreadFacts {
  pid_t process = 0;
  ThreadFacts facts;
};

struct JobView {
  report::ProcessView view;
  /// The threads of view.workers.
  std::vector<WorkerThreadFacts> threads;
  /// By this machine's monotonic clock.
  std::int64_t time_ns = 0;
  /// A line for each process that has not answered, and why.
  std::vector<std::string> notes;

  /// No process has answered.
  [[nodiscard]] bool is_empty() const { return view.workers.empty() && view.ranks.waits().empty(); }
};

/// Waits for the answers for a limited time. An error if this process cannot ask.
[[nodiscard]] Result<JobView> look_into(const RunningJob& job, report::ViewKind kind);

/// "4096 ranks"
[[nodiscard]] std::string text_of_ranks_of(const JobView& view);

}  // namespace sorrel::tool
