//! Element - one basic element of a datatype: its machine representation, and the operations that
//! MPI allows on it.
//!
//! Pure facts about the C, C++ and Fortran types of this platform. The representation selects a
//! reduction's kernel, the class decides whether MPI allows it (MPI 5.0, 6.9.2): MPI_INT and
//! MPI_INTEGER have the same representation and different classes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sorrel::mpi {

/// The machine's representation of one basic element.
enum class Element : std::uint8_t {
  none,  ///< no data at all
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  int128,
  half,
  single,
  double_,
  long_double,
  quad,
  complex_half,
  complex_single,
  complex_double,
  complex_long_double,
  complex_quad,
  float_int,
  double_int,
  long_int,
  int_int,
  short_int,
  long_double_int,
  float_float,
  double_double,
  mixed,  ///< a derived type of several kinds
};

inline constexpr std::size_t element_kinds = static_cast<std::size_t>(Element::mixed) + 1;

/// The groups of types in MPI's table of allowed operations.
enum class ElementClass : std::uint8_t {
  none,
  c_integer,
  fortran_integer,
  floating,
  complex,
  logical,
  byte,
  multi_language,
  pair,
  text,  ///< characters of a language: moved, never computed with
  packed,
  mixed,
};

inline constexpr std::size_t element_classes = static_cast<std::size_t>(ElementClass::mixed) + 1;

/// 16-byte numbers are extensions of the compiler, under names that -pedantic accepts.
__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UnsignedInt128;
#if __LDBL_MANT_DIG__ == 113
using Quad = long double;
#else
__extension__ typedef __float128 Quad;
#endif

/// A value and its index, laid out as in the pair types MPI_FLOAT_INT ... MPI_2DOUBLE_PRECISION.
template <class Value, class Index>
struct ValueIndex {
  Value value;
  Index index;
};

}  // namespace sorrel::mpi
