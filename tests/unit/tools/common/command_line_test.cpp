#include "tools/sorrel/common/command_line.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "unit/tools/common/argument_list.hpp"

namespace sorrel::tool {
namespace {

using Strings = std::vector<std::string>;

class CommandLineTest : public ::testing::Test {
 protected:
  CommandLineTest() {
    app_->add_option("-n,--ranks", ranks_);
    app_->add_flag("--label", label_);
  }

  SplitArguments split(const ArgumentList& words) {
    return split_arguments(*app_, words.arguments());
  }

  std::string ranks_;
  bool label_ = false;
  std::unique_ptr<CLI::App> app_ = make_app("sorrel test [options] PROGRAM", "", "");
};

TEST_F(CommandLineTest, EverythingAfterTheProgramIsTheProgramsOwn) {
  const ArgumentList words{"-n", "4", "./app", "-n", "5", "--label", "--", ""};
  const SplitArguments result = split(words);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.options, Strings{"--ranks=4"});
  EXPECT_EQ(strings(result.program), (Strings{"./app", "-n", "5", "--label", "--", ""}));
  EXPECT_EQ(result.program.data()[result.program.size()], nullptr);
}

TEST_F(CommandLineTest, TwoDashesEndTheOptions) {
  const ArgumentList words{"--label", "--", "-strange-name"};
  const SplitArguments result = split(words);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(strings(result.program), Strings{"-strange-name"});
}

TEST_F(CommandLineTest, AllSpellingsOfTheNumberOfRanksAreOne) {
  for (const ArgumentList& words :
       {ArgumentList{"-n", "7", "a"}, ArgumentList{"-np", "7", "a"}, ArgumentList{"-n7", "a"},
        ArgumentList{"--ranks", "7", "a"}, ArgumentList{"--ranks=7", "a"},
        ArgumentList{"-n=7", "a"}, ArgumentList{"--np", "7", "a"},
        ArgumentList{"-n", "1", "-n", "7", "a"}}) {
    const SplitArguments result = split(words);
    EXPECT_EQ(result.error, "");
    EXPECT_FALSE(parse_options(*app_, result.options).has_value());
    EXPECT_EQ(ranks_, "7");
    EXPECT_EQ(strings(result.program), Strings{"a"});
  }
}

TEST_F(CommandLineTest, ValuesMayLookLikeOptions) {
  const ArgumentList words{"-n", "-5", "a"};
  const SplitArguments result = split(words);
  EXPECT_FALSE(parse_options(*app_, result.options).has_value());
  EXPECT_EQ(ranks_, "-5");
}

TEST_F(CommandLineTest, ProblemsAreNamed) {
  EXPECT_EQ(split({"--lable", "a"}).error, "unknown option --lable; did you mean --label?");
  EXPECT_EQ(split({"-label", "a"}).error, "unknown option -label; did you mean --label?");
  EXPECT_EQ(split({"--nothing-like-it"}).error,
            "unknown option --nothing-like-it; see `sorrel test --help`");
  EXPECT_EQ(split({"-n"}).error, "-n needs a value");
  EXPECT_EQ(split({"--label=1", "a"}).error, "--label takes no value");
}

}  // namespace
}  // namespace sorrel::tool
