//! Bound threads - the places of threads in their teams, and how threads are bound to them.
//!
//! A thread that is bound has a kernel thread of its own (sched/own_thread.hpp), which may run on
//! the processors of its place. On the thread itself, except where stated.
#pragma once

#include "omp/icv/binding.hpp"
#include "omp/team/team.hpp"
#include "omp/team/team_thread.hpp"

namespace sorrel::omp {

/// That of the process.
[[nodiscard]] const Binding& binding_of(const TeamThread& thread);

/// bind-var of the thread.
[[nodiscard]] Bind bind_of(const TeamThread& thread);

/// The place of the thread and its partition, if threads are bound.
[[nodiscard]] MemberPlace place_of(const TeamThread& thread);

/// A thread of the program that begins to use OpenMP gets the first place, if threads are bound.
void bind_native(TeamThread& thread);

/// By the master, before its team begins: distributes the team over places, and decides whether it
/// displays its affinity.
void prepare_affinity(TeamThread& master, NestLevel& nest_level, Team& team);

/// As the thread begins in a team with affinity. May suspend.
void enter_with_affinity(TeamThread& thread);

}  // namespace sorrel::omp
