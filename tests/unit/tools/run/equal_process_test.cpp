// Random bytes that all processes of a job make alike, from what a launcher says.
#include "tools/sorrel/run/equal_process.hpp"

#include <gtest/gtest.h>
#include <map>
#include <string>

namespace sorrel::tool {
namespace {

using Variables = std::map<std::string, std::string>;

std::optional<RandomBytes> bytes_of(const Variables& variables, std::string_view parent = "") {
  return random_bytes_of_job(
      [&](const char* name) {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
      },
      parent);
}

std::string proxy(const std::string& port, int number) {
  using namespace std::string_literals;
  return "hydra_pmi_proxy\0--control-port\0"s + port + "\0--proxy-id\0"s + std::to_string(number) +
         "\0"s;
}

TEST(RandomBytesOfJob, AreThoseOfTheJobsName) {
  const auto bytes = bytes_of({{"PMIX_NAMESPACE", "prterun-a-77@1"}, {"PMIX_RANK", "0"}});
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes, bytes_of({{"PMIX_NAMESPACE", "prterun-a-77@1"}, {"PMIX_RANK", "5"}}));
  EXPECT_NE(bytes, bytes_of({{"PMIX_NAMESPACE", "prterun-a-78@1"}}));
}

TEST(RandomBytesOfJob, AreThoseOfAStepOfSlurm) {
  const auto bytes = bytes_of({{"SLURM_JOB_ID", "12"}, {"SLURM_STEP_ID", "3"}});
  ASSERT_TRUE(bytes);
  EXPECT_NE(bytes, bytes_of({{"SLURM_JOB_ID", "12"}, {"SLURM_STEP_ID", "4"}}));
}

TEST(RandomBytesOfJob, AreThoseOfThePortOfMpichsMpiexec) {
  const auto bytes = bytes_of({}, proxy("a:4000", 0));
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes, bytes_of({}, proxy("a:4000", 1)));
  EXPECT_NE(bytes, bytes_of({}, proxy("a:4001", 0)));
}

TEST(RandomBytesOfJob, AreNotMadeWhereNothingNamesTheJob) {
  EXPECT_FALSE(bytes_of({}, std::string_view("bash\0-c\0true\0", 13)));
}

}  // namespace
}  // namespace sorrel::tool
