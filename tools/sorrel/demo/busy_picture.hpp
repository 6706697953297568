//! BusyPicture - the times in which cores computed, as rows of blocks: a column for each part of
//! the time, as high as the core was busy, in the colour of the rank that computed most. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sorrel::tool {

/// One computation of a rank.
struct BusySpan {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  int rank = 0;
  int thread = 0;
};

/// A column of a core.
struct BusyCell {
  double share = 0;  ///< of its time
  int rank = -1;     ///< that computed most; -1: none
};

/// The rows of `threads` over `columns` of `column_ns` each from `begin_ns` on.
[[nodiscard]] std::vector<std::vector<BusyCell>> busy_cells(std::span<const BusySpan> spans,
                                                            std::span<const int> threads,
                                                            std::int64_t begin_ns,
                                                            std::int64_t column_ns,
                                                            std::size_t columns);

/// The threads of the spans, in order of their first computation.
[[nodiscard]] std::vector<int> threads_of(std::span<const BusySpan> spans);

/// A row as text: blocks in colours of ranks, or plain.
[[nodiscard]] std::string row_text(std::span<const BusyCell> row, bool has_colours);

}  // namespace sorrel::tool
