#include "mpi/op/kernels.hpp"

#include <array>
#include <tuple>
#include <type_traits>

namespace sorrel::mpi {

namespace {

/// An element at any address, of any type that the program used.
template <class T>
struct [[gnu::packed, gnu::may_alias]] Loose {
  T value;
};

template <class Combine, class T>
void reduce_elements(const void* left, const void* right, void* result, std::size_t count) {
  const auto* a = static_cast<const Loose<T>*>(left);
  const auto* b = static_cast<const Loose<T>*>(right);
  auto* results = static_cast<Loose<T>*>(result);
  for (std::size_t i = 0; i < count; ++i)
    results[i].value = Combine{}(T(a[i].value), T(b[i].value));
}

template <class T>
struct Complex {
  T real;
  T imaginary;

  friend Complex operator+(Complex a, Complex b) {
    return {T(a.real + b.real), T(a.imaginary + b.imaginary)};
  }

  friend Complex operator*(Complex a, Complex b) {
    return {T(a.real * b.real - a.imaginary * b.imaginary),
            T(a.real * b.imaginary + a.imaginary * b.real)};
  }
};

/// The unsigned type in which an integer's arithmetic wraps, without promotion to a signed one.
template <class T>
using Wrapping =
    std::conditional_t<sizeof(T) <= 4,
                       std::uint32_t,
                       std::conditional_t<sizeof(T) == 8, std::uint64_t, UnsignedInt128>>;

template <class T>
constexpr bool is_integer = std::is_integral_v<T> || std::is_same_v<T, Int128>;

constexpr auto sum = []<class T>(T a, T b) {
  if constexpr (is_integer<T>)
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  else
    return static_cast<T>(a + b);
};

constexpr auto prod = []<class T>(T a, T b) {
  if constexpr (is_integer<T>)
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  else
    return static_cast<T>(a * b);
};

constexpr auto max = []<class T>(T a, T b) { return a > b ? a : b; };
constexpr auto min = []<class T>(T a, T b) { return a < b ? a : b; };

constexpr auto bit_and = []<class T>(T a, T b) { return static_cast<T>(a & b); };
constexpr auto bit_or = []<class T>(T a, T b) { return static_cast<T>(a | b); };
constexpr auto bit_xor = []<class T>(T a, T b) { return static_cast<T>(a ^ b); };

// Any value but 0 is true, as C and gfortran have it; the result is 0 or 1. No short circuit, so
// that it vectorises.
constexpr auto logical_and = []<class T>(T a, T b) { return static_cast<T>((a != 0) & (b != 0)); };
constexpr auto logical_or = []<class T>(T a, T b) { return static_cast<T>((a != 0) | (b != 0)); };
constexpr auto logical_xor = []<class T>(T a, T b) { return static_cast<T>((a != 0) ^ (b != 0)); };

constexpr auto maxloc = []<class T>(T a, T b) {
  if (a.value > b.value) return a;
  if (a.value == b.value) b.index = min(a.index, b.index);
  return b;
};

constexpr auto minloc = []<class T>(T a, T b) {
  if (a.value < b.value) return a;
  if (a.value == b.value) b.index = min(a.index, b.index);
  return b;
};

constexpr auto replace = []<class T>(T a, T) { return a; };
constexpr auto no_op = []<class T>(T, T b) { return b; };

/// An element and the C++ type of its values.
template <class T>
struct Typed {
  Element element;
};

constexpr std::tuple integers{
    Typed<std::int8_t>{Element::int8},   Typed<std::uint8_t>{Element::uint8},
    Typed<std::int16_t>{Element::int16}, Typed<std::uint16_t>{Element::uint16},
    Typed<std::int32_t>{Element::int32}, Typed<std::uint32_t>{Element::uint32},
    Typed<std::int64_t>{Element::int64}, Typed<std::uint64_t>{Element::uint64},
    Typed<Int128>{Element::int128},
};

constexpr std::tuple reals{
#ifdef __FLT16_MANT_DIG__
    Typed<_Float16>{Element::half},
#endif
    Typed<float>{Element::single},
    Typed<double>{Element::double_},
    Typed<long double>{Element::long_double},
    Typed<Quad>{Element::quad},
};

constexpr std::tuple complexes{
#ifdef __FLT16_MANT_DIG__
    Typed<Complex<_Float16>>{Element::complex_half},
#endif
    Typed<Complex<float>>{Element::complex_single},
    Typed<Complex<double>>{Element::complex_double},
    Typed<Complex<long double>>{Element::complex_long_double},
    Typed<Complex<Quad>>{Element::complex_quad},
};

constexpr std::tuple pairs{
    Typed<ValueIndex<float, int>>{Element::float_int},
    Typed<ValueIndex<double, int>>{Element::double_int},
    Typed<ValueIndex<long, int>>{Element::long_int},
    Typed<ValueIndex<int, int>>{Element::int_int},
    Typed<ValueIndex<short, int>>{Element::short_int},
    Typed<ValueIndex<long double, int>>{Element::long_double_int},
    Typed<ValueIndex<float, float>>{Element::float_float},
    Typed<ValueIndex<double, double>>{Element::double_double},
};

using KernelRow = std::array<ReduceKernel, element_kinds>;

/// The kernels of one operation for the elements of the lists; other elements have none.
template <class Combine, class... Lists>
constexpr KernelRow row_of(Combine, const Lists&... lists) {
  KernelRow row{};
  const auto set = [&]<class T>(Typed<T> typed) {
    row[static_cast<std::size_t>(typed.element)] = &reduce_elements<Combine, T>;
  };
  (std::apply([&](auto... typed) { (set(typed), ...); }, lists), ...);
  return row;
}

constexpr std::array<KernelRow, predefined_op_count> make_table() {
  std::array<KernelRow, predefined_op_count> table{};
  const auto at = [&](PredefinedOp op) -> KernelRow& {
    return table[static_cast<std::size_t>(op)];
  };
  at(PredefinedOp::sum) = row_of(sum, integers, reals, complexes);
  at(PredefinedOp::prod) = row_of(prod, integers, reals, complexes);
  at(PredefinedOp::max) = row_of(max, integers, reals);
  at(PredefinedOp::min) = row_of(min, integers, reals);
  at(PredefinedOp::band) = row_of(bit_and, integers);
  at(PredefinedOp::bor) = row_of(bit_or, integers);
  at(PredefinedOp::bxor) = row_of(bit_xor, integers);
  at(PredefinedOp::land) = row_of(logical_and, integers);
  at(PredefinedOp::lor) = row_of(logical_or, integers);
  at(PredefinedOp::lxor) = row_of(logical_xor, integers);
  at(PredefinedOp::maxloc) = row_of(maxloc, pairs);
  at(PredefinedOp::minloc) = row_of(minloc, pairs);
  at(PredefinedOp::replace) = row_of(replace, integers, reals, complexes, pairs);
  at(PredefinedOp::no_op) = row_of(no_op, integers, reals, complexes, pairs);
  return table;
}

constexpr std::array<KernelRow, predefined_op_count> kernels = make_table();

}  // namespace

ReduceKernel kernel_of(PredefinedOp op, Element element) {
  return kernels[static_cast<std::size_t>(op)][static_cast<std::size_t>(element)];
}

}  // namespace sorrel::mpi
