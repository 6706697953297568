#include "mpi/base/error_string.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <mpi.h>
#include <set>
#include <string>
#include <vector>

namespace sorrel::mpi {
namespace {

// The standard numbers its classes without gaps, those of the tool interface apart.
constexpr int last_class = MPI_ERR_ABI;
constexpr int first_tool_class = MPI_T_ERR_CANNOT_INIT;
constexpr int last_tool_class = MPI_T_ERR_PVAR_NO_ATOMIC;

std::vector<int> every_class() {
  std::vector<int> classes;
  for (int error_class = MPI_SUCCESS; error_class <= last_class; ++error_class)
    classes.push_back(error_class);
  for (int error_class = first_tool_class; error_class <= last_tool_class; ++error_class)
    classes.push_back(error_class);
  return classes;
}

TEST(ErrorString, KnowsEveryClassOfTheStandard) {
  for (int error_class : every_class())
    EXPECT_TRUE(is_error_class(error_class)) << error_class;
}

TEST(ErrorString, KnowsNoOtherNumber) {
  for (int number : {-1, last_class + 1, first_tool_class - 1, last_tool_class + 1,
                     MPI_ERR_LASTCODE, MPI_ERR_LASTCODE + 1})
    EXPECT_FALSE(is_error_class(number)) << number;
}

TEST(ErrorString, GivesEachClassANameAndASentenceOfItsOwn) {
  std::set<std::string> names;
  std::set<std::string> sentences;
  for (int error_class : every_class()) {
    const std::string name = error_name(error_class);
    const std::string text = error_string(error_class);
    ASSERT_EQ(text.substr(0, name.size() + 2), name + ": ");
    EXPECT_TRUE(names.insert(name).second) << text;
    EXPECT_TRUE(sentences.insert(text.substr(name.size() + 2)).second) << text;
  }
}

TEST(ErrorString, FitsIntoTheStringOfTheStandard) {
  for (int error_class : every_class())
    EXPECT_LT(std::strlen(error_string(error_class)), std::size_t{MPI_MAX_ERROR_STRING});
}

TEST(ErrorString, SaysWhatTheClassMeans) {
  EXPECT_STREQ(error_string(MPI_ERR_RANK), "MPI_ERR_RANK: invalid rank");
  EXPECT_STREQ(error_name(MPI_ERR_TRUNCATE), "MPI_ERR_TRUNCATE");
}

TEST(ErrorString, CallsAnUnknownNumberUnknown) {
  EXPECT_STREQ(error_name(last_class + 1), "MPI_ERR_UNKNOWN");
  EXPECT_STREQ(error_string(-1), error_string(MPI_ERR_UNKNOWN));
}

}  // namespace
}  // namespace sorrel::mpi
