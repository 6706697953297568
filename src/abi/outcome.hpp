//! The error of a request, as a message for its owner.
#pragma once

#include "mpi/match/request.hpp"

namespace sorrel::abi {

/// Sets the error detail from a request and returns the request's error class.
[[nodiscard, gnu::cold]] int explain(mpi::RankState& self, const mpi::Request& request);

}  // namespace sorrel::abi
