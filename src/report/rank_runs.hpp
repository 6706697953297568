//! RankRuns - sets of ranks as runs, and the fields of the lines in which processes pass on what
//! their ranks do. Pure.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "report/wait_table.hpp"

namespace sorrel::report {

using RankRun = WaitTable::Run;
using RankRuns = std::vector<RankRun>;

/// Adds a rank to the last run, or as a new one.
void append(RankRuns& runs, std::int32_t rank);

[[nodiscard]] std::int32_t rank_count_of(const RankRuns& runs);

/// "0-3,7-7,": of a line.
[[nodiscard]] std::string as_field(const RankRuns& runs);

/// The ranks of such a field; also "7," for one rank. What is no number is left out.
[[nodiscard]] RankRuns runs_in(std::string_view field);

/// `text` without the characters that separate fields and lines.
[[nodiscard]] std::string as_field(std::string text);

/// Removes the first field and its separator from the line.
std::string_view take_field(std::string_view& line, char separator = '\t');

template <class Number>
std::optional<Number> number_in(std::string_view field) {
  Number number{};
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), number);
  return error == std::errc{} && end == field.data() + field.size() ? std::optional(number)
                                                                    : std::nullopt;
}

}  // namespace sorrel::report
