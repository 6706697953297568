/// @file
/// Range and Box: intervals of integers and boxes of them. The same types name the parts of loops,
/// the keys of tasks, and the cells of grids. Both are random access ranges and views.
#pragma once

#include <array>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <ranges>

#include <sorrel/require_cxx20.hpp>

namespace sorrel {

namespace detail {

/// What an iterator over numbered things needs beside its position: operators in terms of
/// move_by() and distance_from(). `Iterator` derives from it.
template <class Iterator>
class ByPosition {
 public:
  using difference_type = std::ptrdiff_t;
  using iterator_concept = std::random_access_iterator_tag;
  /// Values are made where they are read, which C++17 calls input.
  using iterator_category = std::input_iterator_tag;

  constexpr auto operator[](difference_type by) const { return *(self() + by); }

  friend constexpr Iterator& operator+=(Iterator& iterator, difference_type by) {
    iterator.move_by(by);
    return iterator;
  }

  friend constexpr Iterator& operator-=(Iterator& iterator, difference_type by) {
    return iterator += -by;
  }

  friend constexpr Iterator& operator--(Iterator& iterator) { return iterator += -1; }

  friend constexpr Iterator operator++(Iterator& iterator, int) {
    Iterator before = iterator;
    ++iterator;
    return before;
  }

  friend constexpr Iterator operator--(Iterator& iterator, int) {
    Iterator before = iterator;
    --iterator;
    return before;
  }

  friend constexpr Iterator operator+(Iterator iterator, difference_type by) {
    return iterator += by;
  }

  friend constexpr Iterator operator+(difference_type by, Iterator iterator) {
    return iterator += by;
  }

  friend constexpr Iterator operator-(Iterator iterator, difference_type by) {
    return iterator -= by;
  }

  friend constexpr difference_type operator-(const Iterator& one, const Iterator& other) {
    return one.distance_from(other);
  }

  friend constexpr bool operator==(const Iterator& one, const Iterator& other) {
    return one.distance_from(other) == 0;
  }

  friend constexpr std::strong_ordering operator<=>(const Iterator& one, const Iterator& other) {
    return one.distance_from(other) <=> 0;
  }

 private:
  constexpr const Iterator& self() const { return static_cast<const Iterator&>(*this); }
};

}  // namespace detail

/// The integers lo <= i < hi of a type, at most 2^63 - 1 of them, usable in a range-based for
/// statement:
/// @code
/// for (std::int64_t i : part) sum += x[i];
/// @endcode
template <std::integral Index>
struct BasicRange {
  Index lo = 0;  ///< the first one
  Index hi = 0;  ///< one past the last

  /// @cond
  /// Steps through the integers of a range.
  class Iterator : public detail::ByPosition<Iterator> {
   public:
    using value_type = Index;
    using reference = Index;

    constexpr Iterator() = default;

    constexpr explicit Iterator(Index value) : value_(value) {}

    constexpr Index operator*() const { return value_; }

    constexpr Iterator& operator++() {
      ++value_;
      return *this;
    }

    constexpr void move_by(std::ptrdiff_t by) {
      value_ =
          static_cast<Index>(static_cast<std::uint64_t>(value_) + static_cast<std::uint64_t>(by));
    }

    constexpr std::ptrdiff_t distance_from(const Iterator& other) const {
      return static_cast<std::ptrdiff_t>(static_cast<std::uint64_t>(value_) -
                                         static_cast<std::uint64_t>(other.value_));
    }

   private:
    Index value_ = 0;
  };

  /// @endcond

  /// @return the number of integers, 0 if hi is not above lo
  constexpr std::int64_t size() const {
    return hi > lo ? static_cast<std::int64_t>(static_cast<std::uint64_t>(hi) -
                                               static_cast<std::uint64_t>(lo))
                   : 0;
  }

  /// @return whether it has no integers
  constexpr bool empty() const { return hi <= lo; }

  /// @return an iterator at the first integer
  constexpr Iterator begin() const { return Iterator(lo); }

  /// @return an iterator past the last integer
  constexpr Iterator end() const { return Iterator(empty() ? lo : hi); }

  friend constexpr bool operator==(const BasicRange&, const BasicRange&) = default;
};

/// The integers lo <= i < hi, of 64 bits.
using Range = BasicRange<std::int64_t>;

/// The points with lo <= point < hi in each of `dimensions`, usable in a range-based for statement.
/// Points are numbered with the last dimension fastest:
/// @code
/// for (auto [i, j] : sorrel::Box<2>{{0, 0}, {rows, columns}}) a(i, j) = 0;
/// @endcode
template <std::size_t dimensions>
struct Box {
  static_assert(dimensions >= 1, "a Box has at least one dimension");

