#include "tools/sorrel/command_line.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "unit/tools/words.hpp"

namespace sorrel::tool {
namespace {

using Strings = std::vector<std::string>;

class CommandLineTest : public ::testing::Test {
 protected:
  CommandLineTest() {
    app_->add_option("-n,--ranks", ranks_);
    app_->add_flag("--label", label_);
  }

  SplitWords split(const Words& words) { return split_words(*app_, words.arguments()); }

  std::string ranks_;
  bool label_ = false;
  std::unique_ptr<CLI::App> app_ = make_app("sorrel test [options] PROGRAM", "", "");
};

TEST_F(CommandLineTest, EverythingAfterTheProgramIsTheProgramsOwn) {
  const Words words{"-n", "4", "./app", "-n", "5", "--label", "--", ""};
  const SplitWords result = split(words);
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.options, Strings{"--ranks=4"});
  EXPECT_EQ(strings(result.program), (Strings{"./app", "-n", "5", "--label", "--", ""}));
  EXPECT_EQ(result.program.data()[result.program.size()], nullptr);
}

TEST_F(CommandLineTest, TwoDashesEndTheOptions) {
  const Words words{"--label", "--", "-strange-name"};
  const SplitWords result = split(words);
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(strings(result.program), Strings{"-strange-name"});
}

TEST_F(CommandLineTest, AllSpellingsOfTheNumberOfRanksAreOne) {
  for (const Words& words :
       {Words{"-n", "7", "a"}, Words{"-np", "7", "a"}, Words{"-n7", "a"},
        Words{"--ranks", "7", "a"}, Words{"--ranks=7", "a"}, Words{"-n=7", "a"},
        Words{"--np", "7", "a"}, Words{"-n", "1", "-n", "7", "a"}}) {
    const SplitWords result = split(words);
    EXPECT_EQ(result.problem, "");
    EXPECT_FALSE(parse_words(*app_, result.options).has_value());
    EXPECT_EQ(ranks_, "7");
    EXPECT_EQ(strings(result.program), Strings{"a"});
  }
}

TEST_F(CommandLineTest, ValuesMayLookLikeOptions) {
  const Words words{"-n", "-5", "a"};
  const SplitWords result = split(words);
  EXPECT_FALSE(parse_words(*app_, result.options).has_value());
  EXPECT_EQ(ranks_, "-5");
}

TEST_F(CommandLineTest, ProblemsAreNamed) {
  EXPECT_EQ(split({"--lable", "a"}).problem, "unknown option --lable; did you mean --label?");
  EXPECT_EQ(split({"-label", "a"}).problem, "unknown option -label; did you mean --label?");
  EXPECT_EQ(split({"--nothing-like-it"}).problem,
            "unknown option --nothing-like-it; see `sorrel test --help`");
  EXPECT_EQ(split({"-n"}).problem, "-n needs a value");
  EXPECT_EQ(split({"--label=1", "a"}).problem, "--label takes no value");
}

}  // namespace
}  // namespace sorrel::tool
