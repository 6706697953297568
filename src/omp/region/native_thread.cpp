#include "omp/region/native_thread.hpp"

#include "omp/icv/environment.hpp"
#include "omp/region/region.hpp"
#include "omp/sched/native_group.hpp"

namespace sorrel::omp {

TeamThread& attach_native_thread() {
  Thread& attached = attach_to_group([]() -> Thread& { return *new TeamThread; }, team_hooks);
  auto& thread = static_cast<TeamThread&>(attached);
  thread.icv = environment().icv;
  thread.team = &make_initial_team(thread);
  thread.number = 0;
  return thread;
}

}  // namespace sorrel::omp
