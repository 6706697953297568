//! Gather - a level's right-hand side brought to rank 0, and the solution from there to all.
//!
//! For levels that are too small to be cut. Collective over the level's communicator.
#pragma once

#include "level.hpp"

/// `whole` is the same level uncut; on rank 0 only, null elsewhere.
void gather_right_side(MPI_Comm comm, Level& level, Level* whole);
void scatter_solution(MPI_Comm comm, Level* whole, Level& level);
