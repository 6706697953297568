#include "mpi/base/error_codes.hpp"

#include <gtest/gtest.h>
#include <mpi.h>
#include <string>

namespace sorrel::mpi {
namespace {

class Codes : public testing::Test {
 protected:
  ErrorCodes codes;
  ErrorDetail detail;
};

TEST_F(Codes, FollowTheLastCodeOfTheStandard) {
  EXPECT_EQ(codes.last_used(), MPI_ERR_LASTCODE);
  EXPECT_EQ(codes.add_class(), MPI_ERR_LASTCODE + 1);
  int code = 0;
  EXPECT_EQ(codes.add_code(MPI_ERR_LASTCODE + 1, &code, detail), MPI_SUCCESS);
  EXPECT_EQ(code, MPI_ERR_LASTCODE + 2);
  EXPECT_EQ(codes.last_used(), code);
}

TEST_F(Codes, BelongToTheirClass) {
  int code = 0;
  int error_class = 0;
  EXPECT_EQ(codes.add_code(MPI_ERR_RANK, &code, detail), MPI_SUCCESS);
  EXPECT_EQ(codes.class_of(code, &error_class, detail), MPI_SUCCESS);
  EXPECT_EQ(error_class, MPI_ERR_RANK);
  const int added = codes.add_class();
  EXPECT_EQ(codes.class_of(added, &error_class, detail), MPI_SUCCESS);
  EXPECT_EQ(error_class, added);
  EXPECT_EQ(codes.class_of(MPI_ERR_TAG, &error_class, detail), MPI_SUCCESS);
  EXPECT_EQ(error_class, MPI_ERR_TAG);
  EXPECT_EQ(codes.class_of(added + 1, &error_class, detail), MPI_ERR_ARG);
}

TEST_F(Codes, CannotBeAddedToWhatIsNoClass) {
  int code = 0;
  EXPECT_EQ(codes.add_code(MPI_ERR_RANK, &code, detail), MPI_SUCCESS);
  int other = -5;
  EXPECT_EQ(codes.add_code(code, &other, detail), MPI_ERR_ARG);
  EXPECT_EQ(codes.add_code(MPI_ERR_LASTCODE, &other, detail), MPI_ERR_ARG);
  EXPECT_EQ(other, -5);
}

TEST_F(Codes, GetTextsOfTheirOwn) {
  const int added = codes.add_class();
  EXPECT_STREQ(codes.text_of(added), "");
  EXPECT_EQ(codes.set_text(added, "the tea is cold", detail), MPI_SUCCESS);
  EXPECT_STREQ(codes.text_of(added), "the tea is cold");
  EXPECT_EQ(codes.set_text(MPI_ERR_RANK, "no", detail), MPI_ERR_ARG);
  EXPECT_STREQ(codes.text_of(MPI_ERR_RANK), "MPI_ERR_RANK: invalid rank");
  EXPECT_EQ(codes.text_of(added + 1), nullptr);
  const std::string longest(MPI_MAX_ERROR_STRING - 1, 'x');
  EXPECT_EQ(codes.set_text(added, longest.c_str(), detail), MPI_SUCCESS);
  EXPECT_EQ(codes.set_text(added, (longest + "x").c_str(), detail), MPI_ERR_ARG);
  EXPECT_EQ(codes.text_of(added), longest);
}

TEST_F(Codes, AreRemovedOnce) {
  const int added = codes.add_class();
  int code = 0;
  int error_class = 0;
  EXPECT_EQ(codes.add_code(added, &code, detail), MPI_SUCCESS);
  EXPECT_EQ(codes.set_text(code, "the tea is cold", detail), MPI_SUCCESS);
  // What has a text stays.
  EXPECT_EQ(codes.remove_code(code, detail), MPI_ERR_ARG);
  EXPECT_EQ(codes.remove_text(code, detail), MPI_SUCCESS);
  EXPECT_STREQ(codes.text_of(code), "");
  EXPECT_EQ(codes.remove_text(code, detail), MPI_ERR_ARG);
  // A class with codes stays.
  EXPECT_EQ(codes.remove_class(added, detail), MPI_ERR_ARG);
  EXPECT_EQ(codes.remove_class(code, detail), MPI_ERR_ARG);
  EXPECT_EQ(codes.remove_code(added, detail), MPI_ERR_ARG);
  EXPECT_EQ(codes.remove_code(code, detail), MPI_SUCCESS);
  EXPECT_EQ(codes.remove_code(code, detail), MPI_ERR_ARG);
  EXPECT_EQ(codes.class_of(code, &error_class, detail), MPI_ERR_ARG);
  EXPECT_EQ(codes.set_text(added, "tea", detail), MPI_SUCCESS);
  EXPECT_EQ(codes.remove_class(added, detail), MPI_ERR_ARG);
  EXPECT_EQ(codes.remove_text(added, detail), MPI_SUCCESS);
  EXPECT_EQ(codes.remove_class(added, detail), MPI_SUCCESS);
  EXPECT_EQ(codes.text_of(added), nullptr);
  EXPECT_EQ(codes.remove_class(MPI_ERR_RANK, detail), MPI_ERR_ARG);
  // Nothing is left of them: a program may add and remove for ever.
  EXPECT_EQ(codes.last_used(), MPI_ERR_LASTCODE);
  EXPECT_EQ(codes.add_class(), added);
}

}  // namespace
}  // namespace sorrel::mpi
