//! WaitRows - the rows of a report about ranks, with a heading. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/wait_table.hpp"

namespace sorrel::runtime {

/// One row for ranks that wait alike, the groups of the fewest ranks first (wait_groups.hpp), at
/// most WaitTable::row_count_max rows. The states are a column if the ranks have any.
[[nodiscard]] std::string wait_rows(const std::vector<RankWait>& waits, std::int32_t rank_count);

}  // namespace sorrel::runtime
