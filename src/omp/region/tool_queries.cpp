#include "omp/region/tool_queries.hpp"

#include <algorithm>
#include <cstring>

#include "omp/icv/environment.hpp"
#include "omp/region/bound_threads.hpp"
#include "omp/tasking/tool_events.hpp"
#include "os/cpu_set.hpp"

namespace sorrel::omp {

namespace {

constexpr int is_unavailable = 0;
constexpr int is_known = 2;

TeamThread* caller() {
  return static_cast<TeamThread*>(own_thread);
}

ompt::Data* get_thread_data() {
  TeamThread* const thread = caller();
  return thread == nullptr ? nullptr : &thread->tool_data;
}

/// A task with its place in a team.
struct Position {
  const Task* task;
  Team* team;
  std::uint32_t number;
};

/// To the task around this one on the thread: that which it had when it began this one, or which
/// encountered the region. False: there is none.
bool go_outwards(Position& position) {
  if (position.task->level != 0) {
    position.task = tool_task_of(*position.task).context;
    return position.task != nullptr;
  }
  if (position.team->level == 0) return false;
  const TeamState& outer = position.team->outer_state;
  position = {outer.task, outer.team, outer.number};
  return true;
}

int get_task_info(int level,
                  int* flags,
                  ompt::Data** task_data,
                  ompt::Frame** frame,
                  ompt::Data** parallel_data,
                  int* thread_number) {
  const TeamThread* const thread = caller();
  if (thread == nullptr || level < 0) return is_unavailable;
  Position position{thread->task, thread->team, thread->number};
  for (; level > 0; --level) {
    if (!go_outwards(position)) return is_unavailable;
  }
  const Task& task = *position.task;
  if (flags != nullptr) *flags = static_cast<int>(tool_task_of(task).flags);
  if (task_data != nullptr) *task_data = &tool_task_of(task).data;
  if (frame != nullptr) *frame = &tool_task_of(task).frame;
  if (parallel_data != nullptr) *parallel_data = &position.team->tool_data;
  if (thread_number != nullptr) *thread_number = static_cast<int>(position.number);
  return is_known;
}

int get_parallel_info(int level, ompt::Data** parallel_data, int* team_size) {
  const TeamThread* const thread = caller();
  if (thread == nullptr || level < 0) return is_unavailable;
  Team* team = thread->team;
  for (; level > 0 && team != nullptr; --level)
    team = team->parent;
  if (team == nullptr) return is_unavailable;
  if (parallel_data != nullptr) *parallel_data = &team->tool_data;
  if (team_size != nullptr) *team_size = static_cast<int>(team->size);
  return is_known;
}

int get_state(std::uint64_t* wait_id) {
  constexpr int work_serial = 0;
  constexpr int work_parallel = 1;
  constexpr int undefined = 0x102;
  if (wait_id != nullptr) *wait_id = 0;
  const TeamThread* const thread = caller();
  if (thread == nullptr) return undefined;
  if (thread->tool_state != TeamThread::no_tool_state) return static_cast<int>(thread->tool_state);
  return thread->team->level == 0 ? work_serial : work_parallel;
}

struct State {
  int number;
  const char* name;
};

constexpr State states[] = {{0x000, "ompt_state_work_serial"},
                            {0x001, "ompt_state_work_parallel"},
                            {0x002, "ompt_state_work_reduction"},
                            {0x011, "ompt_state_wait_barrier_implicit_parallel"},
                            {0x012, "ompt_state_wait_barrier_implicit_workshare"},
                            {0x014, "ompt_state_wait_barrier_explicit"},
                            {0x015, "ompt_state_wait_barrier_implementation"},
                            {0x020, "ompt_state_wait_taskwait"},
                            {0x021, "ompt_state_wait_taskgroup"},
                            {0x041, "ompt_state_wait_lock"},
                            {0x042, "ompt_state_wait_critical"},
                            {0x043, "ompt_state_wait_atomic"},
                            {0x044, "ompt_state_wait_ordered"}};

/// The first one comes after the undefined state, which is not listed: the list would not end.
int enumerate_states(int current, int* next, const char** name) {
  constexpr int undefined = 0x102;
  const State* at = std::begin(states);
  if (current != undefined) {
    at = std::ranges::find(states, current, &State::number);
    if (at == std::end(states)) return 0;
    ++at;
  }
  if (at == std::end(states)) return 0;
  *next = at->number;
  *name = at->name;
  return 1;
}

int enumerate_mutex_implementations(int current, int* next, const char** name) {
  constexpr int none = 0;
  if (current != none) return 0;
  *next = 1;
  *name = "sorrel_mutex";
  return 1;
}

int get_num_procs() {
  return static_cast<int>(environment().cpus);
}

const std::vector<Place>* places() {
  const TeamThread* const thread = caller();
  return thread == nullptr ? nullptr : &binding_of(*thread).places;
}

int get_num_places() {
  const std::vector<Place>* const list = places();
  return list == nullptr ? 0 : static_cast<int>(list->size());
}

/// Both return how many there are, and write at most so many as there is room for.
int get_place_proc_ids(int number, int room, int* ids) {
  if (number < 0 || number >= get_num_places()) return 0;
  const Place& place = (*places())[static_cast<std::size_t>(number)];
  std::copy_n(place.begin(), std::min(place.size(), static_cast<std::size_t>(std::max(room, 0))),
              ids);
  return static_cast<int>(place.size());
}

int get_place_num() {
  return get_num_places() == 0 ? -1 : static_cast<int>(place_of(*caller()).number);
}

int get_partition_place_nums(int room, int* numbers) {
  if (get_num_places() == 0) return 0;
  const MemberPlace own = place_of(*caller());
  for (std::uint32_t i = 0; i < own.count && static_cast<int>(i) < room; ++i)
    numbers[i] = static_cast<int>(own.first + i);
  return static_cast<int>(own.count);
}

int get_proc_id() {
  return caller() == nullptr ? -1 : os::current_cpu();
}

int get_num_devices() {
  return 1;
}

int get_target_info(std::uint64_t*, std::uint64_t*, std::uint64_t*) {
  return 0;
}

int get_task_memory(void**, std::size_t*, int) {
  return 0;
}

struct Query {
  const char* name;
  ompt::Function function;
};

template <class Function>
ompt::Function erased(Function* function) {
  return reinterpret_cast<ompt::Function>(function);
}

}  // namespace

ompt::Function find_tool_query(const char* name) {
  const Query queries[] = {{"ompt_get_thread_data", erased(get_thread_data)},
                           {"ompt_get_task_info", erased(get_task_info)},
                           {"ompt_get_parallel_info", erased(get_parallel_info)},
                           {"ompt_get_state", erased(get_state)},
                           {"ompt_enumerate_states", erased(enumerate_states)},
                           {"ompt_enumerate_mutex_impls", erased(enumerate_mutex_implementations)},
                           {"ompt_get_num_procs", erased(get_num_procs)},
                           {"ompt_get_num_places", erased(get_num_places)},
                           {"ompt_get_place_proc_ids", erased(get_place_proc_ids)},
                           {"ompt_get_place_num", erased(get_place_num)},
                           {"ompt_get_partition_place_nums", erased(get_partition_place_nums)},
                           {"ompt_get_proc_id", erased(get_proc_id)},
                           {"ompt_get_num_devices", erased(get_num_devices)},
                           {"ompt_get_target_info", erased(get_target_info)},
                           {"ompt_get_task_memory", erased(get_task_memory)}};
  const Query* const found = std::ranges::find_if(
      queries, [&](const Query& query) { return std::strcmp(query.name, name) == 0; });
  return found == std::end(queries) ? nullptr : found->function;
}

}  // namespace sorrel::omp
