// mp_numthreads, mp_set_numthreads: IRIX's names, for C and Fortran. A call freezes the number of
// threads.
#include <algorithm>
#include <cstdint>
#include <optional>

#include "omp/entry/entry_point.hpp"
#include "omp/region/native_thread.hpp"
#include "omp/region/region.hpp"
#include "omp/sched/group.hpp"
#include "omp/sched/pool.hpp"

namespace {

using namespace sorrel::omp;

/// Returns the number of threads that the next region has.
int freeze(std::optional<std::uint32_t> count) {
  TeamThread& thread = this_thread();
  if (count) thread.icv.thread_count = *count;
  // The threads of a rank are workers of its job.
  if (thread.group->job == nullptr) pool().freeze(count);
  return static_cast<int>(resolve_team_size(thread, 0));
}

void set(int count) {
  freeze(static_cast<std::uint32_t>(std::max(count, 1)));
}

}  // namespace

SORREL_ENTRY_POINT int mp_numthreads() {
  return freeze(std::nullopt);
}

SORREL_ENTRY_POINT int mp_numthreads_() {
  return freeze(std::nullopt);
}

SORREL_ENTRY_POINT void mp_set_numthreads(int count) {
  set(count);
}

SORREL_ENTRY_POINT void mp_set_numthreads_(const std::int32_t* count) {
  set(*count);
}
