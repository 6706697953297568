#include "mpi/op/op.hpp"

#include <array>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "mpi/datatype/construct.hpp"
#include "unit/mpi/datatype/datatype_oracle.hpp"

namespace sorrel::mpi {
namespace {

const Op& op_of(MPI_Op handle) {
  const Op* op = op_from_handle(handle);
  SORREL_CHECK(op != nullptr);
  return *op;
}

const Datatype& type_of(MPI_Datatype handle) {
  const Datatype* type = datatype_from_handle(handle);
  SORREL_CHECK(type != nullptr);
  return *type;
}

/// The standard's table of allowed operations: a for MAX, MIN; s for SUM, PROD; l for LAND ...; b
/// for BAND ...; p for MINLOC, MAXLOC.
struct Allowed {
  MPI_Datatype type;
  const char* groups;
};

constexpr const char* c_integers = "aslb";
constexpr const char* fortran_integers = "asb";

const std::vector<Allowed>& standard_table() {
  static const std::vector<Allowed> table = {
      {MPI_CHAR, c_integers},
      {MPI_SIGNED_CHAR, c_integers},
      {MPI_UNSIGNED_CHAR, c_integers},
      {MPI_SHORT, c_integers},
      {MPI_UNSIGNED_SHORT, c_integers},
      {MPI_INT, c_integers},
      {MPI_UNSIGNED, c_integers},
      {MPI_LONG, c_integers},
      {MPI_UNSIGNED_LONG, c_integers},
      {MPI_LONG_LONG, c_integers},
      {MPI_UNSIGNED_LONG_LONG, c_integers},
      {MPI_INT8_T, c_integers},
      {MPI_UINT8_T, c_integers},
      {MPI_INT16_T, c_integers},
      {MPI_UINT16_T, c_integers},
      {MPI_INT32_T, c_integers},
      {MPI_UINT32_T, c_integers},
      {MPI_INT64_T, c_integers},
      {MPI_UINT64_T, c_integers},
      {MPI_INTEGER, fortran_integers},
      {MPI_INTEGER1, fortran_integers},
      {MPI_INTEGER2, fortran_integers},
      {MPI_INTEGER4, fortran_integers},
      {MPI_INTEGER8, fortran_integers},
      {MPI_INTEGER16, fortran_integers},
      {MPI_AINT, fortran_integers},
      {MPI_COUNT, fortran_integers},
      {MPI_OFFSET, fortran_integers},
      {MPI_FLOAT, "as"},
      {MPI_DOUBLE, "as"},
      {MPI_LONG_DOUBLE, "as"},
      {MPI_REAL, "as"},
      {MPI_DOUBLE_PRECISION, "as"},
      {MPI_REAL4, "as"},
      {MPI_REAL8, "as"},
      {MPI_REAL16, "as"},
      {MPI_C_FLOAT_COMPLEX, "s"},
      {MPI_C_DOUBLE_COMPLEX, "s"},
      {MPI_C_LONG_DOUBLE_COMPLEX, "s"},
      {MPI_CXX_FLOAT_COMPLEX, "s"},
      {MPI_CXX_DOUBLE_COMPLEX, "s"},
      {MPI_CXX_LONG_DOUBLE_COMPLEX, "s"},
      {MPI_COMPLEX, "s"},
      {MPI_DOUBLE_COMPLEX, "s"},
      {MPI_COMPLEX8, "s"},
      {MPI_COMPLEX16, "s"},
      {MPI_COMPLEX32, "s"},
      {MPI_LOGICAL, "l"},
      {MPI_LOGICAL1, "l"},
      {MPI_LOGICAL2, "l"},
      {MPI_LOGICAL4, "l"},
      {MPI_LOGICAL8, "l"},
      {MPI_LOGICAL16, "l"},
      {MPI_C_BOOL, "l"},
      {MPI_CXX_BOOL, "l"},
      {MPI_BYTE, "b"},
      {MPI_PACKED, ""},
      {MPI_CHARACTER, ""},
      {MPI_WCHAR, ""},
      {MPI_FLOAT_INT, "p"},
      {MPI_DOUBLE_INT, "p"},
      {MPI_LONG_INT, "p"},
      {MPI_2INT, "p"},
      {MPI_SHORT_INT, "p"},
      {MPI_LONG_DOUBLE_INT, "p"},
      {MPI_2REAL, "p"},
      {MPI_2DOUBLE_PRECISION, "p"},
      {MPI_2INTEGER, "p"},
#ifdef __FLT16_MANT_DIG__
      {MPI_REAL2, "as"},
      {MPI_COMPLEX4, "s"},
#endif
  };
  return table;
}

struct NamedOp {
  MPI_Op op;
  char group;
};

const std::array<NamedOp, 12>& computing_ops() {
  static const std::array<NamedOp, 12> ops = {{{MPI_MAX, 'a'},
                                               {MPI_MIN, 'a'},
                                               {MPI_SUM, 's'},
                                               {MPI_PROD, 's'},
                                               {MPI_LAND, 'l'},
                                               {MPI_LOR, 'l'},
                                               {MPI_LXOR, 'l'},
                                               {MPI_BAND, 'b'},
                                               {MPI_BOR, 'b'},
                                               {MPI_BXOR, 'b'},
                                               {MPI_MINLOC, 'p'},
                                               {MPI_MAXLOC, 'p'}}};
  return ops;
}

TEST(PredefinedOp, IsAllowedWhereTheStandardsTableSaysSo) {
  for (const Allowed& row : standard_table())
    for (const NamedOp& named : computing_ops()) {
      const bool allowed = std::strchr(row.groups, named.group) != nullptr;
      EXPECT_EQ(predefined_kernel(op_of(named.op), type_of(row.type)) != nullptr, allowed)
          << type_of(row.type).name() << " op " << static_cast<int>(op_of(named.op).kind());
    }
}

TEST(PredefinedOp, TakesADupButNoOtherDerivedType) {
  Datatype* dup = nullptr;
  Datatype* one = nullptr;
  ASSERT_EQ(make_dup(type_of(MPI_INT), dup), MPI_SUCCESS);
  ASSERT_EQ(make_contiguous(1, type_of(MPI_INT), one), MPI_SUCCESS);
  EXPECT_TRUE(is_allowed(op_of(MPI_SUM), *dup));
  EXPECT_FALSE(is_allowed(op_of(MPI_SUM), *one));
  dup->release();
  one->release();
}

TEST(OpHandle, OfPredefinedOpsLeadsThereAndBack) {
  int found = 0;
  for (std::uintptr_t value = 0; value < 0x400; ++value) {
    const auto handle = reinterpret_cast<MPI_Op>(value);
    Op* op = op_from_handle(handle);
    if (op == nullptr) continue;
    ++found;
    EXPECT_EQ(handle_of(*op), handle);
    op->release();
    EXPECT_EQ(op_from_handle(handle), op);
  }
  EXPECT_EQ(found, 14);
  EXPECT_EQ(op_from_handle(MPI_OP_NULL), nullptr);
  EXPECT_TRUE(op_of(MPI_REPLACE).is_one_sided_only());
  EXPECT_FALSE(op_of(MPI_SUM).is_one_sided_only());
}

/// The naive evaluation: one element, with the widest arithmetic available.
template <class T>
struct Naive {
  static T combine(MPI_Op op, T a, T b) {
    if constexpr (std::is_integral_v<T> || std::is_same_v<T, Int128>) {
      const Int128 x = a, y = b;
      if (op == MPI_SUM) return static_cast<T>(x + y);
      if (op == MPI_PROD)
        return static_cast<T>(static_cast<UnsignedInt128>(x) * static_cast<UnsignedInt128>(y));
      if (op == MPI_LAND) return x != 0 && y != 0 ? 1 : 0;
      if (op == MPI_LOR) return x != 0 || y != 0 ? 1 : 0;
      if (op == MPI_LXOR) return (x != 0) != (y != 0) ? 1 : 0;
      if (op == MPI_BAND) return static_cast<T>(x & y);
      if (op == MPI_BOR) return static_cast<T>(x | y);
      if (op == MPI_BXOR) return static_cast<T>(x ^ y);
    } else {
      if (op == MPI_SUM) return static_cast<T>(a + b);
      if (op == MPI_PROD) return static_cast<T>(a * b);
    }
    if (op == MPI_MAX) return a < b ? b : a;
    if (op == MPI_MIN) return a < b ? a : b;
    SORREL_CHECK(false, "no such case");
  }

