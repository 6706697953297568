//! The equations of a chunk: forces of its elements, masses, and a zone of costly elements.
#pragma once

#include <mpi.h>

#include "chunk.hpp"
#include "seams.hpp"

namespace fem {

/// A slab across the body in which the stress follows the iterated law. It moves along x to the
/// far end and back, once in a period.
struct Zone {
  double width = 0;  ///< part of the body's length; 0: no zone
  int iterations = 32;
  int period_steps = 1000;
  double low = 0, high = 0;  ///< of the body along x, m

  bool exists() const { return width > 0; }

  /// Where its middle is in a step, m.
  double middle(int step) const;
};

class Body {
 public:
  /// Collective. May suspend.
  Body(const Chunk& chunk, const Material& material, const Zone& zone, MPI_Comm comm);

  /// f = K u, where `f` is 0 before. While the parts of shared nodes travel, the elements without
  /// such nodes are computed. May suspend.
  void add_forces(const std::vector<Vector>& u, int step, std::vector<Vector>& f);

  /// The stress of each element, Pa.
  std::vector<Symmetric> stresses(const std::vector<Vector>& u, int step) const;

  /// The least bound of all elements of the body, s.
  double stable_step() const { return stable_step_; }

  const std::vector<double>& inverse_masses() const { return inverse_masses_; }  ///< 1/kg

  /// The diagonal of K, N/m, for a preconditioner. Collective. May suspend.
  std::vector<Vector> diagonal();

  const Chunk& chunk() const { return chunk_; }

  const Seams& seams() const { return seams_; }

  /// Time spent in elements and sums since the start, without waiting, s.
  double work_seconds = 0;

 private:
  void add_range(const std::vector<Vector>& u,
                 int step,
                 std::size_t begin,
                 std::size_t end,
                 std::vector<Vector>& f) const;

  const Chunk& chunk_;
  Material material_;
  Zone zone_;
  Seams seams_;
  std::vector<double> inverse_masses_;
  double stable_step_ = 0;
};

}  // namespace fem
