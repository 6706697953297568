//! Perturbation of OpenMP threads at the points where they exchange something:
//! core/perturbation.hpp for the layers above. Empty in every library but the one for tests. The
//! number is that of the caller's worker.
#pragma once

#include "core/perturbation.hpp"

namespace sorrel::omp {

using core::perturb;
using core::PerturbedPoint;
using core::perturbs_choice;

}  // namespace sorrel::omp
