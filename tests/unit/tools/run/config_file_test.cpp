#include "tools/sorrel/run/config_file.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tools/sorrel/run/run_options.hpp"

namespace sorrel::tool {
namespace {

class ConfigFileTest : public testing::Test {
 protected:
  [[nodiscard]] Result<std::vector<std::string>> parse(std::string_view text) {
    RunOptions options;
    return parse_config(*make_run_app(options), text, "conf");
  }

  [[nodiscard]] std::string error_of(std::string_view text) { return parse(text).error_or(""); }
};

TEST_F(ConfigFileTest, LinesAreOptionsAndTheRestOfALineIsTheValue) {
  const Result<std::vector<std::string>> read = parse(
      "# a comment\n\n  workers = 2\t\r\nwire=latency=50us,bandwidth=1GB/s\nlabel\n"
      "verbose = true\nomp = false\nshared = a.so, b # c.so");
  ASSERT_TRUE(read.has_value()) << read.error();
  const std::vector<std::string> expected = {"--workers=2", "--wire=latency=50us,bandwidth=1GB/s",
                                             "--label", "--verbose", "--shared=a.so, b # c.so"};
  EXPECT_EQ(read.value(), expected);
}

TEST_F(ConfigFileTest, AnErrorNamesTheLineAndWhatIsAllowed) {
  EXPECT_EQ(error_of("\nworker = 2"), "conf:2: unknown option --worker; did you mean --workers?");
  EXPECT_EQ(error_of("--workers = 2"),
            "conf:1: '--workers = 2' is not an option; write it as NAME or NAME = VALUE");
  EXPECT_EQ(error_of("workers 2"),
            "conf:1: 'workers 2' is not an option; write it as NAME or NAME = VALUE");
  EXPECT_EQ(error_of("= 2"), "conf:1: '= 2' is not an option; write it as NAME or NAME = VALUE");
  EXPECT_EQ(error_of("label\nworkers ="), "conf:2: --workers needs a value that is not empty");
  EXPECT_EQ(error_of("workers"), "conf:1: --workers needs a value");
  EXPECT_EQ(error_of("label = yes"), "conf:1: label must be true or false, not 'yes'");
  EXPECT_EQ(error_of("help"), "conf:1: help belongs on the command line");
}

}  // namespace
}  // namespace sorrel::tool
