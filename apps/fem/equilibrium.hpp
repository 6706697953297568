//! The displacements at which the forces of the elements balance the loads, by conjugate gradients
//! without a matrix (Hestenes & Stiefel 1952), preconditioned by the diagonal.
#pragma once

#include <vector>

#include "body.hpp"

namespace fem {

struct Equilibrium {
  std::vector<Vector> u;  ///< m
  int iterations = 0;
  double residual = 0;  ///< of the free nodes, over that at the start
};

/// Starts from `u`, whose fixed components stay. Ends when the residual has decreased by
/// `reduction`, or after `iterations_max`. Collective. May suspend.
Equilibrium find_equilibrium(Body& body,
                             std::vector<Vector> u,
                             double reduction,
                             int iterations_max);

}  // namespace fem