  static T random(Prng& prng) {
    const auto small = static_cast<std::int64_t>(prng.below(19)) - 9;
    // Sums and products of small numbers are exact in every floating type, half included.
    if constexpr (std::is_same_v<T, Int128>) return (static_cast<Int128>(small) << 70) + small;
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(prng.below(3) == 0 ? prng.next() : static_cast<std::uint64_t>(small));
    return static_cast<T>(small);
  }
};

template <class T>
struct TestComplex {
  T real, imaginary;
  bool operator==(const TestComplex&) const = default;
};

template <class T>
struct Naive<TestComplex<T>> {
  using C = TestComplex<T>;

  static C combine(MPI_Op op, C a, C b) {
    if (op == MPI_SUM)
      return {static_cast<T>(a.real + b.real), static_cast<T>(a.imaginary + b.imaginary)};
    return {static_cast<T>(a.real * b.real - a.imaginary * b.imaginary),
            static_cast<T>(a.real * b.imaginary + a.imaginary * b.real)};
  }

  static C random(Prng& prng) { return {Naive<T>::random(prng), Naive<T>::random(prng)}; }
};

template <class V, class I>
struct TestPair {
  V value;
  I index;
  bool operator==(const TestPair&) const = default;
};

template <class V, class I>
struct Naive<TestPair<V, I>> {
  using P = TestPair<V, I>;

