//! A naive datatype - the typemap written out, with MPI's formulas for the bounds: slow, clear, the
//! tests' oracle.
//!
//! RandomTypes makes a datatype both ways from the same choices.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "base/prng.hpp"
#include "mpi/datatype/construct.hpp"

namespace sorrel::mpi::test {

/// One basic element of a typemap.
struct Basic {
  std::int64_t displacement;
  std::size_t size;
  std::int64_t alignment;
};

struct NaiveType {
  std::vector<Basic> map;
  /// Begin and end of the data, with the padding of structs.
  std::int64_t data_lb = 0;
  std::int64_t data_ub = 0;
  bool has_markers = false;
  std::int64_t lb_marker = 0;
  std::int64_t ub_marker = 0;

  [[nodiscard]] std::size_t size() const {
    std::size_t sum = 0;
    for (const Basic& basic : map)
      sum += basic.size;
    return sum;
  }

  [[nodiscard]] std::int64_t true_lb() const {
    std::int64_t lowest = map.empty() ? 0 : map[0].displacement;
    for (const Basic& basic : map)
      lowest = std::min(lowest, basic.displacement);
    return lowest;
  }

  [[nodiscard]] std::int64_t true_ub() const {
    std::int64_t highest = 0;
    bool first = true;
    for (const Basic& basic : map) {
      const auto end = basic.displacement + static_cast<std::int64_t>(basic.size);
      highest = first ? end : std::max(highest, end);
      first = false;
    }
    return highest;
  }

  [[nodiscard]] std::int64_t lb() const { return has_markers ? lb_marker : data_lb; }

  [[nodiscard]] std::int64_t ub() const { return has_markers ? ub_marker : data_ub; }

  /// Padding of a struct: to whole multiples of the strictest alignment.
  void pad() {
    std::int64_t alignment = 1;
    for (const Basic& basic : map)
      alignment = std::max(alignment, basic.alignment);
    while ((data_ub - data_lb) % alignment != 0)
      ++data_ub;
  }

  [[nodiscard]] std::int64_t extent() const { return ub() - lb(); }

  /// Appends another type's map at a displacement.
  void append(const NaiveType& other, std::int64_t displacement) {
    if (!other.map.empty()) {
      const std::int64_t lowest = other.data_lb + displacement;
      const std::int64_t highest = other.data_ub + displacement;
      data_lb = map.empty() ? lowest : std::min(data_lb, lowest);
      data_ub = map.empty() ? highest : std::max(data_ub, highest);
    }
    for (const Basic& basic : other.map)
      map.push_back({basic.displacement + displacement, basic.size, basic.alignment});
    if (!other.has_markers) return;
    const std::int64_t low = other.lb_marker + displacement;
    const std::int64_t high = other.ub_marker + displacement;
    lb_marker = has_markers ? std::min(lb_marker, low) : low;
    ub_marker = has_markers ? std::max(ub_marker, high) : high;
    has_markers = true;
  }

