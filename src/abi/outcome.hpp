//! What went wrong with a request, told to its owner.
#pragma once

#include "mpi/p2p/request.hpp"

namespace sorrel::abi {

/// Sets the detail of a request's error and returns its class.
[[nodiscard, gnu::cold]] int explain(mpi::RankState& self, const mpi::Request& request);

}  // namespace sorrel::abi
