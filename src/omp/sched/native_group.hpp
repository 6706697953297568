//! Native groups - the groups of the threads of the program, one each.
//!
//! When such a thread ends, the next new one takes the group over with its fibers.
#pragma once

#include "omp/sched/group.hpp"

namespace sorrel::omp {

/// Gives the calling thread of the program a group, whose first thread it is: a new one from
/// make_thread(), or that of a thread that has ended.
[[nodiscard]] Thread& attach_to_group(Thread& (*make_thread)(), const TeamHooks& team_hooks);

}  // namespace sorrel::omp
