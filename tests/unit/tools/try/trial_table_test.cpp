#include "tools/sorrel/try/trial_table.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sorrel::tool {
namespace {

std::vector<Trial> three_trials() {
  std::vector<Trial> trials(3);
  trials[0].setup = {
      .label = "sorrel run -n 2", .command = {"sorrel", "run", "-n", "2", "./my app"}, .ranks = 2};
  trials[0].seconds = {1.0, 1.1, 0.9};
  trials[1].setup = {
      .label = "sorrel run -n 8", .command = {"sorrel", "run", "-n", "8", "./my app"}, .ranks = 8};
  trials[1].seconds = {0.5, 0.52, 0.48};
  trials[1].other_work = 0.3;
  trials[2].setup = {.label = "sorrel run -n 16",
                     .command = {"sorrel", "run", "-n", "16", "./my app"},
                     .ranks = 16};
  trials[2].failure = "ended with status 1: a|b";
  return trials;
}

TrialSummary summary_with(const std::vector<Trial>& trials) {
  TrialSummary summary{.program = {"./my app"}, .machine = "node7, 2 cores", .cores = 2};
  summary.run_count = 7;
  summary.elapsed_s = 12;
  summary.verdict = verdict_of(trials);
  summary.sentence = "Use it.";
  summary.warnings = warnings_on(trials, 0);
  return summary;
}

TEST(TrialTable, TerminalHasOneRowForEachCommand) {
  const std::vector<Trial> trials = three_trials();
  const std::string text = terminal_table(summary_with(trials), trials, false);
  EXPECT_NE(text.find("'./my app': 7 runs in 12 s on node7, 2 cores\n"), std::string::npos);
  EXPECT_NE(text.find("  sorrel run -n 2     1.00 s"), std::string::npos) << text;
  EXPECT_NE(text.find("* sorrel run -n 8     500 ms   20.0 ms     3   2.00  ████████\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  sorrel run -n 16  ended with status 1: a|b\n"), std::string::npos) << text;
  EXPECT_EQ(text.find('\033'), std::string::npos);
  EXPECT_NE(terminal_table(summary_with(trials), trials, true).find("\033[32m"), std::string::npos);
}

TEST(TrialTable, WarnsOfOtherWork) {
  const std::vector<Trial> trials = three_trials();
  ASSERT_EQ(warnings_on(trials, 0).size(), 1U);
  EXPECT_EQ(warnings_on(trials, 0)[0],
            "other programs took up to 30 % of the cores: compare ratios, not times");
  EXPECT_EQ(warnings_on(trials, 2).size(), 2U);
}

TEST(TrialTable, WarnsOfOutliersAndOtherOutputs) {
  std::vector<Trial> trials = three_trials();
  trials[1].other_work = 0;
  trials[1].seconds = {0.5, 0.5, 0.51, 0.5, 1.5};
  trials[2].failure = "";
  trials[2].difference = "lacks 'sum #'";
  const std::vector<std::string> warnings = warnings_on(trials, 0);
  ASSERT_EQ(warnings.size(), 2U);
  EXPECT_EQ(warnings[0], "1 of 5 runs of `sorrel run -n 8` took 500 ms to 1.50 s: outliers");
  EXPECT_NE(warnings[1].find("1 of 3 commands print other results"), std::string::npos);
}

TEST(TrialTable, MarkdownEscapesItsSeparator) {
  const std::vector<Trial> trials = three_trials();
  const std::string text = markdown_table(summary_with(trials), trials);
  EXPECT_NE(text.find("| `sorrel run -n 8` | 8 | 500 ms | 20.0 ms | 3 | 2.00 |\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("| `sorrel run -n 16`: ended with status 1: a\\|b | 16 | - |  | 0 | - |\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\nUse it.\n"), std::string::npos);
}

TEST(TrialTable, CsvHasALineForEachCommand) {
  const std::vector<Trial> trials = three_trials();
  const std::string text = csv_table(summary_with(trials), trials);
  EXPECT_NE(text.find("\"sorrel run -n 8 './my app'\",8,0.5,"), std::string::npos) << text;
  EXPECT_NE(text.find(",3,2,0.300,\"\"\n"), std::string::npos) << text;
}

TEST(TrialTable, JsonHasEveryRun) {
  const std::vector<Trial> trials = three_trials();
  const auto json = nlohmann::json::parse(json_table(summary_with(trials), trials));
  EXPECT_EQ(json["trials"][1]["seconds"].size(), 3U);
  EXPECT_EQ(json["trials"][2]["mean"], nullptr);
  EXPECT_EQ(json["verdict"], "helps");
  EXPECT_EQ(json["program"][0], "./my app");
}

}  // namespace
}  // namespace sorrel::tool