  static P combine(MPI_Op op, P a, P b) {
    if (a.value == b.value) return {a.value, a.index < b.index ? a.index : b.index};
    const bool left = op == MPI_MAXLOC ? a.value > b.value : a.value < b.value;
    return left ? a : b;
  }

  static P random(Prng& prng) {
    return {static_cast<V>(prng.below(4)), static_cast<I>(prng.below(100))};
  }
};

/// Every allowed op on one type, at all lengths around the vector sizes, on unaligned buffers too.
template <class T>
void check_type(MPI_Datatype handle, Prng& prng) {
  const Datatype& type = type_of(handle);
  SCOPED_TRACE(type.name());
  ASSERT_EQ(type.extent(), static_cast<std::int64_t>(sizeof(T)));
  for (const NamedOp& named : computing_ops()) {
    if (!is_allowed(op_of(named.op), type)) continue;
    for (std::size_t count = 0; count < 40; ++count) {
      const std::size_t shift = count % 3;
      std::vector<unsigned char> in(count * sizeof(T) + 8);
      std::vector<unsigned char> inout(in.size(), 0xee);
      std::vector<T> expected(count);
      for (std::size_t i = 0; i < count; ++i) {
        const T a = Naive<T>::random(prng);
        const T b = Naive<T>::random(prng);
        std::memcpy(&in[shift + i * sizeof(T)], &a, sizeof(T));
        std::memcpy(&inout[shift + i * sizeof(T)], &b, sizeof(T));
        expected[i] = Naive<T>::combine(named.op, a, b);
      }
      reduce(op_of(named.op), in.data() + shift, inout.data() + shift, count, type);
      for (std::size_t i = 0; i < count; ++i) {
        T result;
        std::memcpy(&result, &inout[shift + i * sizeof(T)], sizeof(T));
        ASSERT_TRUE(result == expected[i]) << "op " << static_cast<int>(op_of(named.op).kind())
                                           << " element " << i << " of " << count;
      }
      ASSERT_EQ(inout[shift + count * sizeof(T)], 0xee);
    }
  }
}

template <class T>
void check_types(std::initializer_list<MPI_Datatype> handles, Prng& prng) {
  for (const MPI_Datatype handle : handles)
    check_type<T>(handle, prng);
}

class EveryOp : public testing::Test {
 protected:
  std::uint64_t seed_ = test::test_seed();
  Prng prng_{seed_};
  testing::ScopedTrace trace_{__FILE__, __LINE__, "SORREL_SEED=" + std::to_string(seed_)};
};

TEST_F(EveryOp, OnIntegersAndLogicalsIsTheNaiveOne) {
  check_type<char>(MPI_CHAR, prng_);
  check_types<std::int8_t>({MPI_SIGNED_CHAR, MPI_INT8_T, MPI_INTEGER1, MPI_LOGICAL1}, prng_);
  check_types<std::uint8_t>({MPI_UNSIGNED_CHAR, MPI_UINT8_T, MPI_BYTE, MPI_C_BOOL, MPI_CXX_BOOL},
                            prng_);
  check_types<std::int16_t>({MPI_SHORT, MPI_INT16_T, MPI_INTEGER2, MPI_LOGICAL2}, prng_);
  check_types<std::uint16_t>({MPI_UNSIGNED_SHORT, MPI_UINT16_T}, prng_);
  check_types<std::int32_t>(
      {MPI_INT, MPI_INT32_T, MPI_INTEGER, MPI_INTEGER4, MPI_LOGICAL, MPI_LOGICAL4}, prng_);
  check_types<std::uint32_t>({MPI_UNSIGNED, MPI_UINT32_T}, prng_);
  check_types<std::int64_t>(
      {MPI_LONG_LONG, MPI_INT64_T, MPI_INTEGER8, MPI_LOGICAL8, MPI_AINT, MPI_COUNT, MPI_OFFSET},
      prng_);
  check_types<std::uint64_t>({MPI_UNSIGNED_LONG_LONG, MPI_UINT64_T}, prng_);
  check_type<long>(MPI_LONG, prng_);
  check_type<unsigned long>(MPI_UNSIGNED_LONG, prng_);
  check_types<Int128>({MPI_INTEGER16, MPI_LOGICAL16}, prng_);
}

TEST_F(EveryOp, OnFloatingAndComplexNumbersIsTheNaiveOne) {
  check_types<float>({MPI_FLOAT, MPI_REAL, MPI_REAL4}, prng_);
  check_types<double>({MPI_DOUBLE, MPI_DOUBLE_PRECISION, MPI_REAL8}, prng_);
  check_type<long double>(MPI_LONG_DOUBLE, prng_);
  check_type<Quad>(MPI_REAL16, prng_);
  check_types<TestComplex<float>>(
      {MPI_C_FLOAT_COMPLEX, MPI_CXX_FLOAT_COMPLEX, MPI_COMPLEX, MPI_COMPLEX8}, prng_);
  check_types<TestComplex<double>>(
      {MPI_C_DOUBLE_COMPLEX, MPI_CXX_DOUBLE_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX16}, prng_);
  check_types<TestComplex<long double>>({MPI_C_LONG_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX},
                                        prng_);
  check_type<TestComplex<Quad>>(MPI_COMPLEX32, prng_);
#ifdef __FLT16_MANT_DIG__
  check_type<_Float16>(MPI_REAL2, prng_);
  check_type<TestComplex<_Float16>>(MPI_COMPLEX4, prng_);
#endif
}

TEST_F(EveryOp, OnPairsFindsTheFirstOfTheExtremes) {
  check_type<TestPair<float, int>>(MPI_FLOAT_INT, prng_);
  check_type<TestPair<double, int>>(MPI_DOUBLE_INT, prng_);
  check_type<TestPair<long, int>>(MPI_LONG_INT, prng_);
  check_types<TestPair<int, int>>({MPI_2INT, MPI_2INTEGER}, prng_);
  check_type<TestPair<short, int>>(MPI_SHORT_INT, prng_);
  check_type<TestPair<long double, int>>(MPI_LONG_DOUBLE_INT, prng_);
  check_type<TestPair<float, float>>(MPI_2REAL, prng_);
  check_type<TestPair<double, double>>(MPI_2DOUBLE_PRECISION, prng_);
}

TEST(PredefinedOp, ReplaceTakesTheLeftAndNoOpTheRight) {
  const double in[] = {1, 2, 3};
  double inout[] = {4, 5, 6};
  reduce(op_of(MPI_NO_OP), in, inout, 3, type_of(MPI_DOUBLE));
  EXPECT_EQ(inout[1], 5);
  reduce(op_of(MPI_REPLACE), in, inout, 3, type_of(MPI_DOUBLE));
  EXPECT_EQ(inout[1], 2);
  const unsigned char letters[] = {'a'};
  unsigned char text[] = {'b'};
  reduce(op_of(MPI_REPLACE), letters, text, 1, type_of(MPI_CHARACTER));
  EXPECT_EQ(text[0], 'a');
}

MPI_Datatype seen_type;

/// Not commutative: ten times the left plus the right.
void append_digit(void* in, void* inout, int* length, MPI_Datatype* type) {
  seen_type = *type;
  for (int i = 0; i < *length; ++i)
    static_cast<int*>(inout)[i] += 10 * static_cast<int*>(in)[i];
}

TEST(UserOp, GetsTheLeftOperandFirst) {
  Op* op = Op::create(append_digit, false);
  ASSERT_NE(op, nullptr);
  EXPECT_EQ(op_from_handle(handle_of(*op)), op);
  EXPECT_FALSE(op->is_commutative());
  EXPECT_TRUE(is_allowed(*op, type_of(MPI_FLOAT_INT)));
  const int left[] = {1, 2};
  int right[] = {3, 4};
  reduce(*op, left, right, 2, type_of(MPI_INT));
  EXPECT_EQ(right[0], 13);
  EXPECT_EQ(right[1], 24);
  EXPECT_EQ(seen_type, MPI_INT);
  op->retain();
  op->release();
  EXPECT_TRUE(op->is_valid());
  op->release();
}

}  // namespace
}  // namespace sorrel::mpi
