/// @file
/// Range and Box: intervals of integers and boxes of them, in C++17. The same types name the parts
/// of loops, the keys of tasks, and the cells of grids.
#ifndef SORREL_BOX_HPP
#define SORREL_BOX_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace sorrel {

/// The integers lo <= i < hi, usable in a range-based for statement:
/// @code
/// for (std::int64_t i : part) sum += x[i];
/// @endcode
struct Range {
  std::int64_t lo = 0;  ///< the first one
  std::int64_t hi = 0;  ///< one past the last

  /// @cond
  /// Steps through the integers of a range.
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = std::int64_t;
    using difference_type = std::ptrdiff_t;
    using pointer = const std::int64_t*;
    using reference = std::int64_t;

    constexpr Iterator() = default;

    constexpr explicit Iterator(std::int64_t value) : value_(value) {}

    constexpr std::int64_t operator*() const { return value_; }

    constexpr Iterator& operator++() {
      ++value_;
      return *this;
    }

    constexpr Iterator operator++(int) { return Iterator(value_++); }

    friend constexpr bool operator==(Iterator one, Iterator other) {
      return one.value_ == other.value_;
    }

    friend constexpr bool operator!=(Iterator one, Iterator other) { return !(one == other); }

   private:
    std::int64_t value_ = 0;
  };

  /// @endcond

  /// @return the number of integers, 0 if hi is not above lo
  constexpr std::int64_t size() const { return hi > lo ? hi - lo : 0; }

  /// @return whether it has no integers
  constexpr bool empty() const { return size() == 0; }

  /// @return an iterator at the first integer
  constexpr Iterator begin() const { return Iterator(lo); }

  /// @return an iterator past the last integer
  constexpr Iterator end() const { return Iterator(lo + size()); }

  friend constexpr bool operator==(const Range& one, const Range& other) {
    return one.lo == other.lo && one.hi == other.hi;
  }

  friend constexpr bool operator!=(const Range& one, const Range& other) { return !(one == other); }
};

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
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Point;
    using difference_type = std::ptrdiff_t;
    using pointer = const Point*;
    using reference = const Point&;

    constexpr Iterator() = default;

    constexpr Iterator(const Box& box, const Point& point, std::int64_t left)
        : box_(box), point_(point), left_(left) {}

    constexpr const Point& operator*() const { return point_; }

    constexpr Iterator& operator++() {
      point_ = box_.next(point_);
      --left_;
      return *this;
    }

    constexpr Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }

    friend constexpr bool operator==(const Iterator& one, const Iterator& other) {
      return one.left_ == other.left_;
    }

    friend constexpr bool operator!=(const Iterator& one, const Iterator& other) {
      return one.left_ != other.left_;
    }

   private:
    Box box_{};
    Point point_{};
    std::int64_t left_ = 0;
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

  /// @return whether it has no points
  constexpr bool empty() const { return count() == 0; }

  /// The box without its last dimensions, for the keys of a graph:
  /// @code
  /// for (auto [i, j] : cells.first<2>()) to(i, j) = from(i, j);
  /// @endcode
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
  constexpr Iterator begin() const { return {*this, lo, count()}; }

  /// @return an iterator past the last point
  constexpr Iterator end() const { return {*this, lo, 0}; }

  friend constexpr bool operator==(const Box& one, const Box& other) {
    for (std::size_t d = 0; d < dimensions; ++d)
      if (one.lo[d] != other.lo[d] || one.hi[d] != other.hi[d]) return false;
    return true;
  }

  friend constexpr bool operator!=(const Box& one, const Box& other) { return !(one == other); }
};

}  // namespace sorrel

#endif
