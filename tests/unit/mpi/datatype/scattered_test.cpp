#include "mpi/datatype/scattered.hpp"

#include <gtest/gtest.h>

#include "mpi/datatype/construct.hpp"

namespace sorrel::mpi {
namespace {

bool vector_is_scattered(int count, int block_length, int stride) {
  Datatype* type = nullptr;
  EXPECT_EQ(make_vector({count, block_length, stride}, *datatype_from_handle(MPI_DOUBLE), type),
            MPI_SUCCESS);
  const bool result = is_scattered(*type);
  type->release();
  return result;
}

TEST(Scattered, AreShortRunsFarApart) {
  EXPECT_TRUE(vector_is_scattered(4096, 1, 64));
  EXPECT_TRUE(vector_is_scattered(4096, 4, 20));
}

TEST(Scattered, IsNothingWhoseLinesAreMostlyData) {
  EXPECT_FALSE(is_scattered(*datatype_from_handle(MPI_DOUBLE)));
  EXPECT_FALSE(vector_is_scattered(4096, 1, 2)) << "four elements in a line";
  EXPECT_FALSE(vector_is_scattered(64, 64, 4096)) << "runs of eight lines";
  EXPECT_FALSE(vector_is_scattered(0, 1, 64)) << "no data";
}

TEST(Scattered, LooksAtTheInnermostLevel) {
  Datatype *rows = nullptr, *planes = nullptr;
  ASSERT_EQ(make_vector({64, 1, 64}, *datatype_from_handle(MPI_DOUBLE), rows), MPI_SUCCESS);
  ASSERT_EQ(make_hvector({10, 1, 1 << 20}, *rows, planes), MPI_SUCCESS);
  EXPECT_TRUE(is_scattered(*planes));
  planes->release();
  rows->release();
}

}  // namespace
}  // namespace sorrel::mpi
