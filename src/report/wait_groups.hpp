//! WaitGroups - ranks that wait alike, as one row of a report. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/wait_table.hpp"

namespace sorrel::report {

struct WaitGroup {
  /// Ascending, at least one.
  std::vector<std::int32_t> ranks;
  /// The common wait, with the peer that stands for all: "from 3", "from rank+1", "various".
  RankWait wait;
};

/// Groups of ranks that wait in the same state and call, at the same place, for the same peer. The
/// smallest groups come first, since the rank that differs from all others is usually the cause. If
/// there are more groups than `row_count_max`, workers count as equal; then peers at the same
/// distance from their ranks; then all peers, then all tags, then all communicators.
[[nodiscard]] std::vector<WaitGroup> wait_groups(const std::vector<RankWait>& waits,
                                                 std::int32_t rank_count,
                                                 std::size_t row_count_max);

/// "0-3,7,9 (6)": the ranks, and their number if several. At most `run_count_max` runs of ranks are
/// named.
[[nodiscard]] std::string text_of_ranks(const std::vector<std::int32_t>& ranks,
                                        std::size_t run_count_max);

}  // namespace sorrel::report
