//! dims_create - extents of a grid for a number of ranks, as close to each other as possible.
//!
//! Pure; any thread. "Close" is the difference between the largest and the smallest extent, the
//! quality that Träff and Lübbe ask of MPI_Dims_create ("Specification Guideline Violations by
//! MPI_Dims_create", EuroMPI 2015). Among grids with the same difference the one with the smallest
//! sum, and so the smallest faces, wins, then the one with the smallest ratio. The search visits
//! every factorisation that can still win: 10^9 ranks take about a millisecond.
#pragma once

#include <span>

#include "mpi/base/error_detail.hpp"

namespace sorrel::mpi {

/// Fills the zero entries of `dims` in non-increasing order, so that the product of all entries is
/// `rank_count`; other entries stay. MPI_ERR_ARG: no ranks. MPI_ERR_DIMS: a negative entry, or a
/// product of the entries given that does not divide the ranks. `dims` changes only on success.
[[nodiscard]] int dims_create(int rank_count, std::span<int> dims, ErrorDetail& detail);

}  // namespace sorrel::mpi
