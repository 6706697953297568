//! DeadlockReport - the text of the report when ranks wait for ever. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "report/wait_table.hpp"

namespace sorrel::report {

/// A headline, a table of the waiting ranks (call, peer, tag, communicator, source line) with one
/// row for ranks that wait alike, the messages that no receive matches, and the cycle or the rank
/// where the chain ends.
[[nodiscard]] std::string deadlock_report(const WaitTable& table, std::int32_t rank_count);

}  // namespace sorrel::report
