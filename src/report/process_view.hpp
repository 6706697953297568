//! ProcessView - what the ranks and the workers of a process, or of a job, do at a moment: the
//! answer to a request to look into it.
//!
//! Each process makes its own, as text (report/view_space.hpp). The looking process adds them up.
//! Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "report/rank_runs.hpp"
#include "report/wait_table.hpp"

namespace sorrel::report {

struct ViewedWorker {
  std::uint32_t number = 0;  ///< In the job.
  pid_t thread = 0;          ///< 0: none runs it now.
  bool is_asleep = false;
  /// By its ranks, since the start of the job.
  std::uint64_t sent_messages = 0;
  std::uint64_t sent_bytes = 0;

  bool operator==(const ViewedWorker&) const = default;
};

/// The calls in progress, the innermost first; empty: they are not known.
using CallStack = std::vector<std::string>;

/// The last of the calls where the outer ones are not known.
inline constexpr const char* unknown_calls = "(further calls are not known)";

class ProcessView {
 public:
  enum class Stage : char { before_ranks = 'b', with_ranks = 'r', after_ranks = 'a' };

  /// The stage of the process that has answered last.
  Stage stage = Stage::with_ranks;
  /// Ranks of the job.
  std::int32_t rank_count = 0;
  std::vector<ViewedWorker> workers;
  WaitTable ranks;
  /// By rank: messages that have arrived and for which no receive is posted. Only those that have
  /// some.
  std::map<std::int32_t, std::uint32_t> unexpected;
  /// Ranks in order, by their calls in progress.
  std::map<CallStack, RankRuns> stacks;
  /// What did not fit is left out.
  bool is_cut = false;

  [[nodiscard]] std::string text(std::size_t bytes_max) const;

  /// Adds the text of a process.
  void add(std::string_view text);

 private:
  void add_line(std::string_view line);
};

}  // namespace sorrel::report
