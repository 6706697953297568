#include "mpi/datatype/datatype.hpp"

#include <array>
#include <cstring>
#include <gtest/gtest.h>
#include <string>

#include "mpi/datatype/construct.hpp"
#include "mpi/datatype/recipe.hpp"
#include "unit/mpi/datatype/datatype_oracle.hpp"

namespace sorrel::mpi {
namespace {

Datatype& predefined(MPI_Datatype handle) {
  Datatype* type = datatype_from_handle(handle);
  SORREL_CHECK(type != nullptr);
  return *type;
}

MPI_Datatype handle_at(std::uintptr_t value) {
  return reinterpret_cast<MPI_Datatype>(value);
}

TEST(DatatypeHandle, OfPredefinedTypesLeadsThereAndBack) {
  int found = 0;
  for (std::uintptr_t value = 0x200; value < 0x300; ++value) {
    const Datatype* type = datatype_from_handle(handle_at(value));
    if (type == nullptr) continue;
    ++found;
    EXPECT_EQ(handle_of(*type), handle_at(value)) << type->name();
    EXPECT_TRUE(type->is_predefined() && type->is_committed());
    // From 0x240 on the ABI writes the size into the constant.
    const std::size_t written = std::size_t{1} << (value >> 3 & 7);
    EXPECT_TRUE(value < 0x240 || type->size() == written) << type->name();
  }
  EXPECT_EQ(found, 70);
}

TEST(DatatypeHandle, ThatIsNoneIsRecognised) {
  EXPECT_EQ(datatype_from_handle(MPI_DATATYPE_NULL), nullptr);
  for (const std::uintptr_t value :
       {0x0, 0x1, 0x21, 0x100, 0x204, 0x1ff, 0x2ff, 0x300, 0x3ff, 0xfff})
    EXPECT_EQ(datatype_from_handle(handle_at(value)), nullptr) << value;
  alignas(cache_line_bytes) std::array<unsigned char, sizeof(Datatype)> garbage{};
  const auto address = reinterpret_cast<std::uintptr_t>(garbage.data());
  EXPECT_EQ(datatype_from_handle(handle_at(address)), nullptr);
  EXPECT_EQ(datatype_from_handle(handle_at(address + 4)), nullptr);
}

TEST(DatatypeHandle, OfADerivedTypeLeadsThereAndBack) {
  Datatype* type = nullptr;
  ASSERT_EQ(make_contiguous(3, predefined(MPI_INT), type), MPI_SUCCESS);
  EXPECT_EQ(datatype_from_handle(handle_of(*type)), type);
  EXPECT_FALSE(type->is_committed());
  type->commit();
  EXPECT_TRUE(type->is_committed());
  type->release();
}

TEST(PredefinedDatatype, HasTheSizeAndExtentOfItsCType) {
  struct Expected {
    MPI_Datatype handle;
    std::size_t size;
    std::int64_t extent;
  };

  struct ShortInt {
    short value;
    int index;
  };

  struct LongInt {
    long value;
    int index;
  };

  struct DoubleInt {
    double value;
    int index;
  };

  struct LongDoubleInt {
    long double value;
    int index;
  };

  const Expected all[] = {
      {MPI_CHAR, 1, 1},
      {MPI_WCHAR, sizeof(wchar_t), sizeof(wchar_t)},
      {MPI_INT, 4, 4},
      {MPI_LONG, sizeof(long), sizeof(long)},
      {MPI_LONG_LONG_INT, 8, 8},
      {MPI_LONG_DOUBLE, sizeof(long double), sizeof(long double)},
      {MPI_C_LONG_DOUBLE_COMPLEX, 2 * sizeof(long double), 2 * sizeof(long double)},
      {MPI_C_BOOL, 1, 1},
      {MPI_AINT, 8, 8},
      {MPI_COUNT, 8, 8},
      {MPI_OFFSET, 8, 8},
      {MPI_2INT, 8, 8},
      {MPI_FLOAT_INT, 8, 8},
      {MPI_2REAL, 8, 8},
      {MPI_2DOUBLE_PRECISION, 16, 16},
      {MPI_SHORT_INT, 6, sizeof(ShortInt)},
      {MPI_LONG_INT, 12, sizeof(LongInt)},
      {MPI_DOUBLE_INT, 12, sizeof(DoubleInt)},
      {MPI_LONG_DOUBLE_INT, sizeof(long double) + 4, sizeof(LongDoubleInt)}};
  for (const Expected& expected : all) {
    const Datatype& type = predefined(expected.handle);
    EXPECT_EQ(type.size(), expected.size) << type.name();
    EXPECT_EQ(type.extent(), expected.extent) << type.name();
    EXPECT_EQ(type.is_dense(), static_cast<std::int64_t>(expected.size) == expected.extent)
        << type.name();
  }
}

TEST(PredefinedDatatype, CannotBeChanged) {
  Datatype& type = predefined(MPI_INT);
  type.release();
  type.release();
  EXPECT_STREQ(type.name(), "MPI_INT");
  EXPECT_EQ(datatype_from_handle(MPI_INT), &type);
}

TEST(Datatype, KeepsItsNameCutToMpisLimit) {
  Datatype* type = nullptr;
  ASSERT_EQ(make_dup(predefined(MPI_INT), type), MPI_SUCCESS);
  EXPECT_STREQ(type->name(), "");
  type->set_name(std::string(1000, 'x').c_str());
  EXPECT_EQ(std::strlen(type->name()), std::size_t{MPI_MAX_OBJECT_NAME - 1});
  type->set_name("row");
  EXPECT_STREQ(type->name(), "row");
  type->release();
}

/// MPI 5.0, example 5.1 ff.: {(double, 0), (char, 8)} has extent 16.
TEST(DatatypeBounds, OfAStructAreRoundedUpToItsAlignment) {
  const int lengths[] = {1, 1};
  const std::int64_t places[] = {0, 8};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_CHAR};
  Datatype* type = nullptr;
  ASSERT_EQ(make_struct(2, Integers(lengths), Integers(places), types, type), MPI_SUCCESS);
  EXPECT_EQ(type->extent(), 16);
  EXPECT_EQ(type->size(), 9U);
  EXPECT_EQ(type->true_extent(), 9);
  // MPI_TYPE_VECTOR(2, 3, 4, ...) of it, as in the standard: the last element ends at 112, but its
  // data at 105.
  Datatype* vector = nullptr;
  ASSERT_EQ(make_vector({2, 3, 4}, *type, vector), MPI_SUCCESS);
  EXPECT_EQ(vector->extent(), 112);
  EXPECT_EQ(vector->true_extent(), 105);
  type->release();
  vector->release();
}

/// A struct of one datatype, too; a type without data does not count.
TEST(DatatypeBounds, AreRoundedUpByStructsOnly) {
  Datatype* spread = nullptr;
  ASSERT_EQ(make_hvector({3, 4, 25}, predefined(MPI_INT), spread), MPI_SUCCESS);
  EXPECT_EQ(spread->extent(), 66);
  EXPECT_EQ(spread->true_extent(), 66);
  Datatype* twice = nullptr;
  ASSERT_EQ(make_hvector({2, 3, 4 * 66 + 1}, *spread, twice), MPI_SUCCESS);
  EXPECT_EQ(twice->extent(), 463);
  Datatype* listed = nullptr;
  const int lengths[] = {1, 2, 1};
  const std::int64_t places[] = {-3, 7, 90};
  ASSERT_EQ(make_hindexed(2, Integers(lengths), Integers(places), predefined(MPI_INT), listed),
            MPI_SUCCESS);
  EXPECT_EQ(listed->lb(), -3);
  EXPECT_EQ(listed->extent(), 18);
  Datatype* nothing = nullptr;
  ASSERT_EQ(make_contiguous(0, predefined(MPI_INT), nothing), MPI_SUCCESS);
  Datatype* padded = nullptr;
  const MPI_Datatype types[] = {MPI_INT, MPI_INT, handle_of(*nothing)};
  ASSERT_EQ(make_struct(3, Integers(lengths), Integers(places), types, padded), MPI_SUCCESS);
  EXPECT_EQ(padded->lb(), -3);
  EXPECT_EQ(padded->extent(), 20);
  for (Datatype* type : {spread, twice, listed, nothing, padded})
    type->release();
}

/// MPI 5.0, 5.1.7: {(lb_marker, -3), (int, 0), (ub_marker, 6)} twice in a row ends at 15.
TEST(DatatypeBounds, SetByHandStayInContainingTypes) {
  Datatype* resized = nullptr;
  Datatype* twice = nullptr;
  ASSERT_EQ(make_resized(-3, 9, predefined(MPI_INT), resized), MPI_SUCCESS);
  EXPECT_EQ(resized->lb(), -3);
  EXPECT_EQ(resized->extent(), 9);
  ASSERT_EQ(make_contiguous(2, *resized, twice), MPI_SUCCESS);
  EXPECT_EQ(twice->lb(), -3);
  EXPECT_EQ(twice->extent(), 18);
  EXPECT_EQ(twice->true_lb(), 0);
  EXPECT_EQ(twice->true_extent(), 13);
  resized->release();
  twice->release();
}

TEST(DatatypeLayout, OfAMillionBlocksIsTwoNodes) {
  Datatype* type = nullptr;
  ASSERT_EQ(make_vector({1000000, 1, 2}, predefined(MPI_DOUBLE), type), MPI_SUCCESS);
  ASSERT_EQ(type->layout()->kind, Layout::Kind::loop);
  EXPECT_EQ(type->layout()->depth, 2U);
  type->release();

  std::vector<int> places;
  for (int i = 0; i < 1000; ++i)
    places.push_back(3 * i);
  ASSERT_EQ(make_indexed_block(1000, 2, Integers(places.data()), predefined(MPI_INT), type),
            MPI_SUCCESS);
  EXPECT_EQ(type->layout()->kind, Layout::Kind::loop);
  type->release();
}

TEST(DatatypeLayout, OfWhatIsContiguousIsOneBlock) {
  Datatype* row = nullptr;
  Datatype* plane = nullptr;
  ASSERT_EQ(make_vector({5, 4, 4}, predefined(MPI_INT), row), MPI_SUCCESS);
  EXPECT_TRUE(row->is_dense());
  const int sizes[] = {3, 4}, subsizes[] = {3, 4}, starts[] = {0, 0};
  const SubarrayShape all{2, Integers(sizes), Integers(subsizes), Integers(starts), ArrayOrder::c};
  ASSERT_EQ(make_subarray(all, *row, plane), MPI_SUCCESS);
  EXPECT_TRUE(plane->is_dense());
  EXPECT_EQ(plane->size(), 3U * 4 * 20 * 4);
  row->release();
  plane->release();
}

TEST(DatatypeLayout, NestedBeyondTheLimitIsRefused) {
  Datatype* type = &predefined(MPI_CHAR);
  int error = MPI_SUCCESS;
  std::uint32_t levels = 0;
  while (error == MPI_SUCCESS && levels < 2 * layout_depth_max) {
    const int lengths[] = {1, 1};
    const std::int64_t places[] = {0, (std::int64_t{3} << 20) + levels};
    const MPI_Datatype types[] = {handle_of(*type), MPI_CHAR};
    Datatype* next = nullptr;
    error = make_struct(2, Integers(lengths), Integers(places), types, next);
    if (error != MPI_SUCCESS) break;
    Datatype* pair = nullptr;
    error = make_hvector({2, 1, (std::int64_t{1} << 30) + levels}, *next, pair);
    next->release();
    if (error != MPI_SUCCESS) break;
    type->release();
    type = pair;
    if (++levels == 20) break;  // The sizes double each time.
  }
  EXPECT_EQ(levels, 20U);
  for (std::uint32_t i = 0; error == MPI_SUCCESS && i < layout_depth_max; ++i) {
    Datatype* next = nullptr;
    const int lengths[] = {1, 1};
    const std::int64_t places[] = {0, -1 - std::int64_t{i} * 5};
    const MPI_Datatype types[] = {handle_of(*type), MPI_CHAR};
    error = make_struct(2, Integers(lengths), Integers(places), types, next);
    if (error != MPI_SUCCESS) break;
    type->release();
    type = next;
  }
  EXPECT_EQ(error, MPI_ERR_TYPE);
  type->release();
}

/// Each type holds the previous one by its recipe; a thread's stack is too small for so many calls.
TEST(DatatypeRecipe, NestsAsDeepAsMemoryAllows) {
  Datatype* type = &predefined(MPI_INT);
  for (int i = 0; i < 1'000'000; ++i) {
    Datatype* next = nullptr;
    ASSERT_EQ(make_contiguous(1, *type, next), MPI_SUCCESS);
    auto recipe = std::make_unique<Recipe>(MPI_COMBINER_CONTIGUOUS, false);
    recipe->count(1).type(*type);
    next->set_recipe(std::move(recipe));
    type->release();
    type = next;
  }
  EXPECT_EQ(type->size(), sizeof(int));
  type->release();
}

TEST(DatatypeConstructors, NameTheWrongArgument) {
  Datatype* type = nullptr;
  const Datatype& old = predefined(MPI_INT);
  const int lengths[] = {1, -1};
  const int places[] = {0, 8};
  const std::int64_t wide_places[] = {0, 8};
  const MPI_Datatype types[] = {MPI_INT, MPI_DATATYPE_NULL};
  const int ones[] = {1, 1};
  EXPECT_EQ(make_contiguous(-1, old, type), MPI_ERR_COUNT);
  EXPECT_EQ(make_vector({-1, 1, 1}, old, type), MPI_ERR_COUNT);
  EXPECT_EQ(make_vector({1, -1, 1}, old, type), MPI_ERR_ARG);
  EXPECT_EQ(make_indexed(-1, Integers(lengths), Integers(places), old, type), MPI_ERR_COUNT);
  EXPECT_EQ(make_indexed(2, Integers(lengths), Integers(places), old, type), MPI_ERR_ARG);
  EXPECT_EQ(make_indexed_block(2, -1, Integers(places), old, type), MPI_ERR_ARG);
  EXPECT_EQ(make_hindexed_block(0, -1, Integers(wide_places), old, type), MPI_ERR_ARG);
  EXPECT_EQ(make_struct(2, Integers(lengths), Integers(wide_places), types, type), MPI_ERR_TYPE);
  EXPECT_EQ(make_struct(2, Integers(ones), Integers(wide_places), types, type), MPI_ERR_TYPE);
  EXPECT_EQ(make_struct(-2, Integers(ones), Integers(wide_places), types, type), MPI_ERR_COUNT);
  const int sizes[] = {4, 4}, subsizes[] = {2, 3}, starts[] = {0, 2}, none[] = {0, 1};
  EXPECT_EQ(make_subarray({2, Integers(sizes), Integers(subsizes), Integers(starts), ArrayOrder::c},
                          old, type),
            MPI_ERR_ARG);
  EXPECT_EQ(
      make_subarray({2, Integers(sizes), Integers(none), Integers(none), ArrayOrder::c}, old, type),
      MPI_ERR_ARG);
  EXPECT_EQ(make_subarray({0, Integers(sizes), Integers(subsizes), Integers(starts), ArrayOrder::c},
                          old, type),
            MPI_ERR_ARG);
  EXPECT_EQ(type, nullptr);
}

TEST(DatatypeConstructors, RefuseWhatNoAddressCanHold) {
  Datatype* type = nullptr;
  const Datatype& old = predefined(MPI_DOUBLE);
  const std::int64_t huge = INT64_MAX;
  EXPECT_EQ(make_contiguous(huge, old, type), MPI_ERR_COUNT);
  EXPECT_EQ(make_vector({huge, huge, huge}, old, type), MPI_ERR_COUNT);
  EXPECT_EQ(make_hvector({2, 1, huge}, old, type), MPI_ERR_COUNT);
  const std::int64_t one[] = {1}, far[] = {huge};
  EXPECT_EQ(make_indexed(1, Integers(one), Integers(far), old, type), MPI_ERR_ARG);
  EXPECT_EQ(make_hindexed(1, Integers(one), Integers(far), old, type), MPI_ERR_ARG);
  EXPECT_EQ(make_resized(INT64_MIN, 8, old, type), MPI_ERR_ARG);
  const int many[] = {INT32_MAX, INT32_MAX, INT32_MAX}, zeros[] = {0, 0, 0};
  EXPECT_EQ(
      make_subarray({3, Integers(many), Integers(many), Integers(zeros), ArrayOrder::c}, old, type),
      MPI_ERR_ARG);
  // Large, but possible.
  ASSERT_EQ(make_contiguous(std::int64_t{1} << 40, old, type), MPI_SUCCESS);
  EXPECT_EQ(type->size(), std::size_t{1} << 43);
  type->release();
}

TEST(DatatypeElements, OfAStructAreCountedOneByOne) {
  const int lengths[] = {2, 3};
  const std::int64_t places[] = {0, 16};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT};
  Datatype* type = nullptr;
  ASSERT_EQ(make_struct(2, Integers(lengths), Integers(places), types, type), MPI_SUCCESS);
  EXPECT_EQ(type->element_count(), 5U);
  EXPECT_EQ(type->elements_in(0), 0);
  EXPECT_EQ(type->elements_in(8), 1);
  EXPECT_EQ(type->elements_in(12), MPI_UNDEFINED);
  EXPECT_EQ(type->elements_in(20), 3);
  EXPECT_EQ(type->elements_in(28), 5);
  EXPECT_EQ(type->elements_in(28 + 16 + 4), 8);
  EXPECT_EQ(type->count_in(28), 1);
  EXPECT_EQ(type->count_in(20), MPI_UNDEFINED);
  type->release();
}

