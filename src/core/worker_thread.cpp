#include "core/worker_thread.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "arch/cpu.hpp"
#include "core/perturbation.hpp"
#include "core/scheduler.hpp"
#include "core/thread_block.hpp"
#include "os/clock.hpp"
#include "os/futex.hpp"
#include "os/memory_barrier.hpp"

namespace sorrel::core {

namespace {

/// Calls a function that runs with another thread pointer than its caller.
template <class Function>
[[gnu::noinline]] auto call_out_of_line(Function&& function) {
  return function();
}

/// Until no thread runs a worker any more: another one may use the block of the caller.
void wait_for_ends(std::atomic<std::uint32_t>& running_count) {
  // Acquire, pairs with end_workers().
  while (const std::uint32_t count = running_count.load(std::memory_order_acquire))
    os::futex_wait(running_count, count, -1);
}

}  // namespace

void WorkerThread::run() {
  call_out_of_line([this] {
    state_.take_calling_thread();
    scheduler_.hooks_.on_thread_start();
    workers_.push_back(&scheduler_.worker(index_));
    workers_.front()->begin(state_);
    scheduler_.note_started();
  });
  std::unique_ptr<SpareBlock> spare;
  bool is_refused = false;
  // Its own worker is about to migrate for the first time, and takes the thread's block along.
  const auto must_lend_block = [&] {
    return are_blocks_exchanged && spare == nullptr && !is_refused &&
           thread_of(index_, scheduler_.worker_count(), scheduler_.width()) != index_;
  };
  while (!scheduler_.is_stopping()) {
    if (must_lend_block()) {
      // A thread of a rank may have the seat of the worker that ran here last: what it runs is not
      // what this thread runs, if a function of the C library asks.
      Worker::set_current(nullptr);
      spare = SpareBlock::make();
      is_refused = spare == nullptr;
      if (spare != nullptr) spare->enter();
      call_out_of_line([this] { state_.take_calling_thread(); });
    }
    call_out_of_line([&] {
      take_migrated();
      migrate_workers();
      if (must_lend_block()) return;
      if (workers_.empty()) {
        sleep_without_workers();
      } else if (workers_.size() == 1 && has_all()) {
        run_alone();
      } else {
        run_several();
      }
    });
  }
  call_out_of_line([this] { end_workers(); });
  if (spare != nullptr) {
    wait_for_ends(scheduler_.started_count_);
    spare->leave();
    spare.reset();
  }
  scheduler_.hooks_.on_thread_end();
}

void WorkerThread::wake() {
  // Release: the change comes before. The sleeper's load is the acquire.
  news_.fetch_add(1, std::memory_order_release);
  os::futex_wake_one(news_);
}

void WorkerThread::migrate(Worker& worker) {
  // (G) release, in push(): from here on the worker belongs to the other thread.
  migrated_.push(worker.index(), scheduler_.migration_links_[worker.index()]);
  wake();
  // (S) pairs with (T): either this thread sees which worker the other is about to run alone, or
  // that thread sees the migrated worker.
  os::heavy_barrier();
  // Relaxed: ordered by the fence. That worker may have been migrated meanwhile; then the thread
  // has checked its list.
  Worker* only_worker = only_worker_.load(std::memory_order_relaxed);
  if (only_worker != nullptr) only_worker->request_attention();
}

/// Runs its only worker until a migration is requested.
void WorkerThread::run_alone() {
  Worker& worker = *workers_.front();
  perturb(worker.id(), PerturbedPoint::migrate);
  only_worker_.store(&worker, std::memory_order_relaxed);
  // (T) pairs with (S).
  os::light_barrier();
  if (migrated_.seems_empty()) {
    const BlockInUse block(worker.thread_pointer_, state_.thread_pointer);
    call_out_of_line([&] { worker.run_until_attention(state_); });
  }
  only_worker_.store(nullptr, std::memory_order_relaxed);
}

void WorkerThread::take_migrated() {
  if (migrated_.seems_empty()) return;
  // (H) acquire, in take_all().
  migrated_.take_all(
      [this](std::uint32_t worker) -> IndexList::Link& {
        return scheduler_.migration_links_[worker];
      },
      [this](std::uint32_t worker) { workers_.push_back(&scheduler_.worker(worker)); });
}

/// Migrates the workers that belong on other threads, but none whose block the thread uses itself.
void WorkerThread::migrate_workers() {
  const std::uint32_t width = scheduler_.width();
  std::erase_if(workers_, [&](Worker* worker) {
    const std::uint32_t thread = thread_of(worker->index(), scheduler_.worker_count(), width);
    if (thread == index_) return false;
    if (are_blocks_exchanged && worker->thread_pointer_ == state_.thread_pointer) return false;
    worker->leave_thread();
    perturb(worker->id(), PerturbedPoint::migrate);
    scheduler_.thread(thread).migrate(*worker);
    return true;
  });
}

/// Whether all workers that belong on this thread are here.
bool WorkerThread::has_all() const {
  const std::uint32_t width = scheduler_.width();
  const std::uint32_t count = scheduler_.worker_count();
  std::uint32_t expected = 0;
  for (std::uint32_t i = 0; i < count; ++i)
    expected += thread_of(i, count, width) == index_ ? 1 : 0;
  return workers_.size() == expected;
}

/// Runs the workers in turn, until one migrates, another arrives, or none has had work for a while.
void WorkerThread::run_several() {
  const std::uint32_t width = scheduler_.width();
  std::int64_t idle_since_ns = 0;
  std::int64_t idle_until_ns = 0;
  std::int64_t last_wait_ns = 0;
  bool has_lasted_long = false;
  for (std::uint32_t round = 1;; ++round) {
    const bool any = run_each_once();
    if (scheduler_.is_stopping() || scheduler_.width() != width || !migrated_.seems_empty()) return;
    if (any) {
      // The last reading of the clock.
      last_wait_ns = idle_until_ns - idle_since_ns;
      idle_since_ns = idle_until_ns = 0;
      has_lasted_long = false;
      continue;
    }
    arch::pause();
    // The clock is read every so many rounds only.
    constexpr std::uint32_t rounds_per_reading = 64;
    if (round % rounds_per_reading != 0) continue;
    idle_until_ns = os::monotonic_ns();
    if (idle_since_ns == 0) idle_since_ns = idle_until_ns;
    const std::int64_t idle_ns = idle_until_ns - idle_since_ns;
    if (idle_ns > brief_poll_ns && !std::exchange(has_lasted_long, true))
      core_watch_.read(state_.number, idle_until_ns);
    if (idle_ns < poll_limit(last_wait_ns, scheduler_.spin_ns_max(), brief_poll_ns) &&
        !core_watch_.is_recent(idle_until_ns))
      continue;
    sleep();
    last_wait_ns = os::monotonic_ns() - idle_since_ns;
    idle_since_ns = idle_until_ns = 0;
    has_lasted_long = false;
  }
}

bool WorkerThread::run_each_once() {
  bool any = false;
  for (Worker* worker : workers_) {
    const BlockInUse block(worker->thread_pointer_, state_.thread_pointer);
    any |= call_out_of_line([&] { return worker->run_round(state_); });
  }
  return any;
}

bool WorkerThread::has_work_for_any() {
  if (scheduler_.is_stopping() || !migrated_.seems_empty()) return true;
  return std::ranges::any_of(workers_, [](Worker* worker) { return worker->prepare_sleep(); });
}

/// Like Worker::park(), for all workers of this thread at once.
void WorkerThread::sleep() {
  std::int64_t end_ns = std::numeric_limits<std::int64_t>::max();
  for (Worker* worker : workers_)
    end_ns = std::min(end_ns, worker->next_sleep_end_ns());
  if (end_ns <= os::monotonic_ns()) return;
  // Acquire, pairs with wake().
  const std::uint32_t news = news_.load(std::memory_order_acquire);
  for (Worker* worker : workers_)
    worker->parker().prepare_park();
  perturb(workers_.front()->id(), PerturbedPoint::park);
  if (has_work_for_any()) {
    for (Worker* worker : workers_)
      worker->parker().cancel_park();
    return;
  }
  for (Worker* worker : workers_)
    end_ns = std::min(end_ns, worker->mark_sleep(end_ns));
  perturb(workers_.front()->id(), PerturbedPoint::sleep);
  wait(news, end_ns);
  perturb(workers_.front()->id(), PerturbedPoint::rise);
  for (Worker* worker : workers_)
    worker->end_park();
}

/// Sleeps until one of the workers is unparked, the thread is woken, or the time is over.
void WorkerThread::wait(std::uint32_t news, std::int64_t end_ns) {
  const bool has_end = end_ns != std::numeric_limits<std::int64_t>::max();
  std::vector<os::FutexWait> waits{{.word = &news_, .expected = news}};
  for (Worker* worker : workers_) {
    waits.push_back({.word = &worker->parker().state().std_atomic(),
                     .expected = Parker::State::parked,
                     .scope = worker->futex_scope_});
  }
  const auto goes_on = [&] {
    return news_.load(std::memory_order_acquire) == news &&
           std::ranges::all_of(workers_,
                               [](Worker* worker) { return worker->parker().is_parked(); }) &&
           (!has_end || os::monotonic_ns() < end_ns);
  };
  while (goes_on())
    os::futex_wait_any(waits, has_end ? end_ns : -1);
}

void WorkerThread::sleep_without_workers() {
  const std::uint32_t news = news_.load(std::memory_order_acquire);
  if (!migrated_.seems_empty() || scheduler_.is_stopping()) return;
  os::futex_wait(news_, news, -1);
}

void WorkerThread::end_workers() {
  take_migrated();
  for (Worker* worker : workers_)
    worker->end(state_);
  // All have started before the first one ends. Release, pairs with wait_for_ends().
  scheduler_.started_count_.fetch_sub(1, std::memory_order_release);
  os::futex_wake_all(scheduler_.started_count_);
}

}  // namespace sorrel::core
