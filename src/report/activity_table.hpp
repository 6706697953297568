//! ActivityTable - the text of a report of what each rank does. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "report/wait_rows.hpp"
#include "report/wait_table.hpp"

namespace sorrel::report {

// The beginnings of RankWait::state in such a report; some are followed by " on worker 3".
inline constexpr const char* state_running = "runs";
inline constexpr const char* state_blocked = "blocked";  ///< In a system call.
inline constexpr const char* state_ready = "ready";      ///< Runs when its worker gets to it.
inline constexpr const char* state_waiting = "waits";
inline constexpr const char* state_ended = "has ended";

/// A rank whose process sleeps in a system call, and is not asked.
[[nodiscard]] RankWait blocked_rank(std::int32_t rank, std::string call);

/// "2 running, 6 waiting": the number of ranks in each state that some have.
[[nodiscard]] std::string state_counts(const WaitTable& table);

/// A headline with the number of ranks in each state, a row for ranks that do the same, and the
/// heaps of ranks (memory_rows.hpp).
/// `ranks`: "8 ranks", "ranks 0-7 of 16".
[[nodiscard]] std::string activity_table(const WaitTable& table,
                                         const std::string& ranks,
                                         std::int32_t rank_count,
                                         const RowChoice& choice = {});

}  // namespace sorrel::report
