//! Relation - the predecessors of a task in another family, as a function of the task's key.
//!
//!   same_tile          the task with the same key
//!   offset(-1, 0)      the task one further down in dimension 0
//!   along_axes(2, 1)   in a space of two dimensions: itself and its neighbours along the axes
//!   all_around(2, 1)   itself and all neighbours, diagonals included
//!   everything         all tasks of the family
//!   at(dim(2), every)  of a family of two dimensions: those whose first coordinate is ours in
//!                      dimension 2, whatever the second; dim(2) - 1 and plain numbers work, too
//!
//! Tasks that a relation names outside the space of their family do not exist and are not waited
//! for. Plain data, any thread.
#pragma once

#include <vector>

#include <sorrel/graph/space.hpp>

namespace sorrel::graph {

/// How one coordinate of the predecessor follows from the key of the successor.
struct Axis {
  /// What the coordinate depends on.
  enum class Kind {
    follows,  ///< the coordinate in `dimension`, plus `offset`
    fixed,    ///< `offset`
    every,    ///< any
  };

  Kind kind = Kind::every;  ///< what the coordinate depends on
  int dimension = 0;        ///< of the successor's key, for `follows`
  Index offset = 0;         ///< added to that coordinate; for `fixed` the coordinate itself

  /// Any coordinate.
  constexpr Axis() = default;

  /// A fixed coordinate.
  ///
  /// @param coordinate of the predecessor
  constexpr Axis(Index coordinate) : kind(Kind::fixed), offset(coordinate) {}  // NOLINT: converts

  /// An axis of any kind.
  ///
  /// @param of_kind what the coordinate depends on
  /// @param of_dimension of the successor's key
  /// @param by added to that coordinate
  constexpr Axis(Kind of_kind, int of_dimension, Index by)
      : kind(of_kind), dimension(of_dimension), offset(by) {}

  constexpr bool operator==(const Axis&) const = default;

  /// @param axis any axis
  /// @param by number of coordinates
  /// @return the axis, further up
  friend constexpr Axis operator+(Axis axis, Index by) {
    axis.offset += by;
    return axis;
  }

  /// @param axis any axis
  /// @param by number of coordinates
  /// @return the axis, further down
  friend constexpr Axis operator-(Axis axis, Index by) {
    axis.offset -= by;
    return axis;
  }
};

/// An axis for at().
///
/// @param dimension of the successor's key
/// @return the coordinate of the successor in that dimension
constexpr Axis dim(int dimension) {
  return {Axis::Kind::follows, dimension, 0};
}

/// Any coordinate.
inline constexpr Axis every{};

/// One axis for each dimension of the predecessor's family.
struct Relation {
  /// In the order of the dimensions.
  std::array<Axis, dimension_count_max> axes{};
  /// Number of axes given; 0: any family, with as many axes as it has dimensions.
  int axis_count = 0;
  /// Both families must have the same number of dimensions.
  bool is_offset = false;
};

/// The predecessors of a task: the union of its relations.
using Relations = std::vector<Relation>;

/// The task at a distance: `offset(-1, 0)` is the one before in dimension 0. Both families have
/// equally many dimensions.
///
/// @param i the distance in dimension 0, in tasks
/// @param j in dimension 1
/// @param k in dimension 2
/// @param l in dimension 3
/// @return a relation for Family::after()
constexpr Relation offset(Index i, Index j = 0, Index k = 0, Index l = 0) {
  return {{dim(0) + i, dim(1) + j, dim(2) + k, dim(3) + l}, 0, true};
}

/// The task with the same key.
inline constexpr Relation same_tile = offset(0);

/// All tasks of the family.
inline constexpr Relation everything{};

/// The tasks whose coordinates follow from those of the successor, one axis for each dimension of
/// the predecessor's family: `at(dim(1), every)`, `at(0)`.
///
/// @param axes dim(), every or a number, one to four of them
/// @return a relation for Family::after()
template <class... Axes>
constexpr Relation at(Axes... axes) {
  static_assert(sizeof...(axes) >= 1 && sizeof...(axes) <= dimension_count_max);
  return {{Axis(axes)...}, static_cast<int>(sizeof...(axes)), false};
}

/// The task itself, and tasks near it along one axis.
///
/// @param dimensions of the space
/// @param radius the largest distance, in tasks
/// @return relations for Family::after()
Relations along_axes(int dimensions, Index radius);

/// The task itself, and tasks near it in every dimension, diagonals included.
///
/// @param dimensions of the space
/// @param radius the largest distance, in tasks
/// @return relations for Family::after()
Relations all_around(int dimensions, Index radius);

}  // namespace sorrel::graph
