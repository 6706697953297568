//! What two ranks that call MPI_Comm_join tell each other through their socket.
#pragma once

#include <cstdint>
#include <string>

#include "core/worker.hpp"

namespace sorrel::runtime {

struct JoinOffer {
  /// Tells jobs of the machine apart.
  std::uint64_t job = 0;
  std::int32_t rank = 0;
  std::int32_t ticket = 0;
};

/// Sends the own offer and receives that of the other end. Other ranks of the worker run meanwhile.
/// Returns why not, for a user; "": done. May suspend.
[[nodiscard]] std::string exchange_offers(core::Worker& worker,
                                          int descriptor,
                                          const JoinOffer& own,
                                          JoinOffer& theirs);

}  // namespace sorrel::runtime
