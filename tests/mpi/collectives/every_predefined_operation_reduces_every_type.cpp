// MPI_Allreduce with every predefined operation on every predefined type gives the result of a
// plain loop over the ranks; for a pair that the standard does not define it returns MPI_ERR_OP.
#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <type_traits>
#include <vector>

#include "../check.h"

namespace {

int me, ranks;

// Lengths for reductions in the slots, in one segment, and in several.
constexpr int counts[] = {1, 3, 40, 3000};

template <class T>
T operand(int rank, int i) {
  const int raw = (rank * 37 + i * 11 + 5) % 23;
  if constexpr (std::is_same_v<T, bool>) {
    return raw % 3 != 0;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(raw - (std::is_signed_v<T> ? 11 : 0));
  } else {
    // Small halves: sums and products up to the chosen number of ranks are exact or compared with a
    // tolerance.
    return T(static_cast<float>(raw - 11) / 2);
  }
}

template <class T>
bool is_same(const T& a, const T& b) {
  if constexpr (std::is_integral_v<T>) {
    return a == b;
  } else {
    return a == b || std::abs(a - b) <= 1e-4 * (std::abs(a) + std::abs(b));
  }
}

template <class T, class Combine>
void check(MPI_Datatype type, MPI_Op op, const char* name, Combine combine) {
  int bytes = 0;
  MPI_Type_size(type, &bytes);
  CHECK_EQUAL(bytes, sizeof(T));
  for (const int count : counts) {
    std::vector<T> out(count), in(count);
    if constexpr (!std::is_same_v<T, bool>) {
      for (int i = 0; i < count; ++i)
        out[i] = operand<T>(me, i);
      MPI_Allreduce(out.data(), in.data(), count, type, op, MPI_COMM_WORLD);
      // Each rank checks its share of a long result.
      for (int i = me % count; i < count; i += ranks) {
        T expected = operand<T>(0, i);
        for (int rank = 1; rank < ranks; ++rank)
          expected = combine(expected, operand<T>(rank, i));
        if (!is_same(in[i], expected)) {
          std::fprintf(stderr, "%s, %d ranks, element %d of %d, %d bytes each\n", name, ranks, i,
                       count, bytes);
          CHECK(is_same(in[i], expected));
        }
      }
    }
  }
}

template <class T>
void check_bits(MPI_Datatype type) {
  check<T>(type, MPI_BAND, "MPI_BAND", [](T a, T b) { return static_cast<T>(a & b); });
  check<T>(type, MPI_BOR, "MPI_BOR", [](T a, T b) { return static_cast<T>(a | b); });
  check<T>(type, MPI_BXOR, "MPI_BXOR", [](T a, T b) { return static_cast<T>(a ^ b); });
}

template <class T>
void check_logic(MPI_Datatype type) {
  check<T>(type, MPI_LAND, "MPI_LAND", [](T a, T b) { return static_cast<T>(a && b); });
  check<T>(type, MPI_LOR, "MPI_LOR", [](T a, T b) { return static_cast<T>(a || b); });
  check<T>(type, MPI_LXOR, "MPI_LXOR", [](T a, T b) { return static_cast<T>(!a != !b); });
}

template <class T>
void check_arithmetic(MPI_Datatype type) {
  // Unsigned products: the wrapped result is the same in any order.
  using Product = std::conditional_t<std::is_integral_v<T>, unsigned long long, T>;
  check<T>(type, MPI_SUM, "MPI_SUM", [](T a, T b) { return static_cast<T>(a + b); });
  check<T>(type, MPI_PROD, "MPI_PROD", [](T a, T b) {
    return static_cast<T>(static_cast<Product>(a) * static_cast<Product>(b));
  });
}

template <class T>
void check_order(MPI_Datatype type) {
  check<T>(type, MPI_MAX, "MPI_MAX", [](T a, T b) { return std::max(a, b); });
  check<T>(type, MPI_MIN, "MPI_MIN", [](T a, T b) { return std::min(a, b); });
}

template <class T>
void check_integer(MPI_Datatype type) {
  check_arithmetic<T>(type);
  check_order<T>(type);
  check_bits<T>(type);
  check_logic<T>(type);
}

template <class T>
void check_real(MPI_Datatype type) {
  check_arithmetic<T>(type);
  check_order<T>(type);
}

template <class T>
struct Located {
  T value;
  int index;
};

template <class T>
void check_location(MPI_Datatype type) {
  for (const int count : counts) {
    std::vector<Located<T>> out(count), in(count);
    for (const bool is_max : {true, false}) {
      for (int i = 0; i < count; ++i)
        out[i] = {operand<T>(me, i), me};
      MPI_Allreduce(out.data(), in.data(), count, type, is_max ? MPI_MAXLOC : MPI_MINLOC,
                    MPI_COMM_WORLD);
      for (int i = me % count; i < count; i += ranks) {
        int best = 0;
        for (int rank = 1; rank < ranks; ++rank) {
          const T a = operand<T>(rank, i), b = operand<T>(best, i);
          if (is_max ? a > b : a < b) best = rank;
        }
        CHECK(in[i].value == operand<T>(best, i));
        CHECK_EQUAL(in[i].index, best);
      }
    }
  }
}

void check_c_types() {
  check_integer<signed char>(MPI_SIGNED_CHAR);
  check_integer<unsigned char>(MPI_UNSIGNED_CHAR);
  check_integer<short>(MPI_SHORT);
  check_integer<unsigned short>(MPI_UNSIGNED_SHORT);
  check_integer<int>(MPI_INT);
  check_integer<unsigned>(MPI_UNSIGNED);
  check_integer<long>(MPI_LONG);
  check_integer<unsigned long>(MPI_UNSIGNED_LONG);
  check_integer<long long>(MPI_LONG_LONG);
  check_integer<long long>(MPI_LONG_LONG_INT);
  check_integer<unsigned long long>(MPI_UNSIGNED_LONG_LONG);
  check_integer<int8_t>(MPI_INT8_T);
  check_integer<int16_t>(MPI_INT16_T);
  check_integer<int32_t>(MPI_INT32_T);
  check_integer<int64_t>(MPI_INT64_T);
  check_integer<uint8_t>(MPI_UINT8_T);
  check_integer<uint16_t>(MPI_UINT16_T);
  check_integer<uint32_t>(MPI_UINT32_T);
  check_integer<uint64_t>(MPI_UINT64_T);
  check_real<float>(MPI_FLOAT);
  check_real<double>(MPI_DOUBLE);
  check_real<long double>(MPI_LONG_DOUBLE);
  check_bits<unsigned char>(MPI_BYTE);
}

void check_address_types() {
  check_arithmetic<MPI_Aint>(MPI_AINT);
  check_order<MPI_Aint>(MPI_AINT);
  check_bits<MPI_Aint>(MPI_AINT);
  check_arithmetic<MPI_Offset>(MPI_OFFSET);
  check_order<MPI_Offset>(MPI_OFFSET);
  check_bits<MPI_Offset>(MPI_OFFSET);
  check_arithmetic<MPI_Count>(MPI_COUNT);
  check_order<MPI_Count>(MPI_COUNT);
  check_bits<MPI_Count>(MPI_COUNT);
}

void check_complex_types() {
  check_arithmetic<std::complex<float>>(MPI_C_COMPLEX);
  check_arithmetic<std::complex<float>>(MPI_C_FLOAT_COMPLEX);
  check_arithmetic<std::complex<double>>(MPI_C_DOUBLE_COMPLEX);
  check_arithmetic<std::complex<float>>(MPI_CXX_FLOAT_COMPLEX);
  check_arithmetic<std::complex<double>>(MPI_CXX_DOUBLE_COMPLEX);
  check_arithmetic<std::complex<long double>>(MPI_CXX_LONG_DOUBLE_COMPLEX);
}

void check_fortran_types() {
  check_arithmetic<int>(MPI_INTEGER);
  check_order<int>(MPI_INTEGER);
  check_bits<int>(MPI_INTEGER);
  check_arithmetic<int8_t>(MPI_INTEGER1);
  check_arithmetic<int16_t>(MPI_INTEGER2);
  check_arithmetic<int32_t>(MPI_INTEGER4);
  check_arithmetic<int64_t>(MPI_INTEGER8);
  check_real<float>(MPI_REAL);
  check_real<float>(MPI_REAL4);
  check_real<double>(MPI_REAL8);
  check_real<double>(MPI_DOUBLE_PRECISION);
  check_arithmetic<std::complex<float>>(MPI_COMPLEX);
  check_arithmetic<std::complex<double>>(MPI_DOUBLE_COMPLEX);
}

/// C's and C++'s logical types.
template <class T>
void check_boolean(MPI_Datatype type) {
  for (const MPI_Op op : {MPI_LAND, MPI_LOR, MPI_LXOR}) {
    for (int i = 0; i < 8; ++i) {
      const auto truth = [&](int rank) { return (rank * 5 + i) % 4 == 0; };
      T out = truth(me), in = false;
      MPI_Allreduce(&out, &in, 1, type, op, MPI_COMM_WORLD);
      bool expected = truth(0);
      for (int rank = 1; rank < ranks; ++rank) {
        if (op == MPI_LAND) expected = expected && truth(rank);
        if (op == MPI_LOR) expected = expected || truth(rank);
        if (op == MPI_LXOR) expected = expected != truth(rank);
      }
      CHECK_EQUAL(in, expected);
    }
  }
}

void check_refusals() {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);

