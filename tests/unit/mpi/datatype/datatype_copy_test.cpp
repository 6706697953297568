#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "mpi/datatype/copy.hpp"
#include "mpi/datatype/transfer_form.hpp"
#include "unit/mpi/datatype/datatype_oracle.hpp"

namespace sorrel::mpi {
namespace {

using test::NaiveType;
using test::RandomTypes;
using test::TwinType;

/// Memory around a typed buffer, so that every displacement is inside.
class TypedBuffer {
 public:
  TypedBuffer(const NaiveType& type, std::size_t count) {
    std::int64_t low = 0;
    std::int64_t high = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t place = static_cast<std::int64_t>(i) * type.extent();
      low = std::min(low, place + type.true_lb());
      high = std::max(high, place + type.true_ub());
    }
    start_ = static_cast<std::size_t>(-low);
    bytes_.resize(start_ + static_cast<std::size_t>(high) + 1);
  }

  void fill(Prng& prng) {
    for (unsigned char& byte : bytes_)
      byte = static_cast<unsigned char>(prng.next());
  }

  unsigned char* base() { return bytes_.data() + start_; }

  [[nodiscard]] const std::vector<unsigned char>& bytes() const { return bytes_; }

 private:
  std::vector<unsigned char> bytes_;
  std::size_t start_ = 0;
};

/// The addresses of a typed buffer's data bytes in the order of the packed stream.
std::vector<unsigned char*> addresses_of(unsigned char* base,
                                         std::size_t count,
                                         const NaiveType& type) {
  std::vector<unsigned char*> result;
  const std::int64_t extent = type.extent();
  for (std::size_t i = 0; i < count; ++i)
    for (const test::Basic& basic : type.map)
      for (std::size_t byte = 0; byte < basic.size; ++byte)
        result.push_back(base + static_cast<std::int64_t>(i) * extent + basic.displacement + byte);
  return result;
}

class RandomCopy : public testing::Test {
 protected:
  std::uint64_t seed_ = test::test_seed();
  RandomTypes random_{seed_};
  testing::ScopedTrace trace_{__FILE__, __LINE__, "SORREL_SEED=" + std::to_string(seed_)};

