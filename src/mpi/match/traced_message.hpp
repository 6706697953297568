//! Messages in a trace (src/trace). On the worker of the rank, whose tracer exists. Never suspends.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi/match/match_table.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

/// `self` sends a message to rank `destination` of the communicator.
[[gnu::cold]] void trace_send(const RankState& self,
                              const Comm& comm,
                              std::int32_t destination,
                              std::int32_t tag,
                              std::size_t bytes);

/// A message of `bytes` bytes has reached its receive.
[[gnu::cold]] void trace_receive(const Request& receive,
                                 const Envelope& envelope,
                                 std::size_t bytes);

}  // namespace sorrel::mpi
