#include "core/scheduler.hpp"

#include <algorithm>
#include <system_error>
#include <thread>

#include "arch/cpu.hpp"
#include "core/cycle_clock.hpp"
#include "os/clock.hpp"
#include "os/cpu_set.hpp"
#include "os/futex.hpp"
#include "os/memory_barrier.hpp"
#include "os/page_nodes.hpp"
#include "os/thread.hpp"

namespace sorrel::core {

namespace {

/// A loan costs about 3 us, and the data of the fiber move to the cache of another core.
constexpr std::int64_t lent_ns_min = 50'000;
/// Time between two attempts to find long bursts where the last one was short.
constexpr std::int64_t measuring_pause_ns = 1'000'000;

std::optional<BurstLimits> limits_of(const SchedulerOptions& options) {
  if (!options.lends_fibers || options.worker_count == 1) return std::nullopt;
  const CycleClock clock;
  return BurstLimits{.lent_min = clock.cycles_in(lent_ns_min),
                     .pause = clock.cycles_in(measuring_pause_ns)};
}

/// A worker that is late by so much ends the stop: its thread may wait itself. On a busy machine
/// most threads run sooner, and its ranks could not go on without it either.
constexpr std::int64_t stop_wait_ns_max = 100'000'000;

void run_unknown_kind(Worker& /*receiver*/, const Record& record, const std::byte* /*payload*/) {
  SORREL_CHECK(false, "no runner for records of kind %u", unsigned{record.kind});
}

/// Sleepers and wakers of all processes must use the same pair of fences.
void prepare_fences(const JobMemory& memory) {
  if (!memory.is_shared()) {
    os::init_memory_barrier();
  } else if (memory.has_barrier()) {
    SORREL_CHECK(os::init_memory_barrier(os::BarrierScope::processes),
                 "membarrier is refused in one process of the job and not in another");
  } else {
    os::use_full_fences();
  }
}

}  // namespace

Scheduler::Scheduler(const SchedulerOptions& options, SchedulerHooks& hooks)
    : width_(options.worker_count),
      spin_ns_max_(options.limits.spin_ns_max),
      hooks_(hooks),
      own_memory_(options.memory == nullptr ? std::make_unique<JobMemory>(options.worker_count)
                                            : nullptr),
      memory_(options.memory == nullptr ? *own_memory_ : *options.memory),
      process_(options.process),
      cpus_(options.cpus),
      nodes_(options.memory_nodes, options.cpus),
      may_move_(options.may_move),
      bindings_(may_move_ ? 0 : cpus_.size()),
      measures_fibers_(options.measures_fibers),
      burst_limits_(limits_of(options)),
      migration_links_(options.worker_count) {
  SORREL_CHECK(options.worker_count <= memory_.shape().workers_per_process);
  SORREL_CHECK(!options.seed || memory_.shape().worker_count() == 1);
  prepare_fences(memory_);
  runners_.fill(run_unknown_kind);
  set_runner(remote_call_kind, run_remote_call);
  for (std::uint32_t i = 0; i < options.worker_count; ++i) {
    const std::uint32_t worker = options.process * memory_.shape().workers_per_process + i;
    workers_.push_back(
        std::make_unique<Worker>(*this, i, worker, memory_, options.limits, options.seed));
    threads_.push_back(std::make_unique<WorkerThread>(*this, i));
  }
  if (nodes_.are_known()) place_memory();
}

/// Workers and their mailboxes, to the nodes of the threads that will read them again and again.
void Scheduler::place_memory() {
  const std::uint32_t first = process_ * memory_.shape().workers_per_process;
  for (std::uint32_t i = 0; i < worker_count(); ++i) {
    workers_[i]->move_memory_to(nodes_.node_of(i));
    os::prefer_node(memory_.mailboxes_to(first + i), nodes_.node_of(i));
  }
}

Scheduler::~Scheduler() {
  delete idle_source();
}

IdleSource& Scheduler::set_idle_source(std::unique_ptr<IdleSource> source) {
  IdleSource* first = nullptr;
  // (I) release, pairs with idle_source(): the source is complete. Acquire when another was first.
  if (!idle_source_.compare_exchange_strong(first, source.get(), std::memory_order_release,
                                            std::memory_order_acquire))
    return *first;
  return *source.release();
}

LoanCounts Scheduler::loan_counts() const {
  LoanCounts sum;
  for (const auto& worker : workers_)
    sum.add(worker->loan_counts());
  return sum;
}

void Scheduler::set_runner(RecordKind kind, RecordRunner runner) {
  SORREL_CHECK(kind < record_kind_count);
  runners_[kind] = runner;
}

void Scheduler::attach_thread(Fiber& fiber) {
  SORREL_CHECK(worker_count() == 1);
  place_thread(0);
  workers_[0]->attach_thread(fiber);
}

void Scheduler::detach_thread() {
  workers_[0]->detach_thread();
}

void Scheduler::run(std::uint32_t fiber_count) {
  // Relaxed: the threads below start later.
  live_fiber_count_.store(fiber_count, std::memory_order_relaxed);
  if (fiber_count == 0) return;
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t i = 1; i < worker_count(); ++i) {
      try {
        threads.emplace_back([this, i] { thread_main(i); });
      } catch (const std::system_error&) {
        hooks_.on_thread_refused(i);
        SORREL_CHECK(false, "the system started %u threads of %u", i, worker_count());
      }
    }
    thread_main(0);
  }
  // A worker may have been migrating between threads at the end.
  ThreadState state;
  state.take_calling_thread();
  for (auto& worker : workers_) {
    if (!worker->has_ended()) worker->end(state);
  }
}

