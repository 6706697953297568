//! DeadlockReport - who waits for what when everybody waits. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/wait_table.hpp"

namespace sorrel::runtime {

/// A headline, a table of the waiting ranks (call, peer, tag, communicator, source line) with a row
/// for ranks that wait alike, and the cycle or the dead end.
[[nodiscard]] std::string deadlock_report(const WaitTable& table, std::int32_t rank_count);

}  // namespace sorrel::runtime
