//! CartTopology - a grid of ranks: the mapping between coordinates and ranks of a Cartesian
//! communicator.
//!
//! Immutable; shared by the views of its communicator, any thread may read. Ranks are in row-major
//! order: the last coordinate changes fastest. A grid of no dimensions has one rank. Independent of
//! the communicator: PROC_NULL is the only rank outside the grid.
#pragma once

#include <cstdint>
#include <span>

#include "mpi/base/error_detail.hpp"
#include "mpi/comm/topology/topology.hpp"

namespace sorrel::mpi {

class CartTopology final : public Topology {
 public:
  static constexpr Kind own_kind = Kind::cart;
  using Pointer = std::shared_ptr<const CartTopology>;

  /// The two ranks of a shift: the source of the caller's receive, the destination of its send.
  struct Shift {
    int source;
    int destination;
  };

  /// The subgrid of a rank, and its rank there.
  struct Slice {
    int color;
    int key;
  };

  /// A grid for at most `rank_count_max` ranks. MPI_ERR_DIMS: an extent below 1; MPI_ERR_TOPOLOGY:
  /// more cells than ranks.
  [[nodiscard]] static int make(std::span<const int> dims,
                                std::span<const int> periods,
                                int rank_count_max,
                                Pointer* result,
                                ErrorDetail& detail);

  [[nodiscard]] int dimension_count() const { return static_cast<int>(dims_.size()); }

  /// Ranks in the grid.
  [[nodiscard]] int size() const { return size_; }

  [[nodiscard]] int extent(int dimension) const {
    return dims_[static_cast<std::size_t>(dimension)].extent;
  }

  [[nodiscard]] bool is_periodic(int dimension) const {
    return dims_[static_cast<std::size_t>(dimension)].is_periodic;
  }

  /// `coords` has dimension_count() numbers; they wrap around where the grid is periodic, and are
  /// MPI_ERR_ARG elsewhere.
  [[nodiscard]] int rank_of(const int* coords, int* rank, ErrorDetail& detail) const;

  /// `rank` in 0..size()-1; writes the first `count` coordinates, at most dimension_count().
  void coords_of(int rank, int* coords, int count) const;

  /// `rank` in 0..size()-1, `dimension` in 0..dimension_count()-1.
  [[nodiscard]] Shift shift(int rank, int dimension, int displacement) const;

  /// The subgrid that keeps the dimensions whose `remain_dims` is not zero, and the position of
  /// `rank` in it.
  [[nodiscard]] Pointer slice(const int* remain_dims) const;
  [[nodiscard]] Slice slice_of(int rank, const int* remain_dims) const;

  [[nodiscard]] Neighborhood neighborhood_of(int rank) const override;

 private:
  struct Dimension {
    int extent;
    bool is_periodic;
    /// Distance in rank of neighbours in this dimension.
    int stride;
  };

  CartTopology() : Topology(own_kind) {}

  /// Sets the strides and the size of the grid.
  void finish();

  [[nodiscard]] int coordinate_of(int rank, const Dimension& dimension) const {
    return rank / dimension.stride % dimension.extent;
  }

  std::vector<Dimension> dims_;
  int size_ = 1;
};

}  // namespace sorrel::mpi
