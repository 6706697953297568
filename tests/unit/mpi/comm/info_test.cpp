#include <gtest/gtest.h>
#include <mpi.h>
#include <string>

#include "mpi/match/environment_info.hpp"

namespace sorrel::mpi {
namespace {

TEST(Info, KeepsKeysInTheOrderOfTheirFirstSetting) {
  Info info;
  ErrorDetail detail;
  EXPECT_EQ(info.set("b", "1", detail), MPI_SUCCESS);
  EXPECT_EQ(info.set("a", "2", detail), MPI_SUCCESS);
  EXPECT_EQ(info.set("b", "3", detail), MPI_SUCCESS);
  ASSERT_EQ(info.size(), 2);
  EXPECT_EQ(info.key(0), "b");
  EXPECT_EQ(info.key(1), "a");
  ASSERT_NE(info.find("b"), nullptr);
  EXPECT_EQ(*info.find("b"), "3");
  EXPECT_EQ(info.find("B"), nullptr);
}

TEST(Info, ErasesOnlyWhatIsThere) {
  Info info;
  ErrorDetail detail;
  EXPECT_EQ(info.set("a", "", detail), MPI_SUCCESS);
  EXPECT_EQ(info.erase("a", detail), MPI_SUCCESS);
  EXPECT_EQ(info.size(), 0);
  EXPECT_EQ(info.erase("a", detail), MPI_ERR_INFO_NOKEY);
  EXPECT_STREQ(detail.text(), "key \"a\" is not in info");
}

TEST(Info, TakesTheLongestKeysAndValuesButNoLongerOnes) {
  Info info;
  ErrorDetail detail;
  const std::string key(MPI_MAX_INFO_KEY - 1, 'k');
  const std::string value(MPI_MAX_INFO_VAL - 1, 'v');
  EXPECT_EQ(info.set(key.c_str(), value.c_str(), detail), MPI_SUCCESS);
  EXPECT_EQ(*info.find(key), value);
  EXPECT_EQ(info.set((key + "k").c_str(), "", detail), MPI_ERR_INFO_KEY);
  EXPECT_EQ(info.set("other", (value + "v").c_str(), detail), MPI_ERR_INFO_VALUE);
  EXPECT_EQ(info.size(), 1);
}

TEST(Info, RefusesNullAndEmptyKeys) {
  Info info;
  ErrorDetail detail;
  EXPECT_EQ(info.set(nullptr, "", detail), MPI_ERR_INFO_KEY);
  EXPECT_EQ(info.set("", "", detail), MPI_ERR_INFO_KEY);
  EXPECT_EQ(info.set("key", nullptr, detail), MPI_ERR_INFO_VALUE);
  EXPECT_EQ(info.erase("", detail), MPI_ERR_INFO_KEY);
}

TEST(Info, HandlesLeadToListsAndNothingElseDoes) {
  const MPI_Info handle = make_info_handle(std::make_unique<Info>());
  EXPECT_NE(info_of(handle), nullptr);
  EXPECT_EQ(info_of(handle), changeable_info_of(handle));
  EXPECT_EQ(info_of(MPI_INFO_NULL), nullptr);
  EXPECT_EQ(changeable_info_of(MPI_INFO_ENV), nullptr);
  free_info(changeable_info_of(handle));
}

TEST(Info, EnvironmentNamesTheCommand) {
  const Info* environment = info_of(MPI_INFO_ENV);
  ASSERT_NE(environment, nullptr);
  ASSERT_NE(environment->find("command"), nullptr);
  EXPECT_NE(environment->find("command")->find("test_mpi"), std::string::npos);
  // Only ranks know the number of ranks.
  EXPECT_EQ(environment->find("maxprocs"), nullptr);
}

}  // namespace
}  // namespace sorrel::mpi
