//! A rank's share of the mesh: elements, the nodes they use, and which of those other ranks use.
//!
//! Nodes on the seams are stored by all ranks that use them, with equal values. A sum over the
//! elements of such a node is the sum of each rank's part in ascending order of ranks. All ranks
//! therefore get the same bits, and each run with the same cut does. Another number of ranks cuts
//! elsewhere, adds in another order and differs by rounding.
#pragma once

#include <cstdint>
#include <mpi.h>
#include <vector>

#include "cut.hpp"
#include "element.hpp"
#include "mesh.hpp"

namespace fem {

/// What holds the body and what pulls it, by node of the whole mesh.
struct Supports {
  std::vector<std::uint8_t> fixed;  ///< bit d: the displacement along d does not change
  std::vector<Vector> loads;        ///< N
};

/// The order of nodes and elements within a chunk.
enum class Order {
  file,  ///< that of the mesh
  near,  ///< elements along Morton's curve, nodes by first use
};

struct SharedNode {
  std::int32_t node;                ///< local
  std::vector<std::int32_t> ranks;  ///< ascending, this one included
};

struct Chunk {
  std::vector<std::int32_t> global_nodes;  ///< by local node
  std::vector<Vector> x;                   ///< m
  std::vector<std::int32_t> global_elements;
  std::vector<Element> elements;  ///< those with shared nodes first
  std::vector<double> centres_x;  ///< by element
  std::size_t seam_element_count = 0;
  std::vector<SharedNode> shared;        ///< by ascending global node
  std::vector<std::uint8_t> is_counted;  ///< by node: 1 on the lowest rank that uses it

  struct Support {
    std::int32_t node;
    std::uint8_t fixed;
    Vector load;
  };

  std::vector<Support> supports;  ///< of nodes that are held or pulled

  /// Sum over all nodes of the body of the product. Collective. May suspend.
  double dot(const std::vector<Vector>& a, const std::vector<Vector>& b) const;
};

/// Rank 0 passes the mesh, all get their chunk. Collective over `comm`. The other ranks pass null.
Chunk distribute(
    const Mesh* mesh, const Cut* cut, const Supports* supports, Order order, MPI_Comm comm);

}  // namespace fem
