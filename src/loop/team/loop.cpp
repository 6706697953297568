#include "loop/team/loop.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "core/process_instance.hpp"
#include "governor/cpu_budget.hpp"
#include "governor/monitor.hpp"
#include "loop/team/fiber_team.hpp"
#include "loop/team/protocol.hpp"
#include "loop/team/thread_team.hpp"
#include "trace/tracer.hpp"

namespace sorrel::loop {

namespace {

/// The helpers of this process, and their monitor.
struct ProcessTeam {
  explicit ProcessTeam(const governor::Settings& settings, std::uint32_t capacity)
      : team(capacity, [this] { monitor.add_thread(); }), monitor(settings, team.controls()) {}

  void deregister() { monitor.deregister(); }

  static void on_fork() {}

  ThreadTeam team;
  governor::Monitor monitor;
};

bool is_part_of_a_job = false;

/// Limit of the loops of a thread without a fiber; 0: none.
constinit thread_local std::uint32_t limit_of_thread = 0;

/// The smaller one of two numbers of threads, of which 0 is none.
std::uint32_t smaller_limit(std::uint32_t one, std::uint32_t other) {
  if (one == 0 || other == 0) return std::max(one, other);
  return std::min(one, other);
}

// A program may request more threads later than at its start.
constexpr std::uint32_t capacity_min = 64;

ProcessTeam* make_process_team() {
  const governor::Settings settings =
      settings_of_environment(governor::read_cpu_budget().thread_count());
  auto* team = new ProcessTeam(settings, std::max(settings.limits.width_max, capacity_min));
  // With peer jobs, the width may begin at one; the monitor must see the peers leave.
  if (team->team.controls().width.load(std::memory_order_relaxed) < settings.limits.width_max)
    team->monitor.begin_watching();
  return team;
}

ProcessTeam& team_of_process() {
  return core::ProcessInstance<ProcessTeam>::get(make_process_team);
}

/// `measured`: the body by which the grain is known.
template <class Team>
int run_in(Team& team,
           Iterations iterations,
           Body body,
           void* argument,
           const LoopOptions& options,
           Body measured) {
  std::uint32_t width = team.controls().width.load(std::memory_order_relaxed);
  if (options.threads_max != 0) width = std::min(width, options.threads_max);
  const SplitOptions split{.schedule = options.schedule,
                           .grain = options.grain,
                           .width = static_cast<std::int32_t>(width),
                           .tuned_grain = team.grain_tuner().tuned_grain(measured)};
  return run_loop(team, {body, argument, ChunkPlan(iterations, split), options.is_shared_only},
                  width - 1);
}

/// A loop of a traced run.
struct TracedLoop {
  Body body;
  void* argument;
  std::int64_t begin;
  GrainTuner& grain_tuner;
};

/// The body of a traced loop: records each chunk where it runs. `loop`: a TracedLoop.
int run_traced_chunk(void* loop, std::int64_t begin, std::int64_t end) {
  const auto& traced = *static_cast<const TracedLoop*>(loop);
  core::Worker* worker = core::Worker::current();
  const std::uint64_t user = trace::name_of(worker->running().user);
  const auto first = static_cast<std::uint64_t>(begin);
  const trace::Record began =
      trace::Record::now(trace::Kind::chunk, user, first, static_cast<std::uint64_t>(end));
  worker->tracer()->add(began);
  const int outcome = traced.body(traced.argument, begin, end);
  // The chunk of a rank may have waited, that of a helper does not leave its worker.
  worker = core::Worker::current();
  const trace::Record ended = trace::Record::now(trace::Kind::chunk_end, user);
  worker->tracer()->add(ended);
  // As run_first() does for the body that it sees, which is this function.
  if (begin == traced.begin) {
    traced.grain_tuner.record(traced.body, end - begin,
                              began.cycles_until(ended.time_and_kind >> trace::Record::kind_bits));
  }
  return outcome;
}

int run_traced(core::Worker& worker,
               FiberTeam& team,
               Iterations iterations,
               Body body,
               void* argument,
               const LoopOptions& options) {
  const std::uint64_t user = trace::name_of(worker.running().user);
  const std::uint64_t code =
      options.code != 0 ? options.code : reinterpret_cast<std::uintptr_t>(body);
  worker.tracer()->add(trace::Record::now(trace::Kind::loop, user, code,
                                          static_cast<std::uint64_t>(iterations.count())));
  TracedLoop loop{.body = body,
                  .argument = argument,
                  .begin = iterations.begin,
                  .grain_tuner = team.grain_tuner()};
  const int outcome = run_in(team, iterations, run_traced_chunk, &loop, options, body);
  core::Worker::current()->tracer()->add(trace::Record::now(trace::Kind::loop_end, user));
  return outcome;
}

/// The worker whose fiber is the caller, or null. May suspend.
core::Worker* worker_of_fiber() {
  // A fiber that is lent goes home.
  static_cast<void>(core::Worker::current_user());
  core::Worker* worker = core::Worker::current();
  return worker != nullptr && worker->in_fiber() ? worker : nullptr;
}

/// The limit of the fiber that `worker` runs, or of the calling thread if it is no worker's.
std::uint32_t& limit_of_caller(core::Worker* worker) {
  return worker != nullptr ? worker->running().loop_threads_max : limit_of_thread;
}

}  // namespace

int run(Iterations iterations, Body body, void* argument, const LoopOptions& given) {
  if (iterations.count() == 0) return go_on;
  core::Worker* worker = worker_of_fiber();
  LoopOptions options = given;
  options.threads_max = smaller_limit(given.threads_max, limit_of_caller(worker));
  if (worker != nullptr) {
    FiberTeam& team = FiberTeam::of(*worker);
    team.monitor().record_use();
    // Bodies may call MPI.
    const core::PinnedFiber pinned;
    if (worker->tracer() != nullptr) [[unlikely]]
      return run_traced(*worker, team, iterations, body, argument, options);
    return run_in(team, iterations, body, argument, options, body);
  }
  if (is_part_of_a_job) {
    if (options.is_shared_only) return not_shared;
    const SplitOptions alone{.schedule = options.schedule, .grain = options.grain, .width = 1};
    return run_alone({body, argument, ChunkPlan(iterations, alone)});
  }
  ProcessTeam& process = team_of_process();
  process.monitor.record_use();
  return run_in(process.team, iterations, body, argument, options, body);
}

std::uint32_t width_now() {
  core::Worker* worker = worker_of_fiber();
  std::uint32_t width = 1;
  if (worker != nullptr) {
    width = FiberTeam::of(*worker).controls().width.load(std::memory_order_relaxed);
  } else if (!is_part_of_a_job) {
    width = team_of_process().team.controls().width.load(std::memory_order_relaxed);
  }
  return smaller_limit(width, limit_of_caller(worker));
}

std::uint32_t limit_threads(std::uint32_t count) {
  return std::exchange(limit_of_caller(worker_of_fiber()), count);
}

std::uint32_t freeze_width(std::optional<std::uint32_t> width) {
  if (core::Worker* worker = worker_of_fiber(); worker != nullptr) {
    if (width) width = std::min(*width, worker->scheduler().worker_count());
    return FiberTeam::of(*worker).monitor().freeze(width);
  }
  if (is_part_of_a_job) return 1;
  ProcessTeam& process = team_of_process();
  if (width) width = std::min(*width, process.team.width());
  return process.monitor.freeze(width);
}

void join_job(const governor::Settings& settings) {
  is_part_of_a_job = true;
  FiberTeam::set_settings(settings);
}

governor::Settings settings_of_environment(std::uint32_t cpus) {
  const auto lookup = [](const char* name) -> const char* { return ::secure_getenv(name); };
  const governor::Settings settings = governor::read_settings(lookup, cpus, ThreadTeam::width_max);
  for (const std::string& diagnostic : settings.diagnostics)
    std::fprintf(stderr, "sorrel: %s\n", diagnostic.c_str());
  return settings;
}

}  // namespace sorrel::loop