  void append_block(const NaiveType& other, std::int64_t length, std::int64_t displacement) {
    for (std::int64_t i = 0; i < length; ++i)
      append(other, displacement + i * other.extent());
  }
};

/// Owns a datatype and its written-out counterpart.
struct TwinType {
  Datatype* type = nullptr;
  NaiveType naive;
};

inline std::uint64_t test_seed() {
  const char* given = std::getenv("SORREL_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 0) : 20240229;
}

class RandomTypes {
 public:
  explicit RandomTypes(std::uint64_t seed) : prng_(seed) {}

  /// A random type, nested up to `depth` constructors deep. The caller releases it.
  TwinType make(int depth) {
    while (true) {
      TwinType twin = depth == 0 ? basic() : derived(depth);
      if (twin.naive.map.size() <= map_size_max) return twin;
      twin.type->release();
    }
  }

  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(prng_.below(static_cast<std::uint64_t>(high - low + 1)));
  }

  Prng& prng() { return prng_; }

 private:
  static constexpr std::size_t map_size_max = 300;  // The oracle is slow.

  TwinType derived(int depth) {
    switch (prng_.below(11)) {
      case 0:
        return contiguous(depth);
      case 1:
        return vector(depth, Stride::extents);
      case 2:
        return vector(depth, Stride::bytes);
      case 3:
        return indexed(depth, Stride::extents, Lengths::many);
      case 4:
        return indexed(depth, Stride::bytes, Lengths::many);
      case 5:
        return indexed(depth, Stride::extents, Lengths::one);
      case 6:
        return indexed(depth, Stride::bytes, Lengths::one);
      case 7:
        return subarray(depth);
      case 8:
        return resized(depth);
      case 9:
        return dup(depth);
      default:
        return structure(depth);
    }
  }

  enum class Stride { extents, bytes };
  enum class Lengths { one, many };

  TwinType basic() {
    static const MPI_Datatype choices[] = {
        MPI_CHAR,        MPI_SHORT,     MPI_INT,  MPI_DOUBLE,     MPI_C_FLOAT_COMPLEX,
        MPI_LONG_DOUBLE, MPI_SHORT_INT, MPI_BYTE, MPI_DOUBLE_INT, MPI_INT};
    Datatype* type = datatype_from_handle(choices[prng_.below(std::size(choices))]);
    const auto size = type->size();
    const std::int64_t alignment = type->alignment();
    TwinType twin{type, {}};
    if (type == datatype_from_handle(MPI_SHORT_INT)) {
      twin.naive.map = {{0, 2, 2}, {4, 4, 4}};
    } else if (type == datatype_from_handle(MPI_DOUBLE_INT)) {
      twin.naive.map = {{0, 8, 8}, {8, 4, 4}};
    } else {
      twin.naive.map = {{0, size, alignment}};
    }
    twin.naive.data_ub = type->extent();
    return twin;
  }

  /// Ends the old type at once: the new one must work without it.
  static TwinType finish(int error, TwinType& old, TwinType twin) {
    SORREL_CHECK(error == MPI_SUCCESS, "%d", error);
    old.type->release();
    return twin;
  }

  TwinType contiguous(int depth) {
    TwinType old = make(depth - 1);
    const std::int64_t count = between(0, 4);
    TwinType twin;
    twin.naive.append_block(old.naive, count, 0);
    const int error = make_contiguous(count, *old.type, twin.type);
    return finish(error, old, std::move(twin));
  }

  TwinType vector(int depth, Stride unit) {
    TwinType old = make(depth - 1);
    const bool sharp = between(0, 2) == 0;  // Blocks that touch each other.
    const std::int64_t length = between(sharp ? 1 : 0, 3);
    VectorShape shape{between(0, 4), length, sharp ? length : between(-5, 6)};
    if (unit == Stride::bytes)
      shape.stride = sharp ? length * old.naive.extent() : between(-40, 60);
    TwinType twin;
    const std::int64_t step = unit == Stride::bytes ? 1 : old.naive.extent();
    for (std::int64_t i = 0; i < shape.count; ++i)
      twin.naive.append_block(old.naive, length, i * shape.stride * step);
    const int error = unit == Stride::bytes ? make_hvector(shape, *old.type, twin.type)
                                            : make_vector(shape, *old.type, twin.type);
    return finish(error, old, std::move(twin));
  }

  TwinType indexed(int depth, Stride unit, Lengths lengths) {
    TwinType old = make(depth - 1);
    const std::int64_t count = between(0, 5);
    std::vector<std::int64_t> places;
    std::vector<std::int64_t> block_lengths;
    const std::int64_t step = unit == Stride::bytes ? 1 : old.naive.extent();
    const std::int64_t one = between(0, 3);
    const std::int64_t regular = between(0, 2);  // Sometimes equally spaced, sometimes touching.
    TwinType twin;
    std::int64_t next = between(-5, 5);
    for (std::int64_t i = 0; i < count; ++i) {
      block_lengths.push_back(lengths == Lengths::one ? one : between(0, 3));
      places.push_back(regular == 0 ? between(-50, 50) : next);
      next += regular == 1
                  ? 7
                  : block_lengths.back() * old.naive.extent() / std::max<std::int64_t>(step, 1);
      twin.naive.append_block(old.naive, block_lengths.back(), places.back() * step);
    }
    const Integers at(places.data());
    int error = 0;
    if (lengths == Lengths::one)
      error = unit == Stride::bytes ? make_hindexed_block(count, one, at, *old.type, twin.type)
                                    : make_indexed_block(count, one, at, *old.type, twin.type);
    else
      error = unit == Stride::bytes
                  ? make_hindexed(count, Integers(block_lengths.data()), at, *old.type, twin.type)
                  : make_indexed(count, Integers(block_lengths.data()), at, *old.type, twin.type);
    return finish(error, old, std::move(twin));
  }

  TwinType subarray(int depth) {
    TwinType old = make(depth - 1);
    const std::int64_t dimensions = between(1, 3);
    std::vector<int> sizes, subsizes, starts;
    for (std::int64_t i = 0; i < dimensions; ++i) {
      sizes.push_back(static_cast<int>(between(1, 4)));
      subsizes.push_back(static_cast<int>(between(1, sizes.back())));
      starts.push_back(static_cast<int>(between(0, sizes.back() - subsizes.back())));
    }
    const ArrayOrder order = between(0, 1) == 0 ? ArrayOrder::c : ArrayOrder::fortran;
    TwinType twin;
    append_subarray(twin.naive, old.naive, sizes, subsizes, starts, order);
    const SubarrayShape shape{dimensions, Integers(sizes.data()), Integers(subsizes.data()),
                              Integers(starts.data()), order};
    const int error = make_subarray(shape, *old.type, twin.type);
    return finish(error, old, std::move(twin));
  }

  /// Walks all elements of the subarray in storage order.
  static void append_subarray(NaiveType& naive,
                              const NaiveType& old,
                              std::vector<int> sizes,
                              std::vector<int> subsizes,
                              std::vector<int> starts,
                              ArrayOrder order) {
    if (order == ArrayOrder::c) {
      std::reverse(sizes.begin(), sizes.end());
      std::reverse(subsizes.begin(), subsizes.end());
      std::reverse(starts.begin(), starts.end());
    }
    std::int64_t total = 1;
    std::int64_t selected = 1;
    const std::int64_t extent = old.extent();
    for (const int size : sizes)
      total *= size;
    for (const int subsize : subsizes)
      selected *= subsize;
    for (std::int64_t i = 0; i < selected; ++i) {
      std::int64_t rest = i;
      std::int64_t place = 0;
      std::int64_t stride = 1;
      for (std::size_t d = 0; d < sizes.size(); ++d) {
        place += (starts[d] + rest % subsizes[d]) * stride;
        rest /= subsizes[d];
        stride *= sizes[d];
      }
      naive.append(old, place * extent);
    }
    naive.has_markers = true;
    naive.lb_marker = 0;
    naive.ub_marker = total * extent;
  }

  TwinType resized(int depth) {
    TwinType old = make(depth - 1);
    const std::int64_t lb = between(-20, 20);
    const std::int64_t extent = between(0, 100);
    TwinType twin;
    twin.naive = old.naive;
    twin.naive.has_markers = true;
    twin.naive.lb_marker = lb;
    twin.naive.ub_marker = lb + extent;
    const int error = make_resized(lb, extent, *old.type, twin.type);
    return finish(error, old, std::move(twin));
  }

  TwinType dup(int depth) {
    TwinType old = make(depth - 1);
    TwinType twin;
    twin.naive = old.naive;
    const int error = make_dup(*old.type, twin.type);
    return finish(error, old, std::move(twin));
  }

  TwinType structure(int depth) {
    const std::int64_t count = between(0, 4);
    std::vector<int> lengths;
    std::vector<std::int64_t> places;
    std::vector<MPI_Datatype> handles;
    TwinType twin;
    std::int64_t end = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const TwinType member = make(static_cast<int>(between(0, depth - 1)));
      lengths.push_back(static_cast<int>(between(0, 2)));
      places.push_back(between(0, 1) == 0 ? end : between(-30, 60));
      handles.push_back(handle_of(*member.type));
      end = places.back() + lengths.back() * member.naive.extent();
      twin.naive.append_block(member.naive, lengths.back(), places.back());
    }
    twin.naive.pad();
    const int error = make_struct(count, Integers(lengths.data()), Integers(places.data()),
                                  handles.data(), twin.type);
    SORREL_CHECK(error == MPI_SUCCESS, "%d", error);
    for (const MPI_Datatype handle : handles)
      datatype_from_handle(handle)->release();
    return twin;
  }

  Prng prng_;
};

}  // namespace sorrel::mpi::test
