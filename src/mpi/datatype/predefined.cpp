//! The predefined datatypes of the standard ABI, as constants: no start-up code, no writable
//! memory.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "mpi/datatype/datatype.hpp"

namespace sorrel::mpi {

namespace {

/// Properties that follow from the element kind alone.
struct Facts {
  std::size_t size = 0;
  std::size_t extent = 0;
  std::size_t true_extent = 0;
  std::size_t alignment = 1;
  const Layout* layout = nullptr;
  const Signature* signature = nullptr;
  std::size_t element_size = 0;
  std::size_t element_count = 0;
};

template <std::size_t Bytes>
constinit const Layout block_layout{Bytes};

template <class T>
constexpr Facts basic_facts() {
  return {sizeof(T), sizeof(T), sizeof(T), alignof(T), &block_layout<sizeof(T)>,
          nullptr,   sizeof(T), 1};
}

template <class T>
constexpr Facts complex_facts() {
  Facts facts = basic_facts<T[2]>();
  facts.alignment = alignof(T);
  return facts;
}

/// A value and its index, laid out as a C struct: two basic elements, with padding between or
/// behind where C has it.
template <class Value, class Index>
struct Pair {
  static constexpr std::size_t index_offset =
      (sizeof(Value) + alignof(Index) - 1) / alignof(Index) * alignof(Index);
  static constexpr std::size_t size = sizeof(Value) + sizeof(Index);
  static constexpr Segment segments[] = {{0, 0}, {index_offset, sizeof(Value)}, {0, size}};
  static constexpr SignaturePart parts[] = {{1, sizeof(Value), 1, nullptr},
                                            {1, sizeof(Index), 1, nullptr}};
  static constinit const Layout layout;
  static constinit const Signature signature;
};

template <class Value, class Index>
constinit const Layout Pair<Value, Index>::layout{segments, 2};

template <class Value, class Index>
constinit const Signature Pair<Value, Index>::signature{parts, 2};

template <class Value, class Index>
constexpr Facts pair_facts() {
  using P = Pair<Value, Index>;
  constexpr bool uniform = sizeof(Value) == sizeof(Index);
  return {.size = P::size,
          .extent = sizeof(ValueIndex<Value, Index>),
          .true_extent = P::index_offset + sizeof(Index),
          .alignment = alignof(ValueIndex<Value, Index>),
          .layout = P::index_offset == sizeof(Value) ? &block_layout<P::size> : &P::layout,
          .signature = uniform ? nullptr : &P::signature,
          .element_size = uniform ? sizeof(Value) : 0,
          .element_count = 2};
}

constexpr std::pair<Element, Facts> facts[] = {
    {Element::int8, basic_facts<std::int8_t>()},
    {Element::uint8, basic_facts<std::uint8_t>()},
    {Element::int16, basic_facts<std::int16_t>()},
    {Element::uint16, basic_facts<std::uint16_t>()},
    {Element::int32, basic_facts<std::int32_t>()},
    {Element::uint32, basic_facts<std::uint32_t>()},
    {Element::int64, basic_facts<std::int64_t>()},
    {Element::uint64, basic_facts<std::uint64_t>()},
    {Element::int128, basic_facts<Int128>()},
    // Not every compiler has a 16-bit float; its size is known without one.
    {Element::half, basic_facts<std::uint16_t>()},
    {Element::single, basic_facts<float>()},
    {Element::double_, basic_facts<double>()},
    {Element::long_double, basic_facts<long double>()},
    {Element::quad, basic_facts<Quad>()},
    {Element::complex_half, complex_facts<std::uint16_t>()},
    {Element::complex_single, complex_facts<float>()},
    {Element::complex_double, complex_facts<double>()},
    {Element::complex_long_double, complex_facts<long double>()},
    {Element::complex_quad, complex_facts<Quad>()},
    {Element::float_int, pair_facts<float, int>()},
    {Element::double_int, pair_facts<double, int>()},
    {Element::long_int, pair_facts<long, int>()},
    {Element::int_int, pair_facts<int, int>()},
    {Element::short_int, pair_facts<short, int>()},
    {Element::long_double_int, pair_facts<long double, int>()},
    {Element::float_float, pair_facts<float, float>()},
    {Element::double_double, pair_facts<double, double>()},
};

constexpr const Facts& facts_of(Element element) {
  return std::ranges::find(facts, element, &std::pair<Element, Facts>::first)->second;
}

struct Row {
  std::uint16_t constant;
  Element element;
  ElementClass element_class;
  const char* name;
};

constexpr Element char_element = static_cast<char>(-1) < 0 ? Element::int8 : Element::uint8;
constexpr Element wchar_element = sizeof(wchar_t) == 4 ? Element::int32 : Element::uint16;
constexpr Element long_element = sizeof(long) == 8 ? Element::int64 : Element::int32;
constexpr Element unsigned_long_element = sizeof(long) == 8 ? Element::uint64 : Element::uint32;

using enum ElementClass;

// MPI_CHAR is among the C integers although the standard has it for text only: programs reduce it,
// and other implementations allow that.
constexpr Row rows[] = {
    {0x201, Element::int64, multi_language, "MPI_AINT"},
    {0x202, Element::int64, multi_language, "MPI_COUNT"},
    {0x203, Element::int64, multi_language, "MPI_OFFSET"},
    {0x207, Element::uint8, packed, "MPI_PACKED"},
    {0x208, Element::int16, c_integer, "MPI_SHORT"},
    {0x209, Element::int32, c_integer, "MPI_INT"},
    {0x20a, long_element, c_integer, "MPI_LONG"},
    {0x20b, Element::int64, c_integer, "MPI_LONG_LONG_INT"},
    {0x20c, Element::uint16, c_integer, "MPI_UNSIGNED_SHORT"},
    {0x20d, Element::uint32, c_integer, "MPI_UNSIGNED"},
    {0x20e, unsigned_long_element, c_integer, "MPI_UNSIGNED_LONG"},
    {0x20f, Element::uint64, c_integer, "MPI_UNSIGNED_LONG_LONG"},
    {0x210, Element::single, floating, "MPI_FLOAT"},
    {0x212, Element::complex_single, complex, "MPI_C_COMPLEX"},
    {0x213, Element::complex_single, complex, "MPI_CXX_FLOAT_COMPLEX"},
    {0x214, Element::double_, floating, "MPI_DOUBLE"},
    {0x216, Element::complex_double, complex, "MPI_C_DOUBLE_COMPLEX"},
    {0x217, Element::complex_double, complex, "MPI_CXX_DOUBLE_COMPLEX"},
    {0x218, Element::int32, logical, "MPI_LOGICAL"},
    {0x219, Element::int32, fortran_integer, "MPI_INTEGER"},
    {0x21a, Element::single, floating, "MPI_REAL"},
    {0x21b, Element::complex_single, complex, "MPI_COMPLEX"},
    {0x21c, Element::double_, floating, "MPI_DOUBLE_PRECISION"},
    {0x21d, Element::complex_double, complex, "MPI_DOUBLE_COMPLEX"},
    {0x21e, Element::uint8, text, "MPI_CHARACTER"},
    {0x220, Element::long_double, floating, "MPI_LONG_DOUBLE"},
    {0x224, Element::complex_long_double, complex, "MPI_C_LONG_DOUBLE_COMPLEX"},
    {0x225, Element::complex_long_double, complex, "MPI_CXX_LONG_DOUBLE_COMPLEX"},
    {0x228, Element::float_int, pair, "MPI_FLOAT_INT"},
    {0x229, Element::double_int, pair, "MPI_DOUBLE_INT"},
    {0x22a, Element::long_int, pair, "MPI_LONG_INT"},
    {0x22b, Element::int_int, pair, "MPI_2INT"},
    {0x22c, Element::short_int, pair, "MPI_SHORT_INT"},
    {0x22d, Element::long_double_int, pair, "MPI_LONG_DOUBLE_INT"},
    {0x230, Element::float_float, pair, "MPI_2REAL"},
    {0x231, Element::double_double, pair, "MPI_2DOUBLE_PRECISION"},
    {0x232, Element::int_int, pair, "MPI_2INTEGER"},
    {0x238, Element::uint8, logical, "MPI_C_BOOL"},
    {0x239, Element::uint8, logical, "MPI_CXX_BOOL"},
    {0x23c, wchar_element, text, "MPI_WCHAR"},
    {0x240, Element::int8, c_integer, "MPI_INT8_T"},
    {0x241, Element::uint8, c_integer, "MPI_UINT8_T"},
    {0x243, char_element, c_integer, "MPI_CHAR"},
    {0x244, Element::int8, c_integer, "MPI_SIGNED_CHAR"},
    {0x245, Element::uint8, c_integer, "MPI_UNSIGNED_CHAR"},
    {0x247, Element::uint8, byte, "MPI_BYTE"},
    {0x248, Element::int16, c_integer, "MPI_INT16_T"},
    {0x249, Element::uint16, c_integer, "MPI_UINT16_T"},
    {0x250, Element::int32, c_integer, "MPI_INT32_T"},
    {0x251, Element::uint32, c_integer, "MPI_UINT32_T"},
    {0x258, Element::int64, c_integer, "MPI_INT64_T"},
    {0x259, Element::uint64, c_integer, "MPI_UINT64_T"},
    {0x2c0, Element::int8, logical, "MPI_LOGICAL1"},
    {0x2c1, Element::int8, fortran_integer, "MPI_INTEGER1"},
    {0x2c8, Element::int16, logical, "MPI_LOGICAL2"},
    {0x2c9, Element::int16, fortran_integer, "MPI_INTEGER2"},
    {0x2ca, Element::half, floating, "MPI_REAL2"},
    {0x2d0, Element::int32, logical, "MPI_LOGICAL4"},
    {0x2d1, Element::int32, fortran_integer, "MPI_INTEGER4"},
    {0x2d2, Element::single, floating, "MPI_REAL4"},
    {0x2d3, Element::complex_half, complex, "MPI_COMPLEX4"},
    {0x2d8, Element::int64, logical, "MPI_LOGICAL8"},
    {0x2d9, Element::int64, fortran_integer, "MPI_INTEGER8"},
    {0x2da, Element::double_, floating, "MPI_REAL8"},
    {0x2db, Element::complex_single, complex, "MPI_COMPLEX8"},
    {0x2e0, Element::int128, logical, "MPI_LOGICAL16"},
    {0x2e1, Element::int128, fortran_integer, "MPI_INTEGER16"},
    {0x2e2, Element::quad, floating, "MPI_REAL16"},
    {0x2e3, Element::complex_double, complex, "MPI_COMPLEX16"},
    {0x2eb, Element::complex_quad, complex, "MPI_COMPLEX32"},
};

}  // namespace

constexpr PredefinedTable::PredefinedTable() {
  for (const Row& row : rows) {
    Datatype& type = types[row.constant - predefined_datatype_first];
    const Facts& facts = facts_of(row.element);
    type.magic_ = Datatype::magic;
    type.dense_ = facts.size == facts.extent;
    type.single_ = true;
    type.predefined_ = true;
    type.committed_ = true;
    type.element_ = row.element;
    type.element_class_ = row.element_class;
    type.alignment_ = static_cast<std::uint16_t>(facts.alignment);
    type.constant_ = row.constant;
    type.size_ = facts.size;
    type.extent_ = static_cast<std::int64_t>(facts.extent);
    type.layout_ = facts.layout;
    type.true_ub_ = static_cast<std::int64_t>(facts.true_extent);
    type.element_size_ = facts.element_size;
    type.element_count_ = facts.element_count;
    type.signature_ = facts.signature;
    type.name_ = row.name;
  }
}

constinit const PredefinedTable predefined_datatypes;

}  // namespace sorrel::mpi
