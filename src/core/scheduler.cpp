#include "core/scheduler.hpp"

#include <sched.h>
#include <thread>

#include "os/cpu_set.hpp"
#include "os/futex.hpp"
#include "os/memory_barrier.hpp"

namespace sorrel::core {

namespace {

void bind_this_thread(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(cpu), &set);
  // Refused when the administrator has changed the allowed set since: then the worker floats.
  sched_setaffinity(0, sizeof set, &set);
}

/// Where the thread of worker `index` begins, if that is said.
void take_place(const std::vector<int>& cpus, std::uint32_t index, bool may_move) {
  if (index >= cpus.size()) return;
  if (may_move) {
    os::move_to_cpu(cpus[index]);
  } else {
    bind_this_thread(cpus[index]);
  }
}

void run_unknown_kind(Worker& /*receiver*/, const Record& record, const std::byte* /*payload*/) {
  SORREL_CHECK(false, "nobody takes records of kind %u", unsigned{record.kind});
}

/// Sleepers and wakers of all processes must use the same two halves of the fence.
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
      may_move_(options.may_move),
      handing_links_(options.worker_count) {
  SORREL_CHECK(options.worker_count == memory_.shape().workers_per_process);
  SORREL_CHECK(!options.seed || memory_.shape().place_count() == 1);
  prepare_fences(memory_);
  runners_.fill(run_unknown_kind);
  set_runner(notice_kind, run_notice);
  for (std::uint32_t i = 0; i < options.worker_count; ++i) {
    const std::uint32_t place = options.process * options.worker_count + i;
    workers_.push_back(
        std::make_unique<Worker>(*this, i, place, memory_, options.limits, options.seed));
    threads_.push_back(std::make_unique<WorkerThread>(*this, i));
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

void Scheduler::set_runner(RecordKind kind, RecordRunner runner) {
  SORREL_CHECK(kind < record_kind_count);
  runners_[kind] = runner;
}

void Scheduler::adopt(Fiber& fiber) {
  SORREL_CHECK(worker_count() == 1);
  take_place(cpus_, 0, may_move_);
  workers_[0]->adopt(fiber);
}

void Scheduler::leave() {
  workers_[0]->leave();
}

void Scheduler::run(std::uint32_t fiber_count) {
  // Relaxed: the threads below are started after it.
  live_fiber_count_.store(fiber_count, std::memory_order_relaxed);
  if (fiber_count == 0) return;
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t i = 1; i < worker_count(); ++i)
      threads.emplace_back([this, i] { thread_main(i); });
    thread_main(0);
  }
  // A worker may have been on its way from one thread to another at the end.
  ThreadState state;
  state.take_calling_thread();
  for (auto& worker : workers_) {
    if (!worker->has_ended()) worker->end(state);
  }
}

void Scheduler::thread_main(std::uint32_t index) {
  take_place(cpus_, index, may_move_);
  threads_[index]->run();
}

void Scheduler::set_width(std::uint32_t width) {
  SORREL_CHECK(width >= 1 && width <= worker_count());
  // Release, pairs with width(); the calls below come after it.
  if (width_.exchange(width, std::memory_order_acq_rel) == width) return;
  for (auto& worker : workers_)
    worker->call_away();
  for (auto& thread : threads_)
    thread->wake();
}

/// Returns when every worker has come here and the last one has told the hooks.
void Scheduler::note_started() {
  // Acquire and release: the last one has seen what every start hook made.
  if (started_count_.fetch_add(1, std::memory_order_acq_rel) + 1 == worker_count()) {
    hooks_.on_all_started();
    // Release, pairs with the acquire below.
    all_started_.store(1, std::memory_order_release);
    if (worker_count() > 1) os::futex_wake_all(all_started_);
    return;
  }
  // Where others want the cores, too, who yields comes back at once, again and again, until the
  // last one is served: so sleep.
  constexpr int yields_before_sleep = 16;
  for (int round = 0; all_started_.load(std::memory_order_acquire) == 0; ++round) {
    if (round < yields_before_sleep) {
      sched_yield();
    } else {
      os::futex_wait(all_started_, 0, -1);
    }
  }
}

void Scheduler::note_fiber_end() {
  // Acquire and release: whoever ends last has seen everything the others did.
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
