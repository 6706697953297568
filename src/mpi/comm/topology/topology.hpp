//! Topology - the virtual topology of a communicator, of one of three kinds, and a rank's
//! neighbours in it (MPI 5.0, chapter 8).
//!
//! Immutable, shared by the views of its communicator and of its duplicates; any thread may read.
#pragma once

#include <cstdint>
#include <memory>
#include <mpi.h>
#include <type_traits>
#include <vector>

namespace sorrel::mpi {

/// The edges of one rank, in the order of the blocks of neighbourhood collectives. MPI_PROC_NULL
/// beyond the rim of a grid.
struct Neighborhood {
  std::vector<int> sources;
  std::vector<int> destinations;
  /// A grid: both lists are pairs (negative, positive direction), one for each dimension. What a
  /// rank sends in one direction is what its neighbour receives from the opposite one, also where
  /// both neighbours are the same rank.
  bool is_paired = false;
};

class Topology {
 public:
  enum class Kind : std::uint8_t { cart, graph, dist_graph };
  using Pointer = std::shared_ptr<const Topology>;

  virtual ~Topology() = default;
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  [[nodiscard]] Kind kind() const { return kind_; }

  /// `rank` is the caller's rank in the communicator.
  [[nodiscard]] virtual Neighborhood neighborhood_of(int rank) const = 0;

 protected:
  explicit Topology(Kind kind) : kind_(kind) {}

 private:
  const Kind kind_;
};

/// The topology as one of class T; null if there is none, or one of another kind.
template <class T>
[[nodiscard]] const T* topology_as(const Topology::Pointer& topology) {
  if constexpr (std::is_same_v<T, Topology>) {
    return topology.get();
  } else {
    const bool is_it = topology != nullptr && topology->kind() == T::own_kind;
    return is_it ? static_cast<const T*>(topology.get()) : nullptr;
  }
}

}  // namespace sorrel::mpi