  std::size_t small_count() { return static_cast<std::size_t>(random_.between(0, 4)); }
};

TEST_F(RandomCopy, PackWritesTheTypemapsBytesInOrder) {
  for (int round = 0; round < 1500; ++round) {
    const TwinType twin = random_.make(static_cast<int>(random_.between(0, 4)));
    const std::size_t count = small_count();
    TypedBuffer buffer(twin.naive, count);
    buffer.fill(random_.prng());
    const auto addresses = addresses_of(buffer.base(), count, twin.naive);
    std::vector<unsigned char> packed(addresses.size() + 1, 0xee);
    ASSERT_EQ(pack(buffer.base(), count, *twin.type, packed.data()), addresses.size());
    for (std::size_t i = 0; i < addresses.size(); ++i)
      ASSERT_EQ(packed[i], *addresses[i]) << round;
    ASSERT_EQ(packed.back(), 0xee);
    twin.type->release();
  }
}

TEST_F(RandomCopy, TheTransferFormOfATypePacksTheSameBytes) {
  for (int round = 0; round < 1500; ++round) {
    const TwinType twin = random_.make(static_cast<int>(random_.between(0, 4)));
    const std::size_t count = small_count();
    TypedBuffer buffer(twin.naive, count);
    buffer.fill(random_.prng());
    std::vector<std::byte> form;
    append_transfer_form(*twin.type, form);
    Datatype* there = from_transfer_form(form);
    ASSERT_EQ(there->size(), twin.type->size()) << round;
    ASSERT_EQ(there->extent(), twin.type->extent()) << round;
    ASSERT_EQ(there->true_lb(), twin.type->true_lb()) << round;
    ASSERT_EQ(there->true_extent(), twin.type->true_extent()) << round;
    ASSERT_EQ(there->element(), twin.type->element()) << round;
    ASSERT_EQ(there->is_dense(), twin.type->is_dense()) << round;
    ASSERT_TRUE(there->is_committed());
    std::vector<unsigned char> here(count * twin.type->size() + 1, 0xee);
    std::vector<unsigned char> packed(here);
    pack(buffer.base(), count, *twin.type, here.data());
    pack(buffer.base(), count, *there, packed.data());
    ASSERT_EQ(packed, here) << round;
    there->release();
    twin.type->release();
  }
}

TEST_F(RandomCopy, PackOfARangeIsThatPartOfTheStream) {
  for (int round = 0; round < 1500; ++round) {
    const TwinType twin = random_.make(static_cast<int>(random_.between(1, 4)));
    const std::size_t count = small_count();
    TypedBuffer buffer(twin.naive, count);
    buffer.fill(random_.prng());
    const auto addresses = addresses_of(buffer.base(), count, twin.naive);
    const std::size_t to = random_.prng().below(addresses.size() + 1);
    const std::size_t from = random_.prng().below(to + 1);
    std::vector<unsigned char> packed(to - from + 1, 0xee);
    pack_range(buffer.base(), *twin.type, {from, to}, packed.data());
    for (std::size_t i = from; i < to; ++i)
      ASSERT_EQ(packed[i - from], *addresses[i]) << round;
    ASSERT_EQ(packed.back(), 0xee);
    twin.type->release();
  }
}

TEST_F(RandomCopy, UnpackStopsWhereTheBytesEnd) {
  for (int round = 0; round < 1500; ++round) {
    const TwinType twin = random_.make(static_cast<int>(random_.between(0, 4)));
    const std::size_t count = small_count();
    TypedBuffer buffer(twin.naive, count);
    TypedBuffer expected(twin.naive, count);
    const auto addresses = addresses_of(expected.base(), count, twin.naive);
    std::vector<unsigned char> packed(addresses.size() + 9);
    for (unsigned char& byte : packed)
      byte = static_cast<unsigned char>(random_.prng().next() | 1);
    const std::size_t bytes = random_.prng().below(packed.size() + 1);
    const std::size_t used = std::min(bytes, addresses.size());
    for (std::size_t i = 0; i < used; ++i)
      *addresses[i] = packed[i];
    ASSERT_EQ(unpack(packed.data(), bytes, buffer.base(), count, *twin.type), used);
    ASSERT_EQ(buffer.bytes(), expected.bytes()) << round;
    twin.type->release();
  }
}

TEST_F(RandomCopy, BetweenAnyTwoTypesMovesWhatBothHold) {
  for (int round = 0; round < 2000; ++round) {
    const TwinType source = random_.make(static_cast<int>(random_.between(0, 4)));
    const TwinType target = random_.make(static_cast<int>(random_.between(0, 4)));
    const std::size_t source_count = small_count();
    // Often large enough for several chunks.
    const std::size_t target_count = small_count() * (round % 4 == 0 ? 100 : 1);
    TypedBuffer from(source.naive, source_count);
    TypedBuffer to(target.naive, target_count);
    TypedBuffer expected(target.naive, target_count);
    from.fill(random_.prng());
    const auto source_bytes = addresses_of(from.base(), source_count, source.naive);
    const auto target_bytes = addresses_of(expected.base(), target_count, target.naive);
    const std::size_t bytes = std::min(source_bytes.size(), target_bytes.size());
    for (std::size_t i = 0; i < bytes; ++i)
      *target_bytes[i] = *source_bytes[i];
    ASSERT_EQ(copy(from.base(), source_count, *source.type, to.base(), target_count, *target.type),
              bytes);
    ASSERT_EQ(to.bytes(), expected.bytes()) << round;
    source.type->release();
    target.type->release();
  }
}

TEST(Copy, BetweenSparseTypesOfManyChunksIsComplete) {
  Datatype* columns = nullptr;
  Datatype* triples = nullptr;
  constexpr std::size_t doubles = 30000;
  ASSERT_EQ(make_vector({doubles, 1, 2}, *datatype_from_handle(MPI_DOUBLE), columns), MPI_SUCCESS);
  ASSERT_EQ(make_vector({doubles / 3, 3, 4}, *datatype_from_handle(MPI_DOUBLE), triples),
            MPI_SUCCESS);
  std::vector<double> from(2 * doubles);
  std::vector<double> to(2 * doubles, -1);
  for (std::size_t i = 0; i < from.size(); ++i)
    from[i] = static_cast<double>(i);
  EXPECT_EQ(copy(from.data(), 1, *columns, to.data(), 1, *triples), doubles * sizeof(double));
  for (std::size_t i = 0; i < doubles; ++i)
    ASSERT_EQ(to[i / 3 * 4 + i % 3], from[2 * i]) << i;
  columns->release();
  triples->release();
}

/// An array of structures of bytes: fields of 1 to 40 bytes, each behind a gap of 1 to 3.
class Fields {
 public:
  Fields(Prng& prng, std::int64_t field_count) {
    std::vector<int> lengths;
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < field_count; ++i) {
      extent_ += 1 + static_cast<std::int64_t>(prng.next() % 3);
      lengths.push_back(1 + static_cast<int>(prng.next() % 40));
      places.push_back(extent_);
      for (int byte = 0; byte < lengths.back(); ++byte)
        data_.push_back(extent_++);
    }
    const std::vector<MPI_Datatype> types(lengths.size(), MPI_BYTE);
    Datatype* fields = nullptr;
    EXPECT_EQ(make_struct(field_count, Integers(lengths.data()), Integers(places.data()),
                          types.data(), fields),
              MPI_SUCCESS);
    EXPECT_EQ(make_resized(0, extent_, *fields, type_), MPI_SUCCESS);
    fields->release();
  }

  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;

