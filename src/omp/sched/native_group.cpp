#include "omp/sched/native_group.hpp"

#include <iterator>
#include <pthread.h>

#include "omp/sched/group.hpp"
#include "omp/sched/pool.hpp"

namespace sorrel::omp {

namespace {

/// Groups of native threads that have ended: the next native thread takes one over with its fibers
/// and its place in the pool.
struct IdleGroups {
  SpinLock lock;
  Group* first[64] = {};
  std::uint32_t count = 0;
};

constinit IdleGroups idle_groups;

void leave_group(void* argument) {
  auto* thread = static_cast<Thread*>(argument);
  own_thread = nullptr;
  idle_groups.lock.lock();
  const bool is_kept = idle_groups.count < std::size(idle_groups.first);
  if (is_kept) idle_groups.first[idle_groups.count++] = thread->group;
  idle_groups.lock.unlock();
  HelperPool* const pool = pool_if_made();
  if (!is_kept && pool != nullptr) pool->remove(*thread->group);
}

Group* take_idle_group() {
  idle_groups.lock.lock();
  Group* group = idle_groups.count == 0 ? nullptr : idle_groups.first[--idle_groups.count];
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

/// If the calling thread is a rank, the fibers of its group run on the same worker.
void attach_to_job(Group& group) {
  const loop::JobThreads* job = sorrel_job_threads_2 == nullptr ? nullptr : sorrel_job_threads_2();
  if (job == nullptr || !job->is_rank()) return;
  group.job = job;
  group.rank = job->describe();
  group.root.set_thread_pointer_address(job->thread_pointer_address());
}

}  // namespace

Thread& attach_to_group(Thread& (*make_thread)(), const TeamHooks& team_hooks) {
  Group* group = take_idle_group();
  if (group == nullptr) {
    Thread& thread = make_thread();
    group = new Group(thread, team_hooks);
    thread.group = group;
    thread.worker = &group->root;
    attach_to_job(*group);
    group->trace = trace::job_trace();
  }
  group->root.attach_thread(0);
  own_thread = &group->initial;
  pthread_setspecific(end_key(), own_thread);
  return *own_thread;
}

}  // namespace sorrel::omp