/// Moves or binds the calling thread to the cpu of worker `index`, if one is given.
void Scheduler::place_thread(std::uint32_t index) {
  if (index >= cpus_.size()) return;
  if (may_move_) {
    os::move_to_cpu(cpus_[index]);
  } else {
    // Workers of a job that share cores take turns.
    const bool has_core = spin_ns_max() != 0;
    bindings_[index].begin(cpus_[index], has_core ? os::allowed_cpus() : std::vector<int>{});
  }
}

void Scheduler::thread_main(std::uint32_t index) {
  place_thread(index);
  threads_[index]->run();
  if (index < bindings_.size()) bindings_[index].end();
}

void Scheduler::set_width(std::uint32_t width) {
  SORREL_CHECK(width >= 1 && width <= worker_count());
  // Release, pairs with width(); the requests below come after it.
  const std::uint32_t before = width_.exchange(width, std::memory_order_acq_rel);
  if (before == width) return;
  hooks_.on_width_change(before, width);
  for (auto& worker : workers_)
    worker->request_attention();
  for (auto& thread : threads_)
    thread->wake();
}

/// Returns when every worker has arrived here and the last one has called the hook.
void Scheduler::note_started() {
  // Acquire and release: the last one has seen the effects of every start hook.
  if (started_count_.fetch_add(1, std::memory_order_acq_rel) + 1 == worker_count()) {
    hooks_.on_all_started();
    // Release, pairs with the acquire below.
    all_started_.store(1, std::memory_order_release);
    if (worker_count() > 1) os::futex_wake_all(all_started_);
    return;
  }
  // On busy cores a thread that yields is scheduled again at once, until the last one gets its
  // turn: so sleep.
  constexpr int yields_before_sleep = 16;
  os::YieldLimit yield_limit;
  for (int round = 0; all_started_.load(std::memory_order_acquire) == 0; ++round) {
    if (round >= yields_before_sleep || !os::try_to_yield_core(yield_limit))
      os::futex_wait(all_started_, 0, -1);
  }
}

bool Scheduler::request_stop(Worker& requester, StopAction& action) {
  SORREL_ASSERT(&requester == Worker::current());
  // Acquire, pairs with resume_requester().
  if (is_stop_requested_.exchange(true, std::memory_order_acquire)) return false;
  requester.has_requested_stop_ = true;
  stop_action_ = &action;
  stop_point_.open();
  for (auto& worker : workers_)
    worker->request_attention();
  return true;
}

/// A requester has left its stop, which is over.
void Scheduler::resume_requester(Worker& requester) {
  StopAction& action = *stop_action_;
  // Release, pairs with request_stop().
  is_stop_requested_.store(false, std::memory_order_release);
  action.on_resumed(requester);
}

bool Scheduler::is_quiet() const {
  return std::ranges::all_of(workers_, [](const auto& worker) { return worker->is_quiet(); });
}

bool Scheduler::is_quiet_inside() const {
  return std::ranges::all_of(workers_,
                             [](const auto& worker) { return worker->is_quiet_inside(); });
}

/// A worker has left its fibers. Returns the stop that holds it, if it is not the last one.
std::optional<HeldStop> Scheduler::take_part_in_stop() {
  const StopPoint::Stop stop = stop_point_.arrive(worker_count());
  if (stop.arrival == StopPoint::Arrival::last) {
    stop_action_->on_stopped();
    stop_point_.close();
  }
  if (stop.arrival != StopPoint::Arrival::early) return std::nullopt;
  return HeldStop{.number = stop.number, .end_ns = os::monotonic_ns() + stop_wait_ns_max};
}

/// Gives it up when it has lasted too long.
bool Scheduler::is_stop_over(const HeldStop& stop) {
  if (stop_point_.is_over(stop.number)) return true;
  // The late one may need this core.
  os::yield_core();
  if (os::monotonic_ns() >= stop.end_ns) stop_point_.give_up(stop.number, worker_count());
  return false;
}

void Scheduler::wait_for_stop(const HeldStop& stop) {
  constexpr int polls_per_reading = 64;
  while (!is_stop_over(stop)) {
    for (int poll = 0; poll < polls_per_reading && !stop_point_.is_over(stop.number); ++poll)
      arch::pause();
  }
}

void Scheduler::add_fibers(std::uint32_t count) {
  // Relaxed: the caller's fiber has not ended, and the new ones start later.
  [[maybe_unused]] const std::uint32_t before =
      live_fiber_count_.fetch_add(count, std::memory_order_relaxed);
  SORREL_ASSERT(before > 0, "called outside of fibers");
}

void Scheduler::change_fiber_count(std::int32_t by) {
  // Relaxed: the stop orders it.
  [[maybe_unused]] const std::uint32_t before =
      live_fiber_count_.fetch_add(static_cast<std::uint32_t>(by), std::memory_order_relaxed);
  SORREL_ASSERT(static_cast<std::int32_t>(before) + by > 0, "%u fibers, and %d more", before, by);
}

void Scheduler::note_fiber_end() {
  // Acquire and release: the last fiber to end has seen the effects of all others.
  if (live_fiber_count_.fetch_sub(1, std::memory_order_acq_rel) == 1) stop();
}

void Scheduler::stop() {
  // Release, pairs with (S).
  stopping_.store(true, std::memory_order_release);
  for (auto& worker : workers_)
    worker->wake();
  for (auto& thread : threads_)
    thread->wake();
}

}  // namespace sorrel::core
