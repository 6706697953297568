#include "mpi/datatype/external32.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "mpi/datatype/recipe.hpp"

namespace sorrel::mpi {

namespace {

enum class Conversion : std::uint8_t {
  reverse,  ///< The bytes in the opposite order.
  narrow,   ///< An integer that is shorter outside, with a sign.
  narrow_unsigned,
  widen_float,  ///< long double to the IEEE format of 128 bits.
};

/// One number of a predefined datatype.
struct Part {
  std::size_t native_bytes;
  std::size_t external_bytes;
  Conversion conversion = Conversion::reverse;
};

constexpr Part plain(std::size_t bytes) {
  return {.native_bytes = bytes, .external_bytes = bytes};
}

constexpr Part long_part{.native_bytes = 8, .external_bytes = 4, .conversion = Conversion::narrow};
constexpr Part extended{.native_bytes = sizeof(long double),
                        .external_bytes = 16,
                        .conversion = Conversion::widen_float};

/// The numbers of one element of a predefined datatype.
std::vector<Part> parts_of(const Datatype& type) {
  const MPI_Datatype handle = handle_of(type);
  if (handle == MPI_LONG) return {long_part};
  if (handle == MPI_UNSIGNED_LONG)
    return {{.native_bytes = 8, .external_bytes = 4, .conversion = Conversion::narrow_unsigned}};
  if (handle == MPI_WCHAR)
    return {{.native_bytes = sizeof(wchar_t),
             .external_bytes = 2,
             .conversion = Conversion::narrow_unsigned}};
  switch (type.element()) {
    case Element::none:
      return {};
    case Element::long_double:
      return {extended};
    case Element::complex_long_double:
      return {extended, extended};
    case Element::complex_half:
    case Element::complex_single:
    case Element::complex_double:
    case Element::complex_quad:
    case Element::float_float:
    case Element::double_double:
    case Element::int_int:
      return {plain(type.size() / 2), plain(type.size() / 2)};
    case Element::float_int:
      return {plain(4), plain(4)};
    case Element::double_int:
      return {plain(8), plain(4)};
    case Element::long_int:
      return {long_part, plain(4)};
    case Element::short_int:
      return {plain(2), plain(4)};
    case Element::long_double_int:
      return {extended, plain(4)};
    default:
      return {plain(type.size())};
  }
}

/// The number of old types of each kind in one element of a struct.
std::int64_t block_length(const Recipe& recipe, std::size_t member) {
  // In both forms the count of members comes before their lengths.
  return recipe.large_counts().empty() ? recipe.integers()[member + 1]
                                       : recipe.large_counts()[member + 1];
}

/// Calls visit(part) for each number of `count` elements, in order. Recursion is as deep as the
/// nesting of datatypes, which constructors bound.
template <class Visit>
void for_each_part(const Datatype& type, std::size_t count, Visit& visit) {
  const Recipe* recipe = type.recipe();
  if (recipe == nullptr || recipe->types().empty()) {
    const std::vector<Part> parts = parts_of(type);
    for (std::size_t i = 0; i < count; ++i)
      for (const Part& part : parts)
        visit(part);
    return;
  }
  if (recipe->combiner() != MPI_COMBINER_STRUCT) {
    const Datatype& old_type = *recipe->types().front();
    if (old_type.size() > 0)
      for_each_part(old_type, count * (type.size() / old_type.size()), visit);
    return;
  }
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t member = 0; member < recipe->types().size(); ++member)
      for_each_part(*recipe->types()[member],
                    static_cast<std::size_t>(block_length(*recipe, member)), visit);
}

/// The low bytes of a number in the byte order of this machine, which is little-endian.
bool narrow(const std::byte* from, const Part& part, std::byte* to) {
  std::int64_t value = 0;
  std::memcpy(&value, from, part.native_bytes);
  if (part.native_bytes == 4) value = static_cast<std::uint32_t>(value);
  const unsigned bits = static_cast<unsigned>(part.external_bytes) * 8;
  const bool is_signed = part.conversion == Conversion::narrow;
  const std::int64_t high = value >> (is_signed ? bits - 1 : bits);
  std::reverse_copy(from, from + part.external_bytes, to);
  return high == 0 || (is_signed && high == -1);
}

void widen(const std::byte* from, const Part& part, std::byte* to) {
  std::int64_t value = 0;
  std::byte reversed[8];
  std::reverse_copy(from, from + part.external_bytes, reversed);
  std::memcpy(&value, reversed, part.external_bytes);
  if (part.conversion == Conversion::narrow) {
    const unsigned shift = 64 - static_cast<unsigned>(part.external_bytes) * 8;
    value = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << shift) >> shift;
  }
  std::memcpy(to, &value, part.native_bytes);
}

void extend_float(const std::byte* from, std::byte* to) {
  long double value = 0;
  std::memcpy(&value, from, sizeof value);
  const Quad quad = value;
  std::byte bytes[sizeof quad];
  std::memcpy(bytes, &quad, sizeof quad);
  std::reverse_copy(bytes, bytes + sizeof quad, to);
}

void shorten_float(const std::byte* from, std::byte* to) {
  Quad quad = 0;
  std::byte bytes[sizeof quad];
  std::reverse_copy(from, from + sizeof quad, bytes);
  std::memcpy(&quad, bytes, sizeof quad);
  const auto value = static_cast<long double>(quad);
  std::memcpy(to, &value, sizeof value);
  // A variable of the format of 80 bits ends with padding, which has any contents.
  constexpr std::size_t value_bytes = std::numeric_limits<long double>::digits == 64 ? 10 : 16;
  std::memset(to + value_bytes, 0, sizeof value - value_bytes);
}

}  // namespace

std::size_t external32_size(const Datatype& type) {
  std::size_t bytes = 0;
  auto add = [&](const Part& part) { bytes += part.external_bytes; };
  for_each_part(type, 1, add);
  return bytes;
}

int to_external32(const std::byte* packed,
                  std::size_t count,
                  const Datatype& type,
                  std::byte* out) {
  bool fits = true;
  auto convert = [&](const Part& part) {
    if (part.conversion == Conversion::reverse) {
      std::reverse_copy(packed, packed + part.native_bytes, out);
    } else if (part.conversion == Conversion::widen_float) {
      extend_float(packed, out);
    } else {
      fits = narrow(packed, part, out) && fits;
    }
    packed += part.native_bytes;
    out += part.external_bytes;
  };
  for_each_part(type, count, convert);
  return fits ? MPI_SUCCESS : MPI_ERR_CONVERSION;
}

void from_external32(const std::byte* in,
                     std::size_t count,
                     const Datatype& type,
                     std::byte* packed) {
  auto convert = [&](const Part& part) {
    if (part.conversion == Conversion::reverse) {
      std::reverse_copy(in, in + part.external_bytes, packed);
    } else if (part.conversion == Conversion::widen_float) {
      shorten_float(in, packed);
    } else {
      widen(in, part, packed);
    }
    in += part.external_bytes;
    packed += part.native_bytes;
  };
  for_each_part(type, count, convert);
}

}  // namespace sorrel::mpi