  /// The coordinates of a point.
  using Point = std::array<std::int64_t, dimensions>;

  Point lo{};  ///< the first point
  Point hi{};  ///< one past the last coordinate of each dimension

  /// @cond
  /// Steps through the points of a box.
  class Iterator : public detail::ByPosition<Iterator> {
   public:
    using value_type = Point;
    using reference = Point;

    constexpr Iterator() = default;

    constexpr Iterator(const Box& box, std::int64_t position)
        : box_(box), point_(box.lo), position_(position) {}

    constexpr Point operator*() const { return point_; }

    constexpr Iterator& operator++() {
      point_ = box_.next(point_);
      ++position_;
      return *this;
    }

    constexpr void move_by(std::ptrdiff_t by) {
      position_ += by;
      if (position_ >= 0 && position_ < box_.count()) point_ = box_.key_at(position_);
    }

    constexpr std::ptrdiff_t distance_from(const Iterator& other) const {
      return position_ - other.position_;
    }

   private:
    Box box_{};
    Point point_{};
    std::int64_t position_ = 0;
  };

  /// @endcond

  /// @param lo the first point
  /// @param extents the number of coordinates in each dimension
  /// @return the box from that point on
  static constexpr Box at(const Point& lo, const Point& extents) {
    Box box{lo, lo};
    for (std::size_t d = 0; d < dimensions; ++d)
      box.hi[d] += extents[d];
    return box;
  }

  /// @param dimension 0 <= dimension < dimensions
  /// @return the coordinates of that dimension
  constexpr Range operator[](std::size_t dimension) const { return {lo[dimension], hi[dimension]}; }

  /// @param dimension 0 <= dimension < dimensions
  /// @return the number of coordinates in that dimension
  constexpr std::int64_t extent(std::size_t dimension) const { return (*this)[dimension].size(); }

  /// @return the number of coordinates in each dimension
  constexpr Point extents() const {
    Point result{};
    for (std::size_t d = 0; d < dimensions; ++d)
      result[d] = extent(d);
    return result;
  }

  /// @return the number of points
  constexpr std::int64_t count() const {
    std::int64_t result = 1;
    for (std::size_t d = 0; d < dimensions; ++d)
      result *= hi[d] > lo[d] ? hi[d] - lo[d] : 0;
    return result;
  }

  /// @return count(), as ranges call it
  constexpr std::int64_t size() const { return count(); }

  /// @return whether it has no points
  constexpr bool empty() const { return count() == 0; }

  /// The box without its last dimensions.
  ///
  /// @return the box of the first `count` dimensions
  template <std::size_t count>
  constexpr Box<count> first() const {
    static_assert(count <= dimensions, "a Box has no more dimensions");
    Box<count> box;
    for (std::size_t d = 0; d < count; ++d) {
      box.lo[d] = lo[d];
      box.hi[d] = hi[d];
    }
    return box;
  }

  /// @param point any point
  /// @return whether the box has it
  constexpr bool contains(const Point& point) const {
    for (std::size_t d = 0; d < dimensions; ++d)
      if (point[d] < lo[d] || point[d] >= hi[d]) return false;
    return true;
  }

  /// @param position 0 <= position < count()
  /// @return the point at that position
  constexpr Point key_at(std::int64_t position) const {
    Point key{};
    for (std::size_t d = dimensions; d-- > 0;) {
      const std::int64_t size = hi[d] - lo[d];
      key[d] = lo[d] + position % size;
      position /= size;
    }
    return key;
  }

  /// @param key a point of the box
  /// @return the point after it; unspecified after the last one
  constexpr Point next(Point key) const {
    for (std::size_t d = dimensions; d-- > 0;) {
      if (++key[d] < hi[d]) break;
      key[d] = lo[d];
    }
    return key;
  }

  /// @return an iterator at the first point
  constexpr Iterator begin() const { return {*this, 0}; }

  /// @return an iterator past the last point
  constexpr Iterator end() const { return {*this, count()}; }

  friend constexpr bool operator==(const Box&, const Box&) = default;
};

}  // namespace sorrel

/// @cond
// Iterators hold what they need of a range or a box, which are cheap to copy.
template <std::integral Index>
inline constexpr bool std::ranges::enable_borrowed_range<sorrel::BasicRange<Index>> = true;
template <std::size_t dimensions>
inline constexpr bool std::ranges::enable_borrowed_range<sorrel::Box<dimensions>> = true;
template <std::integral Index>
inline constexpr bool std::ranges::enable_view<sorrel::BasicRange<Index>> = true;
template <std::size_t dimensions>
inline constexpr bool std::ranges::enable_view<sorrel::Box<dimensions>> = true;
/// @endcond
