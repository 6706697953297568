//! OutputMatch - whether two runs of a program have printed the same results.
//!
//! Lines are put together by their text without numbers; their order does not matter. Numbers that
//! are no results are left out:
//! - in a part of a line, up to a comma, a semicolon or a bar, that names a time or a speed: a word
//!   such as time, elapsed or speed, or a unit such as s, ms or MB/s behind a number;
//! - in a column of a table with bars whose heading names one, and percentages of such a table;
//! - at a place where two runs of the same command have printed different numbers.
//! Other numbers agree if they are equal, if each is the number of ranks of its run, or, where one
//! has a decimal point or an exponent, if they differ by no more than the tolerance. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sorrel::tool {

struct MatchOptions {
  double tolerance = 1e-5;            ///< of the larger of two numbers
  std::vector<std::regex> ignored{};  ///< lines that contain one are left out
};

/// Numbers below it are rounding errors of zero: any two agree.
inline constexpr double number_of_zero = 1e-12;

/// What one run has printed, ready to be compared.
class PrintedResult {
 public:
  PrintedResult(std::string_view text, std::uint64_t ranks, const MatchOptions& options);

  struct Number {
    double value = 0;
    bool is_exact = false;  ///< an integer without a decimal point or exponent
  };

  using Row = std::vector<Number>;

  /// By the text of their lines without numbers: the numbers of each line that are no times, in
  /// ascending order.
  [[nodiscard]] const std::map<std::string, std::vector<Row>>& lines() const { return lines_; }

  [[nodiscard]] std::uint64_t ranks() const { return ranks_; }

 private:
  std::map<std::string, std::vector<Row>> lines_;
  std::uint64_t ranks_;
};

/// What the runs of a program with one command print, and what agrees with it.
class OutputMatch {
 public:
  OutputMatch(PrintedResult first, MatchOptions options)
      : first_(std::move(first)), options_(std::move(options)) {}

  /// Another run of the first command: numbers that differ are no results.
  void learn(const PrintedResult& again);

  /// "" if the run agrees with the first one; else one line with the first difference.
  [[nodiscard]] std::string difference(const PrintedResult& other) const;

  /// Numbers, and lines, that learn() has found to differ.
  [[nodiscard]] std::size_t unsteady_count() const {
    return unsteady_numbers_.size() + unsteady_lines_.size();
  }

 private:
  [[nodiscard]] bool agree(const PrintedResult::Number& mine,
                           const PrintedResult::Number& theirs,
                           std::uint64_t their_ranks) const;

  PrintedResult first_;
  MatchOptions options_;
  std::set<std::pair<std::string, std::size_t>> unsteady_numbers_;  ///< text of a line, index
  std::set<std::string> unsteady_lines_;
};

}  // namespace sorrel::tool
