//! Give-up requests - SIGUSR2 asks a process to give up its ranks, and to take some again the next
//! time. RankMover does it in a step.
#pragma once

namespace sorrel::runtime {

/// Once, before any rank runs.
void watch_for_give_up();

/// Whether the process is to be given up.
[[nodiscard]] bool is_give_up_wanted();

}  // namespace sorrel::runtime
