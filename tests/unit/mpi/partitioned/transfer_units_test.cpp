#include "mpi/partitioned/transfer_units.hpp"

#include <cstdint>
#include <gtest/gtest.h>

namespace sorrel::mpi {
namespace {

TEST(TransferUnits, SmallPartitionsShareAUnitAndLargeOnesHaveOneEach) {
  const TransferUnits small = TransferUnits::of(16384, 8, 8);
  EXPECT_EQ(small.bytes, TransferUnits::coalesced_bytes_min);
  EXPECT_EQ(small.count, 4U);
  const TransferUnits large = TransferUnits::of(std::size_t{10} << 20, std::size_t{1} << 20, 8);
  EXPECT_EQ(large.bytes, std::size_t{1} << 20);
  EXPECT_EQ(large.count, 10U);
}

TEST(TransferUnits, ContainWholePartitionsAndWholeElements) {
  for (const std::size_t partition : {4U, 12U, 60U, 4096U, 5000U}) {
    for (const std::size_t element : {1U, 4U, 8U, 28U, 7000U}) {
      for (const std::size_t partitions : {1U, 2U, 100U, 50000U}) {
        const std::size_t total = partition * partitions;
        const TransferUnits units = TransferUnits::of(total, partition, element);
        ASSERT_GE(units.count, 1U);
        ASSERT_LE(units.count, TransferUnits::count_max);
        ASSERT_GE(units.bytes * units.count, total);
        ASSERT_LT(units.bytes * (units.count - 1), total);
        if (units.count == 1) continue;
        EXPECT_EQ(units.bytes % partition, 0U);
        EXPECT_EQ(units.bytes % element, 0U);
        EXPECT_EQ(units.unit_of(0), 0U);
        EXPECT_EQ(units.unit_of(units.bytes - 1), 0U);
        EXPECT_EQ(units.unit_of(units.bytes), 1U);
        EXPECT_EQ(units.unit_of(total - 1), units.count - 1);
        EXPECT_EQ(units.unit_of(total + units.bytes), units.count - 1);
      }
    }
  }
}

TEST(TransferUnits, AreOneIfNothingIsSentOrNoDivisionFits) {
  EXPECT_EQ(TransferUnits::of(0, 0, 4).count, 1U);
  EXPECT_EQ(TransferUnits::of(0, 0, 0).count, 1U);
  // The least common multiple of both sizes exceeds the data, or every number.
  EXPECT_EQ(TransferUnits::of(10007, 10007, 9999).count, 1U);
  EXPECT_EQ(TransferUnits::of(SIZE_MAX / 2, SIZE_MAX / 2, SIZE_MAX / 4).count, 1U);
}

}  // namespace
}  // namespace sorrel::mpi
