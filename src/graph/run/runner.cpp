#include "graph/run/runner.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include "arch/cpu.hpp"
#include "base/check.hpp"
#include "sorrel.h"

namespace sorrel::graph {

namespace {

// Length of a slice, some 20 us: between two slices, helpers check for their own ranks and the
// owner for its messages.
constexpr std::uint64_t slice_cycles = 60'000;
// Length of the owner's slices in a row, some 3 ms. Then other ranks of its worker run, whose cells
// evict these from the cache.
constexpr std::uint64_t quantum_cycles = 9'000'000;
constexpr std::uint32_t tasks_per_slice_max = 4096;
// Slices of one parallel loop: the lower half for the owner, the upper half for helpers, which stop
// well before the owner's half.
constexpr std::int64_t slice_count = std::int64_t{1} << 17;
constexpr std::int64_t slice_margin = 4096;
// Attempts to steal before a helper's slice ends without work.
constexpr std::uint32_t polls_max = 64;
// Slices without work before the owner sleeps until its helpers have left the loop.
constexpr std::uint32_t idle_rounds_max = 64;
constexpr std::uint32_t roots_at_a_time_max = 64;
// Shortest time that a communication worker polls, so that the loop's grain estimate finds waking a
// helper worthwhile.
constexpr std::uint64_t poll_cycles = 1'500;
// Some 10 s without a helper: their own tasks may take long.
constexpr std::uint64_t patience_cycles = 30'000'000'000;
constexpr std::uint32_t polls_max_beside_comm_worker = 8;
constexpr int index_bits = 32;
constexpr int step_bits = 16;

constexpr int go_on = 0;
constexpr int stop = 1;

std::uint64_t power_of_two_from(std::uint64_t count) {
  std::uint64_t power = 2;
  while (power < count)
    power *= 2;
  return power;
}

double seconds_since(std::chrono::steady_clock::time_point began) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

}  // namespace

Runner::Runner(const Dag& dag, Compiled& compiled, Messenger* messenger)
    : dag_(dag),
      compiled_(compiled),
      messenger_(messenger),
      has_one_set_(compiled.counter_sets() == 1),
      step_window_(static_cast<std::uint64_t>(compiled.window())) {
  if (compiled.window() != 1) {
    parked_links_ = ZeroedArray<StepWindow::Link>(static_cast<std::size_t>(compiled.task_count()));
    parked_steps_ = ZeroedArray<Index>(static_cast<std::size_t>(compiled.task_count()));
  }
  const std::uint32_t thread_count = std::max(std::thread::hardware_concurrency(), 1U);
  const std::uint64_t cells =
      power_of_two_from(static_cast<std::uint64_t>(compiled.task_count()) + 1);
  for (std::uint32_t i = 0; i < std::min(thread_count, queue_count_max); ++i) {
    auto queue = std::make_unique<WorkerQueue>();
    // A task is ready once at a time, since it depends on itself: no deque can be too small.
    queue->urgent_cells = ZeroedArray<Deque::Cell>(cells);
    queue->urgent.set_cells(queue->urgent_cells.data(), cells);
    const std::uint64_t filling_cells = compiled.has_gap_fillers() ? cells : 2;
    queue->gap_filling_cells = ZeroedArray<Deque::Cell>(filling_cells);
    queue->gap_filling.set_cells(queue->gap_filling_cells.data(), filling_cells);
    queue->next_victim = i + 1;
    queues_.push_back(std::move(queue));
  }
}

void Runner::add_channel(int number, CompiledFamily& family, Index message, int peer) {
  const std::size_t count = static_cast<std::size_t>(number) + 1;
  channels_.resize(count);
  channels_.back() = {&family, message, peer};
  ended_channels_.resize(count);
  outbox_links_.resize(count);
  channel_steps_.resize(count, no_step);
}

Report Runner::run(Index first, Index steps, Failure& failure) {
  const auto began = std::chrono::steady_clock::now();
  first_step_ = first;
  steps_ = steps;
  begin_trace();
  waiting_seconds_ = 0;
  message_steps_ = first;
  // Where loops have one thread, no helper would come.
  is_comm_worker_ = queues_.size() > 1 && sorrel_is_comm_worker() != 0 && sorrel_loop_threads() > 1;
  leaves_work_.store(is_comm_worker_, std::memory_order_relaxed);
  helped_last_ = quantum_began_ = arch::cycles();
  // Relaxed, all of these: helpers are woken later.
  step_window_.begin(static_cast<std::uint64_t>(first));
  is_cancelled_.store(false, std::memory_order_relaxed);
  has_failure_.store(false, std::memory_order_relaxed);
  for (std::atomic<std::int64_t>& left : sinks_left_)
    left.store(compiled_.sink_count(), std::memory_order_relaxed);
  begin_step(first);

  WorkerQueue& own = *queues_[0];
  if (has_long_roots()) {
    progress_messages();
    share();
  }
  while (!is_over()) {
    progress_messages();
    const std::uint32_t done = leaves_work() ? 0 : work(own);
    if (is_over()) break;
    idle_rounds_ = 0;
    if (has_surplus()) {
      share();
    } else if (done == 0) {
      wait_for_message();
    } else {
      end_slice();
    }
  }
  Report report;
  report.steps = steps_done() - first;
  report.tasks = report.steps * compiled_.reported_task_count();
  if (is_cancelled_.load(std::memory_order_relaxed)) {
    clear_after_failure();
    failure = std::exchange(failure_, {});
  }
  report.seconds = seconds_since(began);
  report.waiting_seconds = waiting_seconds_;
  return report;
}

/// Opens a loop that helpers can join. A communication worker waits its turn: its ranks may be more
/// than the loops that can be open, and it works for none of them.
void Runner::share() {
  const sorrel_loop_options options{.size = sizeof options,
                                    .grain = 1,
                                    .schedule = SORREL_DYNAMIC,
                                    .threads_max = static_cast<int>(queues_.size()),
                                    .flags = is_comm_worker_ ? SORREL_SHARED_ONLY : 0};
  if (sorrel_parallel_for(0, slice_count, slice_of_loop, this, &options) != SORREL_NOT_SHARED)
    return;
  helped_last_ = arch::cycles();
  is_comm_worker_ = sorrel_loop_threads() > 1;
  leaves_work_.store(is_comm_worker_, std::memory_order_relaxed);
  sorrel_yield();
}

// ---- slices
// --------------------------------------------------------------------------------------

int Runner::slice_of_loop(void* runner, std::int64_t begin, std::int64_t /*end*/) {
  return static_cast<Runner*>(runner)->slice(begin);
}

/// The caller of a loop runs its chunks from the low end, one by one, helpers from the high end.
/// This tells the owner from a helper, even where both are fibers of one thread.
int Runner::slice(std::int64_t number) {
  if (is_over()) return stop;
  if (number < slice_count / 2) return number + 1 == slice_count / 2 ? stop : owner_slice();
  if (number < slice_count / 2 + slice_margin) return stop;
  const bool has_helped = help();
  // Where helpers have all the work, loops of other ranks may need this helper.
  return is_over() || (leaves_work() && !has_helped) ? stop : go_on;
}

int Runner::owner_slice() {
  const bool has_messages = progress_messages();
  const std::uint32_t done = may_leave_work_to_others() ? 0 : work(*queues_[0]);
  if (is_over()) return stop;
  if (done != 0) {
    idle_rounds_ = 0;
    end_slice();
    return go_on;
  }
  if (is_quiescent()) return stop;
  // Helpers have the remaining work. Ranks that wait for this thread run first.
  if (++idle_rounds_ > idle_rounds_max && !has_messages && !is_comm_worker_) return stop;
  sorrel_yield();
  arch::pause();
  return go_on;
}

/// The owner only. Yields to other ranks of its worker at the end of its quantum.
void Runner::end_slice() {
  if (arch::cycles() - quantum_began_ < quantum_cycles) return;
  sorrel_yield();
  quantum_began_ = arch::cycles();
}

bool Runner::leaves_work() const {
  // Relaxed: either value is right.
  return leaves_work_.load(std::memory_order_relaxed);
}

/// Whether the owner need not run tasks now. Progresses messages meanwhile, and as long as a helper
/// is inside: a helper may begin the next step with a long task, and the end of a loop waits for
/// helpers.
bool Runner::may_leave_work_to_others() {
  if (!is_comm_worker_) return false;
  const std::uint64_t began = arch::cycles();
  for (;;) {
    const std::uint64_t now = arch::cycles();
    // Relaxed: only the number of helpers matters, not their effects.
    const bool is_helped = helpers_inside_.load(std::memory_order_relaxed) != 0;
    if (is_helped || !has_surplus()) helped_last_ = now;
    const bool is_patient = now - helped_last_ < patience_cycles;
    leaves_work_.store(is_patient, std::memory_order_relaxed);
    if (!is_patient) return false;
    progress_messages();
    if (is_over()) return true;
    if (!is_helped && now - began >= poll_cycles) return true;
    // Other ranks of this worker, or else time passes.
    sorrel_yield();
    arch::pause();
  }
}

/// A helper's slice. Returns whether a task was run.
bool Runner::help() {
  WorkerQueue* queue = take_queue();
  if (queue == nullptr) return false;
  std::uint32_t done = 0;
  const std::uint32_t polls = leaves_work() ? polls_max_beside_comm_worker : polls_max;
  // Acquire and release: a thread that reads 0 has seen the effects of all helpers.
  helpers_inside_.fetch_add(1, std::memory_order_acq_rel);
  for (std::uint32_t poll = 0; poll < polls && !is_over(); ++poll) {
    if ((done = work(*queue)) != 0) break;
    for (std::uint32_t i = 0; i <= poll; ++i)
      arch::pause();
  }
  helpers_inside_.fetch_sub(1, std::memory_order_acq_rel);
  // Release, pairs with take_queue(): the queue's own fields.
  queue->is_taken.store(false, std::memory_order_release);
  return done != 0;
}

Runner::WorkerQueue* Runner::take_queue() {
  for (std::size_t i = 1; i < queues_.size(); ++i) {
    WorkerQueue& queue = *queues_[i];
    // Relaxed: a guess. Acquire, pairs with the release in help().
    if (!queue.is_taken.load(std::memory_order_relaxed) &&
        !queue.is_taken.exchange(true, std::memory_order_acquire))
      return &queue;
  }
  return nullptr;
}

bool Runner::is_over() const {
  return steps_done() == steps_ ||
         // Relaxed: a hint to stop early.
         is_cancelled_.load(std::memory_order_relaxed);
}

/// Whether there is work for another thread.
bool Runner::has_surplus() const {
  if (queues_.size() == 1) return false;
  for (const auto& queue : queues_)
    if (!queue->urgent.seems_empty() || !queue->gap_filling.seems_empty()) return true;
  return static_cast<std::uint32_t>(roots_.load(std::memory_order_relaxed)) <
         compiled_.root_count();
}

/// Whether a run begins with several tasks, and the last ones were so long that the first should
/// not delay the others.
bool Runner::has_long_roots() const {
  return queues_.size() > 1 && compiled_.root_count() > 1 &&
         queues_[0]->cycles_per_task > slice_cycles;
}

/// Asked by the owner without work: no other thread has work either.
bool Runner::is_quiescent() const {
  // Acquire: the effects of helpers that have left.
  return helpers_inside_.load(std::memory_order_acquire) == 0 && outbox_.seems_empty() &&
         !has_surplus() && !has_messages_to_begin();
}

// ---- tasks
// ---------------------------------------------------------------------------------------

/// Runs one slice. Returns the number of tasks run; 0: none was ready.
std::uint32_t Runner::work(WorkerQueue& queue) {
  const std::uint64_t began = arch::cycles();
  const std::uint32_t done = work_until_slice_ends(queue);
  const std::uint64_t spent = arch::cycles() - began;
  if (done != 0) queue.cycles_per_task = spent / done;
  if (spent > slice_cycles * 2 && done > 1) {
    queue.tasks_per_slice = done / 2;
  } else if (spent < slice_cycles / 2 && done == queue.tasks_per_slice &&
             queue.tasks_per_slice < tasks_per_slice_max) {
    queue.tasks_per_slice *= 2;
  }
  return done;
}

std::uint32_t Runner::work_until_slice_ends(WorkerQueue& queue) {
  std::uint32_t done = 0;
  // Two buffers that swap roles: a copy between them would be the largest cost of a small task.
  Ready places[2];
  Ready* running = &places[0];
  Ready* next = &places[1];
  try {
    while (find(queue, *running)) {
      for (;;) {
        // Relaxed: a hint to stop early.
        if (is_cancelled_.load(std::memory_order_relaxed)) [[unlikely]]
          return done;
        if (trace_ != nullptr) [[unlikely]] {
          run_traced(*running);
        } else {
          running->family->call(running->family->object, running->task);
        }
        ++done;
        next->family = nullptr;
        if (!finish(queue, *running, *next)) break;
        std::swap(running, next);
        if (done == queue.tasks_per_slice) [[unlikely]] {
          push(queue, *running);
          return done;
        }
      }
      if (done == queue.tasks_per_slice) return done;
    }
  } catch (...) {
    fail(*running);
  }
  return done;
}

/// Records where it runs. The task may throw.
[[gnu::noinline, gnu::cold]] void Runner::run_traced(const Ready& ready) {
  struct End {
    const trace::JobTrace& trace;

    ~End() { trace.end_task(); }
  };

  trace_->begin_task(traced_names_[static_cast<std::size_t>(ready.family->index)], ready.task.step,
                     ready.index);
  const End end{*trace_};
  ready.family->call(ready.family->object, ready.task);
}

/// Finds the next task: the last one pushed here, roots of a step that has begun, gap fillers,
/// tasks of other queues.
bool Runner::find(WorkerQueue& queue, Ready& ready) {
  Deque::Item item = 0;
  for (;;) {
    if (queue.urgent.pop(item)) break;
    if (take_roots(queue)) continue;
    if (queue.gap_filling.pop(item)) break;
    if (!steal(queue, item)) return false;
    break;
  }
  ready = task_of(item);
  return true;
}

bool Runner::steal(WorkerQueue& queue, Deque::Item& item) {
  const std::size_t count = queues_.size();
  for (const bool is_urgent : {true, false}) {
    for (std::size_t i = 0; i < count; ++i) {
      WorkerQueue& victim = *queues_[(queue.next_victim + i) % count];
      Deque& deque = is_urgent ? victim.urgent : victim.gap_filling;
      if (&victim == &queue || deque.seems_empty()) continue;
      if (deque.steal(item)) {
        queue.next_victim = (queue.next_victim + i) % count;
        return true;
      }
    }
  }
  return false;
}

/// Increments the counters of some roots of the step that has begun.
bool Runner::take_roots(WorkerQueue& queue) {
  const std::uint32_t count = compiled_.root_count();
  // Relaxed: a guess.
  if (static_cast<std::uint32_t>(roots_.load(std::memory_order_relaxed)) >= count) return false;
  if (&queue == queues_[0].get()) begin_messages();
  const std::uint32_t share =
      std::clamp(count / (4 * static_cast<std::uint32_t>(queues_.size())), 1U, roots_at_a_time_max);
  // Acquire, pairs with begin_step(): the effects of the step before.
  const std::uint64_t word = roots_.fetch_add(share, std::memory_order_acquire);
  const auto first = static_cast<std::uint32_t>(word);
  if (first >= count) return false;
  const auto step = static_cast<Index>(word >> index_bits);
  const std::uint32_t last = first + std::min(share, count - first);
  auto box = std::upper_bound(
                 compiled_.roots().begin(), compiled_.roots().end(), first,
                 [](std::uint32_t root, const RootBox& other) { return root < other.first; }) -
             1;
  for (std::uint32_t root = first; root < last; ++box) {
    Key key = box->keys.key_at(root - box->first);
    const auto end =
        std::min<std::uint32_t>(last, box->first + static_cast<std::uint32_t>(box->keys.count()));
    for (; root < end; ++root, key = box->keys.next(key)) {
      Ready ready;
      satisfy_one(queue, *box->family, key, step, ready);
      if (ready.family != nullptr) push(queue, ready);
    }
  }
  return true;
}

/// Satisfies the dependencies of a task's successors. Returns true if `next` is to be run at once.
bool Runner::finish(WorkerQueue& queue, const Ready& done, Ready& next) {
  const CompiledFamily& family = *done.family;
  const SuccessorRegion& region = family.region_of(done.task.key);
  for (const CompiledEdge& edge : region.in_step)
    satisfy(queue, edge, done, done.task.step, next);
  for (const Edge& edge : family.wide_in_step)
    satisfy_all(queue, edge, done.task.key, done.task.step, next);
  // Before edges to the next step, so that steps end in order.
  if (region.is_sink) complete_sink(queue, done.task.step, next);
  const Index next_step = done.task.step + 1;
  if (next_step < steps_) {
    for (const CompiledEdge& edge : region.crossing)
      satisfy(queue, edge, done, next_step, next);
    for (const Edge& edge : family.wide_crossing)
      satisfy_all(queue, edge, done.task.key, next_step, next);
  }
  return next.family != nullptr;
}

inline void Runner::satisfy(
    WorkerQueue& queue, const CompiledEdge& edge, const Ready& done, Index step, Ready& next) {
  CompiledFamily& family = *edge.to;
  const Index index = done.index + edge.distance;
  const std::uint32_t expected = step == first_step_ ? edge.in_first_step : edge.in_later_steps;
  if (expected != 1 &&
      !family.counters[counters_of(step, family.task_count) + index].arrive(expected))
    return;
  Key key = done.task.key;
  for (std::size_t d = 0; d < key.size(); ++d)
    key[d] += edge.shift[d];
  if (edge.needs_admission && step != first_step_) {
    become_ready_if_admitted(queue, family, key, index, step, next);
  } else {
    become_ready(queue, family, key, index, step, next);
  }
}

void Runner::satisfy_all(
    WorkerQueue& queue, const Edge& edge, const Key& from, Index step, Ready& next) {
  CompiledFamily& family = compiled_.family(static_cast<std::size_t>(edge.to));
  for_each_key(dag_.successors(edge, from),
               [&](const Key& key) { satisfy_one(queue, family, key, step, next); });
}

void Runner::satisfy_one(
    WorkerQueue& queue, CompiledFamily& family, const Key& key, Index step, Ready& next) {
  const InDegree& in_degree = family.in_degree_of(key);
  const std::uint32_t expected =
      step == first_step_ ? in_degree.in_first_step : in_degree.in_later_steps;
  const Index index = family.space.index_of(key);
  if (expected != 1 &&
      !family.counters[counters_of(step, family.task_count) + index].arrive(expected))
    return;
  if (in_degree.needs_admission && step != first_step_) {
    become_ready_if_admitted(queue, family, key, index, step, next);
  } else {
    become_ready(queue, family, key, index, step, next);
  }
}

/// All predecessors of a root in the step before are done. Its own step may have to wait for the
/// step before that.
inline void Runner::become_ready_if_admitted(WorkerQueue& queue,
                                             CompiledFamily& family,
                                             const Key& key,
                                             Index index,
                                             Index step,
                                             Ready& next) {
  if (step_window_.admits(static_cast<std::uint64_t>(step))) [[likely]] {
    become_ready(queue, family, key, index, step, next);
    return;
  }
  const Index number = family.first_task + index;
  // Read by the releasing thread, ordered by the list.
  parked_steps_.data()[number] = step;
  if (!step_window_.park(static_cast<std::uint32_t>(number), static_cast<std::uint64_t>(step),
                         parked_links_.data()[number]))
    release_parked(queue, next);
}

/// A step has been admitted: releases all parked roots.
void Runner::release_parked(WorkerQueue& queue, Ready& next) {
  step_window_.release_all(
      [this](std::uint32_t number) -> auto& { return parked_links_.data()[number]; },
      [&](std::uint32_t number) {
        CompiledFamily& family = compiled_.family_of(number);
        const Index index = static_cast<Index>(number) - family.first_task;
        become_ready_if_admitted(queue, family, family.space.key_at(index), index,
                                 parked_steps_.data()[number], next);
      });
}

inline void Runner::become_ready(WorkerQueue& queue,
                                 CompiledFamily& family,
                                 const Key& key,
                                 Index index,
                                 Index step,
                                 Ready& next) {
  if (family.kind != FamilyKind::task) [[unlikely]] {
    const int channel = family.channel_of(index, step);
    &queue == queues_[0].get() ? start(channel, step) : enqueue_message(channel, step);
    return;
  }
  if (family.is_filling(key)) [[unlikely]] {
    push(queue, {{key, step}, &family, index});
    return;
  }
  if (next.family != nullptr) push(queue, next);
  next.task.key = key;
  next.task.step = step;
  next.family = &family;
  next.index = index;
}

void Runner::push(WorkerQueue& queue, const Ready& ready) {
  const bool is_filling = ready.family->is_filling(ready.task.key);
  (is_filling ? queue.gap_filling : queue.urgent).push(item_of(ready));
}

void Runner::fail(const Ready& ready) {
  // Relaxed: the owner reads it when no helper is inside.
  if (!has_failure_.exchange(true, std::memory_order_relaxed))
    failure_ = {std::current_exception(), ready};
  is_cancelled_.store(true, std::memory_order_relaxed);
}

/// No helper is inside, but tasks may be in any queue.
void Runner::clear_after_failure() {
  for (const auto& queue : queues_) {
    queue->urgent.clear();
    queue->gap_filling.clear();
  }
  compiled_.clear_counters();
  outbox_.take_all([this](std::uint32_t i) -> auto& { return outbox_links_[i]; },
                   [](std::uint32_t) {});
  if (messages_in_progress_ != 0) messenger_->clear();
  messages_in_progress_ = 0;
  std::fill(channel_steps_.begin(), channel_steps_.end(), no_step);
}

Deque::Item Runner::item_of(const Ready& ready) {
  const auto family = static_cast<std::uint64_t>(ready.family->index);
  const auto step = static_cast<std::uint64_t>(ready.task.step) & ((1U << step_bits) - 1);
  return (family << (index_bits + step_bits)) | (step << index_bits) |
         static_cast<std::uint64_t>(ready.index);
}

Ready Runner::task_of(Deque::Item item) const {
  constexpr auto step_mask = (std::uint64_t{1} << step_bits) - 1;
  CompiledFamily& family = compiled_.family(item >> (index_bits + step_bits));
  const auto index = static_cast<Index>(static_cast<std::uint32_t>(item));
  // A stale value is no later than the task's step, and close enough.
  const Index done = steps_done();
  const std::uint64_t ahead = ((item >> index_bits) - static_cast<std::uint64_t>(done)) & step_mask;
  return {{family.space.key_at(index), done + static_cast<Index>(ahead)}, &family, index};
}

// ---- steps
// ---------------------------------------------------------------------------------------

/// Whether the run is traced, and the names of tasks.
void Runner::begin_trace() {
  trace_ = trace::job_trace();
  traced_names_.clear();
  if (trace_ == nullptr) return;
  for (int i = 0; i < dag_.family_count(); ++i) {
    const std::string& name = dag_.family(i).name;
    traced_names_.push_back(
        {.text = name.data(), .bytes = name.size(), .hash = trace::hash_of(name)});
  }
}

/// Idle threads increment the counters of its roots.
void Runner::begin_step(Index step) {
  // Release, pairs with take_roots().
  roots_.store(static_cast<std::uint64_t>(step) << index_bits, std::memory_order_release);
}

/// A task without a successor in its step is done.
void Runner::complete_sink(WorkerQueue& queue, Index step, Ready& next) {
  std::atomic<std::int64_t>& left = sinks_left_[step & 1];
  // Acquire and release: the last decrement has seen the effects of the whole step.
  if (left.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  left.store(compiled_.sink_count(), std::memory_order_relaxed);
  step_window_.record_done(static_cast<std::uint64_t>(step) + 1);
  if (compiled_.window() != 1) {
    release_parked(queue, next);
  } else if (step + 1 < steps_) {
    begin_step(step + 1);
  }
}

}  // namespace sorrel::graph
