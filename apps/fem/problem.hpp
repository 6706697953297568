//! The three cases: what holds and pulls a body, and what the answer must be.
#pragma once

#include "chunk.hpp"
#include "mesh.hpp"
#include "options.hpp"

namespace fem {

/// On rank 0. Throws if the body has no flat end at its greatest x.
Supports supports_of(const Mesh& mesh, const Options& options);

/// The displacement of the patch test, a linear function, m.
Vector patch_displacement(const Vector& x);

/// Displacements at the start.
std::vector<Vector> start_of(const Chunk& chunk, const Options& options);

/// Mean displacement along x of the nodes that carry a load, m; 0 without such nodes. Collective.
double mean_elongation(const Chunk& chunk, const std::vector<Vector>& u);

struct Check {
  const char* what = nullptr;  ///< null: this case has no known answer
  double error = 0;            ///< relative
  double error_max = 0;

  bool is_right() const { return what == nullptr || error <= error_max; }
};

/// Compares with the known displacements. Collective.
Check check(const Chunk& chunk,
            const std::vector<Vector>& u,
            const Vector& low,
            const Options& options);

}  // namespace fem
