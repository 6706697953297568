#include "mpi/datatype/rows.hpp"

#include <gtest/gtest.h>
#include <numeric>
#include <vector>

#include "mpi/datatype/construct.hpp"

namespace sorrel::mpi {
namespace {

/// Three blocks of two integers, five apart, twelve times.
class SeveralBlocks : public testing::Test {
 protected:
  static constexpr std::size_t count = 12;

  SeveralBlocks() {
    EXPECT_EQ(make_vector({3, 2, 5}, *datatype_from_handle(MPI_INT), type_), MPI_SUCCESS);
    data_.resize(count * static_cast<std::size_t>(type_->extent()) + 64);
    std::iota(data_.begin(), data_.end(), static_cast<unsigned char>(0));
    packed_.resize(count * type_->size());
    pack(data_.data(), count, *type_, packed_.data());
  }

  ~SeveralBlocks() override { type_->release(); }

  /// What the rows of a part hold, in their order.
  [[nodiscard]] std::vector<unsigned char> bytes_in(PackedRange range) const {
    std::vector<unsigned char> found;
    for_each_rows_in(*type_, count, range, [&](const TypedRows& rows) {
      EXPECT_EQ(rows.packed, range.from + found.size());
      for (std::size_t row = 0; row < rows.count; ++row) {
        const std::int64_t at = rows.displacement + static_cast<std::int64_t>(row) * rows.stride;
        found.insert(found.end(), data_.begin() + at,
                     data_.begin() + at + static_cast<std::int64_t>(rows.bytes));
      }
    });
    return found;
  }

  Datatype* type_ = nullptr;
  std::vector<unsigned char> data_;
  std::vector<unsigned char> packed_;
};

TEST_F(SeveralBlocks, RowsOfEveryPartAreItsPackedBytes) {
  for (std::size_t from = 0; from <= packed_.size(); ++from) {
    for (std::size_t to = from; to <= packed_.size(); ++to) {
      const std::vector<unsigned char> expected(packed_.begin() + static_cast<std::ptrdiff_t>(from),
                                                packed_.begin() + static_cast<std::ptrdiff_t>(to));
      ASSERT_EQ(bytes_in({.from = from, .to = to}), expected) << from << " to " << to;
    }
  }
}

TEST_F(SeveralBlocks, WholeRowsStayTogether) {
  int visits = 0;
  for_each_rows_in(*type_, 1, {.from = 4, .to = 24}, [&](const TypedRows&) { ++visits; });
  EXPECT_EQ(visits, 2) << "the second half of the first block, and two blocks";
}

}  // namespace
}  // namespace sorrel::mpi
