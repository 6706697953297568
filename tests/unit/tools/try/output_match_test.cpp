#include "tools/sorrel/try/output_match.hpp"

#include <gtest/gtest.h>
#include <string>

namespace sorrel::tool {
namespace {

PrintedResult printed(const std::string& text, std::uint64_t ranks = 2) {
  return {text, ranks, {}};
}

/// What differs between two outputs with 2 and with `ranks` ranks.
std::string difference(const std::string& first,
                       const std::string& other,
                       std::uint64_t ranks = 4) {
  return OutputMatch(printed(first), {}).difference(printed(other, ranks));
}

TEST(OutputMatch, EqualOutputsAgree) {
  EXPECT_EQ(difference("sum 15\ndone\n", "sum 15\ndone\n"), "");
  EXPECT_EQ(difference("", ""), "");
}

TEST(OutputMatch, AnotherIntegerIsADifference) {
  EXPECT_EQ(difference("sum 15\n", "sum 16\n"), "16 in place of 15 in 'sum #'");
  EXPECT_EQ(difference("sum -15\n", "sum 15\n"), "15 in place of -15 in 'sum #'");
}

TEST(OutputMatch, RealNumbersAgreeWithinTheTolerance) {
  EXPECT_EQ(difference("residual 1.0000001e-06\n", "residual 1.0000002e-06\n"), "");
  EXPECT_EQ(difference("residual 1.1e-06\n", "residual 1.2e-06\n"),
            "1.2e-06 in place of 1.1e-06 in 'residual #'");
  EXPECT_EQ(difference("error 1e-16\n", "error -7e-17\n"), "");
  EXPECT_NE(difference("count 1000000\n", "count 1000001\n"), "");
}

TEST(OutputMatch, NumbersOfRanksAgreeIfEachIsThatOfItsRun) {
  EXPECT_EQ(difference("2 ranks, sum 15\n", "4 ranks, sum 15\n"), "");
  EXPECT_NE(difference("2 ranks, sum 15\n", "8 ranks, sum 15\n"), "");
  EXPECT_NE(difference("2.0\n", "4.0\n"), "");
}

TEST(OutputMatch, PartsOfLinesThatNameATimeAreNotCompared) {
  const std::string first = "steps 10, time per step 566.1 us, residual 5\n";
  EXPECT_EQ(difference(first, "steps 10, time per step 17.0 us, residual 5\n"), "");
  EXPECT_NE(difference(first, "steps 10, time per step 17.0 us, residual 6\n"), "");
  EXPECT_EQ(difference("took 3 s\n", "took 9 s\n"), "");
  EXPECT_EQ(difference("Elapsed: 3\n", "Elapsed: 9\n"), "");
  EXPECT_EQ(difference("FOM = 812.2 (z/s)\n", "FOM = 99.5 (z/s)\n"), "");
  EXPECT_EQ(difference("copied 3 MB/s\n", "copied 9 MB/s\n"), "");
  EXPECT_NE(difference("3 steps\n", "9 steps\n"), "");
}

TEST(OutputMatch, ColumnsUnderAHeadingThatNamesATimeAreNotCompared) {
  const std::string first =
      "Section | calls | avg time |%varavg\n---------\nPair | 5 | 0.00 | 0.0\nComm | 7 | 0.25 | "
      "0\n";
  const std::string slower =
      "Section | calls | avg time |%varavg\n---------\nPair | 5 | 3.25 | 6.3\nComm | 7 | 0.50 | "
      "9\n";
  EXPECT_EQ(difference(first, slower), "");
  EXPECT_EQ(difference(
                first,
                "Section | calls | avg time |%varavg\n---------\nPair | 6 | 0.00 | 0.0\nComm | 7 | "
                "0.25 | 0\n"),
            "6 in place of 5 in 'Pair |# |# |#'");
  EXPECT_EQ(difference(first + "Total | 5 | 6\n", slower + "Total | 5 | 7\n"),
            "7 in place of 6 in 'Total |# |#'");
  // The next line of as many columns belongs to no table.
  EXPECT_NE(difference(first + "end\nA | 1 | 2 | 3\n", slower + "end\nA | 1 | 2 | 4\n"), "");
  EXPECT_NE(difference("name | value | share\na | 1 | 2\n", "name | value | share\na | 1 | 3\n"),
            "");
}

TEST(OutputMatch, TheOrderOfLinesDoesNotMatter) {
  EXPECT_EQ(difference("rank 0 has 5\nrank 1 has 6\n", "rank 1 has 6\nrank 0 has 5\n"), "");
  EXPECT_NE(difference("rank 0 has 5\nrank 1 has 6\n", "rank 1 has 5\nrank 0 has 6\n"), "");
}

TEST(OutputMatch, MoreOrFewerLinesAreADifference) {
  EXPECT_EQ(difference("hello\n", "hello\nhello\n"), "2 lines in place of 1 'hello'");
  EXPECT_EQ(difference("hello\n", "hello\nbye\n"), "only here: 'bye'");
  EXPECT_EQ(difference("hello\nbye\n", "hello\n"), "lacks 'bye'");
}

TEST(OutputMatch, NumbersWithinWordsAreText) {
  EXPECT_NE(difference("node12 done\n", "node13 done\n"), "");
}

TEST(OutputMatch, ColumnsMayHaveOtherBlanks) {
  EXPECT_EQ(difference("ranks   2 sum 15\n", "ranks  4   sum 15\n"), "");
}

TEST(OutputMatch, NumbersInParenthesesMayHaveOtherBlanks) {
  EXPECT_EQ(difference("Grind time (us/z/c)  =  2.1071698 (per dom)  ( 1.0114415 overall)\n",
                       "Grind time (us/z/c)  = 10.213312 (per dom)  (0.98114415 overall)\n"),
            "");
  EXPECT_EQ(difference("point ( 1, 2)\n", "point (10, 2)\n"), "10 in place of 1 in 'point (#,#)'");
}

TEST(OutputMatch, IgnoredLinesAreLeftOut) {
  MatchOptions options;
  options.ignored.emplace_back("^grid", std::regex::extended);
  const OutputMatch match(PrintedResult("grid 1 x 2\nsum 15\n", 2, options), options);
  EXPECT_EQ(match.difference(PrintedResult("grid 2 x 2\nsum 15\n", 4, options)), "");
  EXPECT_NE(match.difference(PrintedResult("grid 2 x 2\nsum 16\n", 4, options)), "");
}

TEST(OutputMatch, WhatDiffersBetweenRunsOfOneCommandIsNoResult) {
  OutputMatch match(printed("handle 17 sum 15\nseen a\n"), {});
  match.learn(printed("handle 99 sum 15\nseen b\n"));
  EXPECT_EQ(match.unsteady_count(), 3U);  // a number, and a line of each run
  EXPECT_EQ(match.difference(printed("handle 5 sum 15\nseen a\n", 4)), "");
  EXPECT_NE(match.difference(printed("handle 5 sum 16\nseen a\n", 4)), "");
}

}  // namespace
}  // namespace sorrel::tool
