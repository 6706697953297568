#include "omp/region/native_thread.hpp"

#include "omp/icv/environment.hpp"
#include "omp/region/bound_threads.hpp"
#include "omp/region/other_libraries.hpp"
#include "omp/region/region.hpp"
#include "omp/region/tool_queries.hpp"
#include "omp/sched/native_group.hpp"

namespace sorrel::omp {

TeamThread& attach_native_thread() {
  start_tool({.find_inquiry = find_tool_query, .end_thread = tell_thread_end});
  // The tool may have made the thread an OpenMP thread.
  if (own_thread != nullptr) {
    auto& attached = static_cast<TeamThread&>(*own_thread);
    if (has_tool() && attached.team->tool_tasks == nullptr) observe_native(attached);
    return attached;
  }
  Thread& attached = attach_to_group([]() -> Thread& { return *new TeamThread; }, team_hooks);
  auto& thread = static_cast<TeamThread&>(attached);
  thread.icv = environment().icv;
  thread.team = &make_initial_team(thread);
  thread.number = 0;
  if (environment().requests_binding()) bind_native(thread);
  if (has_tool()) observe_native(thread);
  report_other_libraries_at_end();
  return thread;
}

}  // namespace sorrel::omp
