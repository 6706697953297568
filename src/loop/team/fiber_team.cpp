#include "loop/team/fiber_team.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "arch/cpu.hpp"
#include "core/poll_limit.hpp"
#include "loop/team/protocol.hpp"
#include "os/clock.hpp"

namespace sorrel::loop {

namespace {

constexpr std::int64_t wake_cost_ns = 20'000;
// Polls of a caller for helpers in their last chunk before it lets other fibers run.
constexpr std::uint32_t end_polls = 64;

// The settings of the job's user; without any, all workers.
std::optional<governor::Settings> job_settings;

/// The settings of a job with so many workers.
governor::Settings settings_of(std::uint32_t worker_count) {
  governor::Settings settings;
  settings.limits.share = governor::Share::fixed;
  settings.limits.width_max = worker_count;
  if (job_settings) settings = *job_settings;
  settings.limits.width_max = std::min(settings.limits.width_max, worker_count);
  settings.limits.width_min = std::min(settings.limits.width_min, settings.limits.width_max);
  return settings;
}

/// Settings where the threads also run fibers: the user's limit on threads applies to loops.
governor::Settings settings_of(std::uint32_t worker_count, FiberTeam::Governed governed) {
  governor::Settings settings = settings_of(worker_count);
  if (governed == FiberTeam::Governed::loops) return settings;
  settings.loop_width_max = std::exchange(settings.limits.width_max, worker_count);
  settings.limits.width_min = 1;
  settings.limits.has_fibers = true;
  return settings;
}

}  // namespace

FiberTeam::FiberTeam(core::Scheduler& scheduler, Governed governed)
    : scheduler_(scheduler),
      wake_cost_cycles_(clock_.cycles_in(wake_cost_ns)),
      grain_tuner_(clock_.cycles_in(GrainTuner::chunk_ns_min)),
      sleeps_(LoopTable::slot_count_max),
      stacks_(scheduler.worker_count(), job_settings ? job_settings->stack_bytes : 0),
      spin_ns_max_(scheduler.spin_ns_max()),
      monitor_(settings_of(scheduler.worker_count(), governed), controls_) {
  if (governed == Governed::fibers) monitor_.set_on_tick([this] { return apply_decision(); });
  for (std::uint32_t i = 0; i < scheduler.worker_count(); ++i) {
    helpers_.push_back(std::make_unique<Helper>(table_));
    helpers_.back()->team = this;
  }
}

FiberTeam::~FiberTeam() {
  for (const auto& helper : helpers_) {
    if (helper->has_started) helper->fiber.sanitizer.destroy();
  }
}

void FiberTeam::set_settings(const governor::Settings& settings) {
  job_settings = settings;
}

void FiberTeam::govern_fibers(core::Scheduler& scheduler) {
  const bool is_governed = job_settings && job_settings->limits.share != governor::Share::fixed;
  if (!is_governed || scheduler.worker_count() == 1) return;
  (void)scheduler.set_idle_source(std::make_unique<FiberTeam>(scheduler, Governed::fibers));
}

void FiberTeam::deregister(const core::Scheduler& scheduler) {
  core::IdleSource* source = scheduler.idle_source();
  if (source != nullptr) static_cast<FiberTeam*>(source)->monitor_.deregister();
}

/// In every tick of the monitor.
governor::Monitor::Finding FiberTeam::apply_decision() {
  const governor::GovernorDecision decision = monitor_.decision();
  const std::int64_t crowded_ns = std::min(spin_ns_max_, core::brief_poll_ns);
  scheduler_.limit_spin(!decision.may_spin ? 0 : decision.is_crowded ? crowded_ns : spin_ns_max_);
  scheduler_.set_width(std::min(decision.width, scheduler_.worker_count()));
  const std::int64_t before_ns = std::exchange(cpu_ns_, os::process_cpu_ns());
  const std::int64_t now_ns = os::monotonic_ns();
  const std::int64_t elapsed_ns = now_ns - std::exchange(applied_ns_, now_ns);
  return {.is_used = governor::Demand::is_work(cpu_ns_ - before_ns, elapsed_ns)};
}

FiberTeam& FiberTeam::of(core::Worker& worker) {
  core::Scheduler& scheduler = worker.scheduler();
  core::IdleSource* source = scheduler.idle_source();
  if (source == nullptr) [[unlikely]]
    source = &scheduler.set_idle_source(std::make_unique<FiberTeam>(scheduler));
  return *static_cast<FiberTeam*>(source);
}

bool FiberTeam::on_idle(core::Worker& worker, bool is_about_to_sleep) {
  Helper& helper = *helpers_[worker.index()];
  if (helper.is_busy || !stacks_.is_valid()) return false;
  if (!helper.is_monitored) [[unlikely]] {
    helper.is_monitored = true;
    monitor_.add_thread();
  }
  OpenLoop* loop = is_about_to_sleep ? helper.finder.find_any() : helper.finder.poll();
  if (loop == nullptr) return false;
  send_helper(worker, helper, *loop);
  return true;
}

void FiberTeam::send_helper(core::Worker& worker, Helper& helper, OpenLoop& loop) {
  helper.loop = &loop;
  helper.is_busy = true;
  if (helper.has_started) {
    worker.make_ready(helper.fiber);
    return;
  }
  helper.has_started = true;
  worker.start(helper.fiber, stacks_.bottom(worker.index()), stacks_.usable_bytes(worker.index()),
               helper_main, &helper);
}

void FiberTeam::helper_main(void* argument) {
  Helper& self = *static_cast<Helper*>(argument);
  for (;;) {
    const std::uint64_t began = arch::cycles();
    help(*self.team, *self.loop);
    self.finder.record_help(arch::cycles() - began);
    self.is_busy = false;
    self.fiber.worker->suspend();
  }
}

OpenLoop* FiberTeam::open(const Work& work, std::uint32_t helper_count_max) {
  core::Worker& worker = *core::Worker::current();
  OpenLoop* loop = table_.acquire(worker.index());
  if (loop == nullptr) return nullptr;
  // (O) and (J) order it for the helpers.
  sleeps_[static_cast<std::size_t>(loop - &table_[0])].worker = &worker;
  loop->open(work, std::min(helper_count_max, OpenLoop::helpers_max));
  return loop;
}

void FiberTeam::wait_for_end(OpenLoop& loop) {
  for (std::uint32_t poll = 0; poll < end_polls; ++poll) {
    if (loop.is_over()) return;
    arch::pause();
  }
  Sleep& sleep = sleeps_[static_cast<std::size_t>(&loop - &table_[0])];
  sleep.is_over.reset();
  sleep.run = [](core::Worker& worker, core::RemoteCall& notice) {
    static_cast<Sleep&>(notice).is_over.complete(worker);
  };
  if (loop.announce_sleep()) return;
  sleep.is_over.wait(*sleep.worker);
  // (E): effects of all helpers, not only of the last one.
  SORREL_CHECK(loop.is_over());
}

void FiberTeam::wake_caller(OpenLoop& loop) {
  Sleep& sleep = sleeps_[static_cast<std::size_t>(&loop - &table_[0])];
  core::Worker& worker = *core::Worker::current();
  if (sleep.worker == &worker) {
    sleep.is_over.complete(worker);
  } else {
    worker.post(*sleep.worker, sleep);
  }
}

void FiberTeam::wake_helper() {
  core::Worker& self = *core::Worker::current();
  const std::uint32_t count = scheduler_.worker_count();
  for (std::uint32_t i = 1; i < count; ++i) {
    core::Worker& worker = scheduler_.worker(scheduler_.nodes().other(self.index(), i, count));
    if (worker.seems_asleep() && worker.wake()) return;
  }
}

bool FiberTeam::has_sleepers(std::uint32_t /*wanted*/) const {
  for (std::uint32_t i = 0; i < scheduler_.worker_count(); ++i) {
    if (scheduler_.worker(i).seems_asleep()) return true;
  }
  return false;
}

bool FiberTeam::needs_thread() {
  core::Worker& worker = *core::Worker::current();
  worker.poll();
  return worker.has_ready();
}

}  // namespace sorrel::loop