  const struct {
    MPI_Datatype type;
    MPI_Op op;
  } undefined[] = {{MPI_FLOAT, MPI_BAND}, {MPI_DOUBLE, MPI_LAND},  {MPI_C_DOUBLE_COMPLEX, MPI_MAX},
                   {MPI_BYTE, MPI_SUM},   {MPI_INT, MPI_MAXLOC},   {MPI_DOUBLE_INT, MPI_SUM},
                   {MPI_C_BOOL, MPI_SUM}, {MPI_CXX_BOOL, MPI_MAX}, {MPI_LOGICAL, MPI_SUM}};

  alignas(16) char out[64] = {}, in[64] = {};
  for (const auto& pair : undefined) {
    int error_class = 0;
    MPI_Error_class(MPI_Allreduce(out, in, 1, pair.type, pair.op, MPI_COMM_WORLD), &error_class);
    CHECK_EQUAL(error_class, MPI_ERR_OP);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  me = rank_in(MPI_COMM_WORLD);
  ranks = size_of(MPI_COMM_WORLD);
  check_c_types();
  check_address_types();
  check_complex_types();
  check_fortran_types();
  check_boolean<bool>(MPI_C_BOOL);
  check_boolean<bool>(MPI_CXX_BOOL);
  check_boolean<int>(MPI_LOGICAL);
  check_location<float>(MPI_FLOAT_INT);
  check_location<double>(MPI_DOUBLE_INT);
  check_location<long>(MPI_LONG_INT);
  check_location<int>(MPI_2INT);
  check_location<short>(MPI_SHORT_INT);
  check_location<long double>(MPI_LONG_DOUBLE_INT);
  check_refusals();
  MPI_Finalize();
  return 0;
}
