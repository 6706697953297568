//! Native groups - the groups of the threads of the program, one each.
//!
//! When such a thread ends, its fibers end, too, and the next new thread takes the group over. In a
//! rank that shares its process, the fibers stay. When the main thread has ended and no thread of
//! the program has a group, the helpers end: the C library ends a process with its last thread.
#pragma once

#include "omp/sched/group.hpp"

namespace sorrel::omp {

/// Gives the calling thread of the program a group, whose first thread it is: a new one from
/// make_thread(), or that of a thread that has ended.
[[nodiscard]] Thread& attach_to_group(Thread& (*make_thread)(), const TeamHooks& team_hooks);

}  // namespace sorrel::omp