  ~Fields() { type_->release(); }

  [[nodiscard]] const Datatype& type() const { return *type_; }

  [[nodiscard]] std::size_t bytes_of(std::size_t count) const {
    return count * static_cast<std::size_t>(extent_);
  }

  /// The place in the array of a byte of the packed stream.
  [[nodiscard]] std::size_t place_of(std::size_t packed) const {
    return static_cast<std::size_t>(extent_ * static_cast<std::int64_t>(packed / data_.size()) +
                                    data_[packed % data_.size()]);
  }

 private:
  std::int64_t extent_ = 0;
  std::vector<std::int64_t> data_;
  Datatype* type_ = nullptr;
};

TEST(Copy, ArraysOfStructuresAreCopiedWholeAndInParts) {
  Prng prng(test::test_seed());
  for (int round = 0; round < 300; ++round) {
    const Fields fields(prng, 1 + static_cast<std::int64_t>(prng.next() % 10));
    const std::size_t count = 1 + prng.next() % 200;
    std::vector<unsigned char> array(fields.bytes_of(count));
    for (unsigned char& byte : array)
      byte = static_cast<unsigned char>(prng.next());
    const std::size_t bytes = count * fields.type().size();
    const std::size_t from = prng.next() % bytes;
    const std::size_t to = from + 1 + prng.next() % (bytes - from);
    std::vector<unsigned char> packed(to - from);
    pack_range(array.data(), fields.type(), {from, to}, packed.data());
    std::vector<unsigned char> expected(array.size(), 0xee);
    for (std::size_t i = from; i < to; ++i) {
      ASSERT_EQ(packed[i - from], array[fields.place_of(i)]) << round << ", byte " << i;
      expected[fields.place_of(i)] = packed[i - from];
    }
    std::vector<unsigned char> unpacked(array.size(), 0xee);
    unpack_range(packed.data(), {from, to}, unpacked.data(), fields.type());
    ASSERT_EQ(unpacked, expected) << round;
  }
}

TEST(Copy, TakesAbsoluteAddressesFromBottom) {
  int value = 17;
  int result = 0;
  const int lengths[] = {1};
  const std::int64_t places[] = {
      static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(&value))};
  const MPI_Datatype types[] = {MPI_INT};
  Datatype* type = nullptr;
  ASSERT_EQ(make_struct(1, Integers(lengths), Integers(places), types, type), MPI_SUCCESS);
  // Volatile, or the compiler sees a null pointer and a small variable on paths that are not taken.
  const void* volatile bottom = MPI_BOTTOM;
  void* volatile target = &result;
  EXPECT_EQ(copy(bottom, 1, *type, target, 1, *datatype_from_handle(MPI_INT)), sizeof(int));
  EXPECT_EQ(result, 17);
  type->release();
}

}  // namespace
}  // namespace sorrel::mpi
