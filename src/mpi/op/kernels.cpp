#include "mpi/op/kernels.hpp"

#include <array>
#include <type_traits>

namespace sorrel::mpi {

namespace {

/// An element at any address, of any type that the program used.
template <class T>
struct [[gnu::packed, gnu::may_alias]] Loose {
  T value;
};

template <class Combine, class T>
void reduce_elements(const void* in, void* inout, std::size_t count) {
  const auto* __restrict left = static_cast<const Loose<T>*>(in);
  auto* __restrict right = static_cast<Loose<T>*>(inout);
  for (std::size_t i = 0; i < count; ++i)
    right[i].value = Combine::of(T(left[i].value), T(right[i].value));
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

struct Sum {
  template <class T>
  static T of(T a, T b) {
    if constexpr (is_integer<T>)
      return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
    else
      return static_cast<T>(a + b);
  }
};

struct Prod {
  template <class T>
  static T of(T a, T b) {
    if constexpr (is_integer<T>)
      return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
    else
      return static_cast<T>(a * b);
  }
};

struct Max {
  template <class T>
  static T of(T a, T b) {
    return a > b ? a : b;
  }
};

struct Min {
  template <class T>
  static T of(T a, T b) {
    return a < b ? a : b;
  }
};

struct BitAnd {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a & b);
  }
};

struct BitOr {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a | b);
  }
};

struct BitXor {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

// Any value but 0 is true, as C and gfortran have it; the result is 0 or 1. No short circuit, so
// that it vectorises.
struct LogicalAnd {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>((a != 0) & (b != 0));
  }
};

struct LogicalOr {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>((a != 0) | (b != 0));
  }
};

struct LogicalXor {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>((a != 0) ^ (b != 0));
  }
};

struct MaxLoc {
  template <class T>
  static T of(T a, T b) {
    if (a.value > b.value) return a;
    if (a.value == b.value) b.index = Min::of(a.index, b.index);
    return b;
  }
};

struct MinLoc {
  template <class T>
  static T of(T a, T b) {
    if (a.value < b.value) return a;
    if (a.value == b.value) b.index = Min::of(a.index, b.index);
    return b;
  }
};

struct Replace {
  template <class T>
  static T of(T a, T) {
    return a;
  }
};

struct NoOp {
  template <class T>
  static T of(T, T b) {
    return b;
  }
};

using KernelRow = std::array<ReduceKernel, element_kinds>;

template <class Combine, class T>
constexpr void set(KernelRow& row, Element element) {
  row[static_cast<std::size_t>(element)] = &reduce_elements<Combine, T>;
}

template <class Combine>
constexpr void set_integers(KernelRow& row) {
  set<Combine, std::int8_t>(row, Element::int8);
  set<Combine, std::uint8_t>(row, Element::uint8);
  set<Combine, std::int16_t>(row, Element::int16);
  set<Combine, std::uint16_t>(row, Element::uint16);
  set<Combine, std::int32_t>(row, Element::int32);
  set<Combine, std::uint32_t>(row, Element::uint32);
  set<Combine, std::int64_t>(row, Element::int64);
  set<Combine, std::uint64_t>(row, Element::uint64);
  set<Combine, Int128>(row, Element::int128);
}

template <class Combine>
constexpr void set_reals(KernelRow& row) {
#ifdef __FLT16_MANT_DIG__
  set<Combine, _Float16>(row, Element::half);
#endif
  set<Combine, float>(row, Element::single);
  set<Combine, double>(row, Element::double_);
  set<Combine, long double>(row, Element::long_double);
  set<Combine, Quad>(row, Element::quad);
}

template <class Combine>
constexpr void set_complex(KernelRow& row) {
#ifdef __FLT16_MANT_DIG__
  set<Combine, Complex<_Float16>>(row, Element::complex_half);
#endif
  set<Combine, Complex<float>>(row, Element::complex_single);
  set<Combine, Complex<double>>(row, Element::complex_double);
  set<Combine, Complex<long double>>(row, Element::complex_long_double);
  set<Combine, Complex<Quad>>(row, Element::complex_quad);
}

template <class Combine>
constexpr void set_pairs(KernelRow& row) {
  set<Combine, ValueIndex<float, int>>(row, Element::float_int);
  set<Combine, ValueIndex<double, int>>(row, Element::double_int);
  set<Combine, ValueIndex<long, int>>(row, Element::long_int);
  set<Combine, ValueIndex<int, int>>(row, Element::int_int);
  set<Combine, ValueIndex<short, int>>(row, Element::short_int);
  set<Combine, ValueIndex<long double, int>>(row, Element::long_double_int);
  set<Combine, ValueIndex<float, float>>(row, Element::float_float);
  set<Combine, ValueIndex<double, double>>(row, Element::double_double);
}

template <class Combine>
constexpr KernelRow integer_row() {
  KernelRow row{};
  set_integers<Combine>(row);
  return row;
}

template <class Combine>
constexpr KernelRow ordered_row() {
  KernelRow row = integer_row<Combine>();
  set_reals<Combine>(row);
  return row;
}

template <class Combine>
constexpr KernelRow arithmetic_row() {
  KernelRow row = ordered_row<Combine>();
  set_complex<Combine>(row);
  return row;
}

template <class Combine>
constexpr KernelRow pair_row() {
  KernelRow row{};
  set_pairs<Combine>(row);
  return row;
}

template <class Combine>
constexpr KernelRow any_row() {
  KernelRow row = arithmetic_row<Combine>();
  set_pairs<Combine>(row);
  return row;
}

constexpr std::array<KernelRow, predefined_op_count> make_table() {
  std::array<KernelRow, predefined_op_count> table{};
  const auto at = [&](PredefinedOp op) -> KernelRow& {
    return table[static_cast<std::size_t>(op)];
  };
  at(PredefinedOp::sum) = arithmetic_row<Sum>();
  at(PredefinedOp::prod) = arithmetic_row<Prod>();
  at(PredefinedOp::max) = ordered_row<Max>();
  at(PredefinedOp::min) = ordered_row<Min>();
  at(PredefinedOp::band) = integer_row<BitAnd>();
  at(PredefinedOp::bor) = integer_row<BitOr>();
  at(PredefinedOp::bxor) = integer_row<BitXor>();
  at(PredefinedOp::land) = integer_row<LogicalAnd>();
  at(PredefinedOp::lor) = integer_row<LogicalOr>();
  at(PredefinedOp::lxor) = integer_row<LogicalXor>();
  at(PredefinedOp::maxloc) = pair_row<MaxLoc>();
  at(PredefinedOp::minloc) = pair_row<MinLoc>();
  at(PredefinedOp::replace) = any_row<Replace>();
  at(PredefinedOp::no_op) = any_row<NoOp>();
  return table;
}

constexpr std::array<KernelRow, predefined_op_count> kernels = make_table();

}  // namespace

ReduceKernel kernel_of(PredefinedOp op, Element element) {
  return kernels[static_cast<std::size_t>(op)][static_cast<std::size_t>(element)];
}

}  // namespace sorrel::mpi
