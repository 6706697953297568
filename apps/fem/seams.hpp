//! Sums over the nodes that several ranks share.
//!
//! begin() sends this rank's parts, finish() replaces them by the sums of all ranks' parts, added
//! in ascending order of ranks. Between the two the caller computes what no other rank needs. The
//! messages are persistent requests, one each way for each neighbour.
#pragma once

#include <mpi.h>
#include <vector>

#include "chunk.hpp"

namespace fem {

class Seams {
 public:
  Seams(const Chunk& chunk, MPI_Comm comm);
  ~Seams();
  Seams(const Seams&) = delete;
  Seams& operator=(const Seams&) = delete;

  void begin(const std::vector<Vector>& parts);

  /// Waits for the neighbours' parts, outside of the time that ranks count as work. May suspend.
  void wait();

  /// After wait().
  void finish(std::vector<Vector>& sums);

  int neighbour_count() const { return static_cast<int>(receives_.size()); }

  std::size_t shared_node_count() const { return nodes_.size(); }

 private:
  std::vector<std::int32_t> nodes_;  ///< shared, local numbers
  // By shared node: where its parts are in parts_, in ascending order of ranks.
  std::vector<std::int32_t> starts_, places_;
  // Own parts, then those of each neighbour.
  std::vector<Vector> parts_;
  std::vector<std::int32_t> sent_nodes_;
  std::vector<Vector> sent_;
  std::vector<MPI_Request> receives_, sends_;
};

}  // namespace fem
