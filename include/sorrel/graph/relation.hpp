//! Relation - the predecessors of a task in another family, as a function of the task's key.
//!
//!   same_tile          the task with the same key
//!   offset(-1, 0)      the task one further down in dimension 0
//!   star(1), box(1)    itself and its neighbours along the axes, or all around
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

  Kind kind = Kind::every;
  int dimension = 0;
  Index offset = 0;

  /// Any coordinate.
  constexpr Axis() = default;

  /// A fixed coordinate.
  constexpr Axis(Index coordinate) : kind(Kind::fixed), offset(coordinate) {}  // NOLINT: converts

  /// An axis of any kind.
  constexpr Axis(Kind of_kind, int of_dimension, Index by)
      : kind(of_kind), dimension(of_dimension), offset(by) {}

  constexpr bool operator==(const Axis&) const = default;

  /// @return the axis, further up
  friend constexpr Axis operator+(Axis axis, Index by) {
    axis.offset += by;
    return axis;
  }

  /// @return the axis, further down
  friend constexpr Axis operator-(Axis axis, Index by) {
    axis.offset -= by;
    return axis;
  }
};

/// The coordinate of the successor in a dimension.
constexpr Axis dim(int dimension) {
  return {Axis::Kind::follows, dimension, 0};
}

/// Any coordinate.
inline constexpr Axis every{};

/// One axis for each dimension of the predecessor's family.
struct Relation {
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
constexpr Relation offset(Index i, Index j = 0, Index k = 0, Index l = 0) {
  return {{dim(0) + i, dim(1) + j, dim(2) + k, dim(3) + l}, 0, true};
}

/// The task with the same key.
inline constexpr Relation same_tile = offset(0);

/// All tasks of the family.
inline constexpr Relation everything{};

/// The tasks whose coordinates follow from those of the successor, one axis for each dimension of
/// the predecessor's family: `at(dim(1), every)`, `at(0)`.
template <class... Axes>
constexpr Relation at(Axes... axes) {
  static_assert(sizeof...(axes) >= 1 && sizeof...(axes) <= dimension_count_max);
  return {{Axis(axes)...}, static_cast<int>(sizeof...(axes)), false};
}

/// Tasks at most `radius` away along one axis of a space of `dimensions`, and the task itself.
Relations star(int dimensions, Index radius);

/// Tasks at most `radius` away in every dimension, diagonals included, and the task itself.
Relations box(int dimensions, Index radius);

}  // namespace sorrel::graph
