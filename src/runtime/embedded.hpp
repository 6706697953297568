//! Ranks inside a C++ program: each runs a function of the caller instead of a privatized
//! executable.
//!
//! For tests and benchmarks. The ranks share the program's globals.
#pragma once

#include <functional>

#include "runtime/config.hpp"

namespace sorrel::runtime {

/// Runs body(rank) in `config.rank_count` ranks and returns the largest of their results. The body
/// calls MPI_Init and MPI_Finalize as a program would. Not from inside a rank.
int run_embedded(const Config& config, const std::function<int(int rank)>& body);

}  // namespace sorrel::runtime
