#include "loop/team/loop.hpp"

#include <algorithm>
#include <atomic>
#include <pthread.h>

#include "loop/team/fiber_team.hpp"
#include "loop/team/protocol.hpp"
#include "loop/team/thread_team.hpp"
#include "os/cgroup.hpp"
#include "os/cpu_set.hpp"

namespace sorrel::loop {

namespace {

std::atomic<ThreadTeam*> process_team{nullptr};
bool is_part_of_a_job = false;

// How long a helper that has nothing to do looks on.
constexpr std::int64_t spin_ns = 200'000;

std::uint32_t usable_cpus() {
  auto count = static_cast<std::uint32_t>(std::max<std::size_t>(os::allowed_cpus().size(), 1));
  if (const auto quota = os::cpu_quota(); quota)
    count = std::min(count, static_cast<std::uint32_t>(os::whole_cpus(*quota)));
  return count;
}

/// A child process has none of its parent's threads: it begins with a team of its own. The old one
/// stays, since the child may be inside one of its loops.
void forget_team() {
  process_team.store(nullptr, std::memory_order_relaxed);
}

ThreadTeam& make_process_team() {
  auto* mine = new ThreadTeam(usable_cpus());
  mine->controls().spin_ns.store(spin_ns, std::memory_order_relaxed);
  ThreadTeam* first = nullptr;
  // Release, pairs with the acquire in team_of_process(). Acquire when another thread was first.
  if (!process_team.compare_exchange_strong(first, mine, std::memory_order_release,
                                            std::memory_order_acquire)) {
    delete mine;
    return *first;
  }
  static std::atomic_flag has_handler;
  if (!has_handler.test_and_set(std::memory_order_relaxed))
    pthread_atfork(nullptr, nullptr, forget_team);
  return *mine;
}

ThreadTeam& team_of_process() {
  ThreadTeam* team = process_team.load(std::memory_order_acquire);
  return team != nullptr ? *team : make_process_team();
}

template <class Team>
int run_in(
    Team& team, Iterations iterations, Body body, void* argument, const LoopOptions& options) {
  std::uint32_t width = team.controls().width.load(std::memory_order_relaxed);
  if (options.threads_max != 0) width = std::min(width, options.threads_max);
  const SplitOptions split{.schedule = options.schedule,
                           .grain = options.grain,
                           .width = static_cast<std::int32_t>(width)};
  return run_loop(team, {body, argument, ChunkPlan(iterations, split)}, width - 1);
}

/// The worker whose fiber calls, or null.
core::Worker* worker_of_fiber() {
  core::Worker* worker = core::Worker::current();
  return worker != nullptr && worker->in_fiber() ? worker : nullptr;
}

}  // namespace

int run(Iterations iterations, Body body, void* argument, const LoopOptions& options) {
  if (iterations.count() == 0) return go_on;
  if (core::Worker* worker = worker_of_fiber(); worker != nullptr)
    return run_in(FiberTeam::of(*worker), iterations, body, argument, options);
  if (is_part_of_a_job) {
    const SplitOptions alone{.schedule = options.schedule, .grain = options.grain, .width = 1};
    return run_alone({body, argument, ChunkPlan(iterations, alone)});
  }
  return run_in(team_of_process(), iterations, body, argument, options);
}

std::uint32_t width_now() {
  if (core::Worker* worker = worker_of_fiber(); worker != nullptr)
    return FiberTeam::of(*worker).controls().width.load(std::memory_order_relaxed);
  return is_part_of_a_job ? 1 : team_of_process().controls().width.load(std::memory_order_relaxed);
}

void be_part_of_a_job() {
  is_part_of_a_job = true;
}

}  // namespace sorrel::loop
