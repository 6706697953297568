#include "omp/sched/native_group.hpp"

#include <algorithm>
#include <iterator>
#include <pthread.h>
#include <unistd.h>

#include "omp/sched/group.hpp"
#include "omp/sched/pool.hpp"
#include "os/sched_stat.hpp"

namespace sorrel::omp {

namespace {

/// Groups of native threads that have ended: the next native thread takes one over with its place
/// in the pool.
struct IdleGroups {
  SpinLock lock;
  /// Threads of the program that have a group, or had one when they ended inside a region.
  std::uint32_t attached_count = 0;
  bool has_main_ended = false;
  bool has_main_key = false;
  pthread_key_t main_key = 0;
  Group* first[64] = {};
  std::uint32_t count = 0;
  /// Group::critical_name of the threads of a process whose ranks do not share it.
  void* name_in_process = nullptr;
};

constinit IdleGroups idle_groups;

/// Under the lock: no thread needs the pool, and the C library counts its threads.
void end_pool_if_unused() {
  if (idle_groups.has_main_ended && idle_groups.attached_count == 0) end_pool();
}

void leave_group(void* argument) {
  auto* thread = static_cast<Thread*>(argument);
  Group& group = *thread->group;
  // A child process has none of its parent's fibers.
  if (group.job == nullptr && own_thread != thread) return;
  // The fibers of a rank that shares its process cannot end on threads that are no worker's.
  if (group.job == nullptr && !group.hooks.end_fibers(*thread)) return;
  group.hooks.leave(*thread);
  own_thread = nullptr;
  idle_groups.lock.lock();
  const bool is_kept = idle_groups.count < std::size(idle_groups.first);
  if (is_kept) idle_groups.first[idle_groups.count++] = &group;
  HelperPool* const pool = pool_if_made();
  if (!is_kept && pool != nullptr) pool->remove(group);
  --idle_groups.attached_count;
  end_pool_if_unused();
  idle_groups.lock.unlock();
}

void leave_main(void*) {
  idle_groups.lock.lock();
  idle_groups.has_main_ended = true;
  end_pool_if_unused();
  idle_groups.lock.unlock();
}

/// Counts the caller, and returns an idle group of its rank, or null. The fibers of another rank's
/// group have that rank's thread-locals.
Group* take_idle_group(void** critical_name) {
  idle_groups.lock.lock();
  ++idle_groups.attached_count;
  Group** const end = idle_groups.first + idle_groups.count;
  Group** const found = std::find_if(idle_groups.first, end, [&](const Group* group) {
    return group->critical_name == critical_name;
  });
  Group* group = nullptr;
  if (found != end) {
    group = *found;
    *found = idle_groups.first[--idle_groups.count];
  }
  idle_groups.lock.unlock();
  return group;
}

pthread_key_t end_key() {
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    pthread_key_create(&made, leave_group);
    return made;
  }();
  return key;
}

/// The constructor runs on the main thread, unless a further thread opens the library.
[[gnu::constructor]] void watch_main_thread() {
  idle_groups.has_main_key = pthread_key_create(&idle_groups.main_key, leave_main) == 0;
  if (!idle_groups.has_main_key) return;
  if (os::thread_number() == getpid()) pthread_setspecific(idle_groups.main_key, &idle_groups);
  pthread_atfork(nullptr, nullptr, [] {
    // The forking thread is the child's main thread, and its only one. If there is a pool,
    // HelperPool::on_fork() detaches the thread from its group next.
    idle_groups.lock.unlock();
    idle_groups.has_main_ended = false;
    idle_groups.attached_count = own_thread != nullptr && pool_if_made() == nullptr ? 1 : 0;
    pthread_setspecific(idle_groups.main_key, &idle_groups);
  });
}

/// Null if the calling thread is not one of a rank that shares its process.
const loop::JobThreads* job_of_caller() {
  const loop::JobThreads* job = sorrel_job_threads_3 == nullptr ? nullptr : sorrel_job_threads_3();
  return job != nullptr && job->is_rank() ? job : nullptr;
}

/// The fibers of a rank's group run on the rank's worker.
void attach_to_job(Group& group, const loop::JobThreads& job) {
  group.job = &job;
  group.rank = job.describe();
  group.root.set_thread_pointer_address(job.thread_pointer_address());
}

}  // namespace

Thread& attach_to_group(Thread& (*make_thread)(), const TeamHooks& team_hooks) {
  const loop::JobThreads* const job = job_of_caller();
  void** const critical_name = job == nullptr ? &idle_groups.name_in_process : job->critical_name();
  Group* group = take_idle_group(critical_name);
  if (group == nullptr) {
    Thread& thread = make_thread();
    group = new Group(thread, team_hooks);
    thread.group = group;
    thread.worker = &group->root;
    group->critical_name = critical_name;
    if (job != nullptr) attach_to_job(*group, *job);
    group->trace = trace::job_trace();
  }
  group->root.attach_thread(0);
  own_thread = &group->initial;
  pthread_setspecific(end_key(), own_thread);
  return *own_thread;
}

}  // namespace sorrel::omp