TEST(DatatypeElements, OfNothingAreNone) {
  Datatype* type = nullptr;
  ASSERT_EQ(make_contiguous(0, predefined(MPI_INT), type), MPI_SUCCESS);
  EXPECT_EQ(type->count_in(0), 0);
  EXPECT_EQ(type->elements_in(0), 0);
  EXPECT_EQ(type->count_in(4), MPI_UNDEFINED);
  EXPECT_EQ(type->bytes_of_elements(7), 0U);
  EXPECT_TRUE(type->is_dense());
  type->release();
}

TEST(DatatypeElements, OfRandomTypesAreThoseOfTheTypemap) {
  const std::uint64_t seed = test::test_seed();
  SCOPED_TRACE("SORREL_SEED=" + std::to_string(seed));
  test::RandomTypes random(seed);
  for (int round = 0; round < 500; ++round) {
    const test::TwinType twin = random.make(3);
    const std::size_t count = twin.naive.map.size();
    ASSERT_EQ(twin.type->element_count(), count);
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < 2 * count; ++i) {
      ASSERT_EQ(twin.type->elements_in(bytes), static_cast<std::int64_t>(i));
      ASSERT_EQ(twin.type->bytes_of_elements(i), bytes);
      const std::size_t size = twin.naive.map[i % count].size;
      if (size > 1 && twin.type->element_size() == 0) {
        ASSERT_EQ(twin.type->elements_in(bytes + 1), MPI_UNDEFINED);
      }
      bytes += size;
    }
    twin.type->release();
  }
}

TEST(DatatypeBounds, OfRandomTypesAreThoseOfTheTypemap) {
  const std::uint64_t seed = test::test_seed();
  SCOPED_TRACE("SORREL_SEED=" + std::to_string(seed));
  test::RandomTypes random(seed);
  for (int round = 0; round < 2000; ++round) {
    const test::TwinType twin = random.make(static_cast<int>(random.between(0, 4)));
    ASSERT_EQ(twin.type->size(), twin.naive.size()) << round;
    ASSERT_EQ(twin.type->lb(), twin.naive.lb()) << round;
    ASSERT_EQ(twin.type->extent(), twin.naive.extent()) << round;
    ASSERT_EQ(twin.type->true_lb(), twin.naive.true_lb()) << round;
    ASSERT_EQ(twin.type->true_extent(), twin.naive.true_ub() - twin.naive.true_lb()) << round;
    twin.type->release();
  }
}

}  // namespace
}  // namespace sorrel::mpi
