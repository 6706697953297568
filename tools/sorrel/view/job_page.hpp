//! JobPage - a running job on a screen: its resources, workers and ranks. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/wait_rows.hpp"
#include "tools/sorrel/common/json.hpp"
#include "tools/sorrel/view/job_list.hpp"
#include "tools/sorrel/view/job_view.hpp"

namespace sorrel::tool {

/// A worker's thread between two views.
struct WorkerRates {
  /// Share of a core's time; nothing if it is not known.
  std::optional<double> load;
  /// How often it got a core in a second.
  std::optional<double> wakes_per_second;
  /// Sent by its ranks.
  std::optional<double> messages_per_second;
  std::optional<double> bytes_per_second;
  /// Ranks that run or are blocked on the worker, and those that are ready to run.
  int running_count = 0;
  int ready_count = 0;
};

/// By the workers of `now`. `before`: an earlier view of the same job.
[[nodiscard]] std::vector<WorkerRates> rates_of(const JobView& before, const JobView& now);

/// "12:07", "3:12:07", "2-03:12:07" (days).
[[nodiscard]] std::string text_of_duration(double seconds);

/// One line about the job without a look into it.
[[nodiscard]] std::string headline_of(const RunningJob& job);

/// Lines without their ends.
[[nodiscard]] std::vector<std::string> page_of(const RunningJob& job,
                                               const JobView& before,
                                               const JobView& now,
                                               const report::RowChoice& choice);

/// The line of the heading of workers among those of page_of(), which a line for each worker
/// follows; nothing if there is none.
[[nodiscard]] std::optional<std::size_t> worker_heading(const std::vector<std::string>& lines);

/// Shares in percent, as a text of `width` characters; the last of more than `width` ones. Of UTF-8
/// if `has_blocks`, else of digits, tenths of the whole. A share that is not known is a space.
[[nodiscard]] std::string load_history(const std::vector<std::optional<double>>& loads,
                                       std::size_t width,
                                       bool has_blocks);

[[nodiscard]] Json json_of(const RunningJob& job);
[[nodiscard]] Json json_of(const RunningJob& job, const JobView& before, const JobView& now);

}  // namespace sorrel::tool
