//! MemoryRows - the part of a report about the heaps of ranks. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fixed_text.hpp"
#include "report/wait_table.hpp"

namespace sorrel::report {

/// "17 KiB", "1.3 MiB", "240 GiB": two digits at least. Does not allocate.
[[nodiscard]] FixedText<24> text_of_bytes(std::uint64_t bytes);

/// One row for ranks with the same figures, those that hold most first, with a heading and, of
/// several ranks, their sum. Empty if there are no heaps.
[[nodiscard]] std::string memory_rows(const std::vector<RankMemory>& ranks);

}  // namespace sorrel::report
