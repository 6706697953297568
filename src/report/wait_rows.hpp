//! WaitRows - the rows of a report about ranks, with a heading. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/wait_table.hpp"

namespace sorrel::report {

enum class RowOrder : std::uint8_t { fewest_first, by_rank, by_state, by_call, by_place };

struct RowChoice {
  std::size_t row_count_max = WaitTable::row_count_max;
  RowOrder order = RowOrder::fewest_first;
};

/// One row for ranks that wait alike (wait_groups.hpp). The states are a column if the ranks have
/// any.
[[nodiscard]] std::string wait_rows(const std::vector<RankWait>& waits,
                                    std::int32_t rank_count,
                                    const RowChoice& choice = {});

}  // namespace sorrel::report
