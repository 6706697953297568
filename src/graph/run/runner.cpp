#include "graph/run/runner.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "arch/cpu.hpp"
#include "sorrel.h"

namespace sorrel::graph {

namespace {

// A slice is as many tasks as take about this long, some 20 us: between two, helpers look after
// their own ranks and the owner after its messages.
constexpr std::uint64_t slice_cycles = 60'000;
// The owner's slices in a row, some 3 ms: then other ranks of its worker run, which have cells of
// their own that take the place of these in the cache.
constexpr std::uint64_t turn_cycles = 9'000'000;
constexpr std::uint32_t tasks_per_slice_max = 4096;
// Slices of one parallel loop. The lower half are the owner's, the upper half helpers', who stop
// well before they would meet.
constexpr std::int64_t slice_count = std::int64_t{1} << 17;
constexpr std::int64_t meeting_margin = 4096;
// Looks for something to steal before a helper's slice ends empty-handed.
constexpr std::uint32_t looks_max = 64;
// Empty-handed slices of the owner before it sleeps until its helpers have left the loop.
constexpr std::uint32_t idle_rounds_max = 64;
constexpr std::uint32_t roots_at_a_time_max = 64;
// Where the owner is there for messages. A look at them lasts at least this long, so that a loop
// sees that it is worth waking a helper.
constexpr std::uint64_t look_cycles = 1'500;
// Some 10 s: nobody comes, perhaps because others' tasks take so long.
constexpr std::uint64_t patience_cycles = 30'000'000'000;
constexpr std::uint32_t looks_max_beside_comm_worker = 8;
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

Runner::Runner(const Dag& dag,
               Compiled& compiled,
               Messenger* messenger,
               const std::vector<int>& channel_peers)
    : dag_(dag),
      compiled_(compiled),
      messenger_(messenger),
      has_one_set_(compiled.counter_sets() == 1),
      ended_channels_(channel_peers.size()),
      gates_(static_cast<std::uint64_t>(compiled.window())),
      outbox_links_(channel_peers.size()),
      channel_steps_(channel_peers.size(), no_step),
      channel_peers_(channel_peers) {
  if (compiled.window() != 1) {
    parked_links_ = ZeroedArray<Gates::Link>(static_cast<std::size_t>(compiled.task_count()));
    parked_steps_ = ZeroedArray<Index>(static_cast<std::size_t>(compiled.task_count()));
  }
  const std::uint32_t wanted = std::max(std::thread::hardware_concurrency(), 1U);
  const std::uint64_t cells =
      power_of_two_from(static_cast<std::uint64_t>(compiled.task_count()) + 1);
  for (std::uint32_t i = 0; i < std::min(wanted, lane_count_max); ++i) {
    auto lane = std::make_unique<Lane>();
    // A task is ready once at a time, since it comes after itself: no deque can be too small.
    lane->urgent_cells = ZeroedArray<Deque::Cell>(cells);
    lane->urgent.set_cells(lane->urgent_cells.data(), cells);
    const std::uint64_t filling_cells = compiled.has_gap_fillers() ? cells : 2;
    lane->gap_filling_cells = ZeroedArray<Deque::Cell>(filling_cells);
    lane->gap_filling.set_cells(lane->gap_filling_cells.data(), filling_cells);
    lane->next_victim = i + 1;
    lanes_.push_back(std::move(lane));
  }
}

Report Runner::run(Index steps, Failure& failure) {
  const auto began = std::chrono::steady_clock::now();
  steps_ = steps;
  waiting_seconds_ = 0;
  message_steps_ = 0;
  // Where loops have one thread, nobody would come.
  is_comm_worker_ = lanes_.size() > 1 && sorrel_is_comm_worker() != 0 && sorrel_loop_threads() > 1;
  leaves_work_.store(is_comm_worker_, std::memory_order_relaxed);
  helped_last_ = turn_began_ = arch::cycles();
  // Relaxed all: helpers are called after this.
  gates_.begin();
  is_cancelled_.store(false, std::memory_order_relaxed);
  has_failure_.store(false, std::memory_order_relaxed);
  for (std::atomic<std::int64_t>& left : sinks_left_)
    left.store(compiled_.sink_count(), std::memory_order_relaxed);
  let_begin(0);

  Lane& own = *lanes_[0];
  while (!is_over()) {
    look_after_messages();
    const std::uint32_t done = leaves_work() ? 0 : work(own);
    if (is_over()) break;
    idle_rounds_ = 0;
    if (has_surplus()) {
      const sorrel_loop_options options{SORREL_DYNAMIC, 1, static_cast<int>(lanes_.size())};
      sorrel_parallel_for(0, slice_count, slice_of_loop, this, &options);
    } else if (done == 0) {
      wait_for_message();
    } else {
      end_slice();
    }
  }
  Report report;
  report.steps = steps_done();
  report.tasks = report.steps * compiled_.task_count();
  if (is_cancelled_.load(std::memory_order_relaxed)) {
    clear_after_failure();
    failure = std::exchange(failure_, {});
  }
  report.seconds = seconds_since(began);
  report.waiting_seconds = waiting_seconds_;
  return report;
}

// ---- slices
// --------------------------------------------------------------------------------------

int Runner::slice_of_loop(void* runner, std::int64_t begin, std::int64_t /*end*/) {
  return static_cast<Runner*>(runner)->slice(begin);
}

/// The caller of a loop runs its chunks from the low end, one by one, helpers from the high end:
/// that tells who is who, even where both are fibers of one thread.
int Runner::slice(std::int64_t number) {
  if (is_over()) return stop;
  if (number < slice_count / 2) return number + 1 == slice_count / 2 ? stop : owner_slice();
  if (number < slice_count / 2 + meeting_margin) return stop;
  const bool has_helped = help();
  // Where helpers have all the work, other ranks' loops may need this one.
  return is_over() || (leaves_work() && !has_helped) ? stop : go_on;
}

int Runner::owner_slice() {
  const bool has_messages = look_after_messages();
  const std::uint32_t done = may_leave_work_to_others() ? 0 : work(*lanes_[0]);
  if (is_over()) return stop;
  if (done != 0) {
    idle_rounds_ = 0;
    end_slice();
    return go_on;
  }
  if (is_quiescent()) return stop;
  // Helpers have what is left. Those who wait for this thread go first.
  if (++idle_rounds_ > idle_rounds_max && !has_messages && !is_comm_worker_) return stop;
  sorrel_yield();
  arch::pause();
  return go_on;
}

/// The owner's. Lets other ranks of its worker run when it has had its turn.
void Runner::end_slice() {
  if (arch::cycles() - turn_began_ < turn_cycles) return;
  sorrel_yield();
  turn_began_ = arch::cycles();
}

bool Runner::leaves_work() const {
  // Relaxed: either way is right.
  return leaves_work_.load(std::memory_order_relaxed);
}

/// Whether the owner has nothing to do with tasks now. Looks after messages meanwhile, and as long
/// as helpers are inside: one may begin the next step with a task that takes long, and a loop that
/// ends waits for them.
bool Runner::may_leave_work_to_others() {
  if (!is_comm_worker_) return false;
  const std::uint64_t began = arch::cycles();
  for (;;) {
    const std::uint64_t now = arch::cycles();
    // Relaxed: whether there is anybody, not what they have done.
    const bool is_helped = helpers_inside_.load(std::memory_order_relaxed) != 0;
    if (is_helped || !has_surplus()) helped_last_ = now;
    const bool is_patient = now - helped_last_ < patience_cycles;
    leaves_work_.store(is_patient, std::memory_order_relaxed);
    if (!is_patient) return false;
    look_after_messages();
    if (is_over()) return true;
    if (now - began < look_cycles) continue;
    if (!is_helped) return true;
    sorrel_yield();
    arch::pause();
  }
}

/// A helper's slice; whether there was something to do.
bool Runner::help() {
  Lane* lane = take_lane();
  if (lane == nullptr) return false;
  std::uint32_t done = 0;
  const std::uint32_t looks = leaves_work() ? looks_max_beside_comm_worker : looks_max;
  // Acquire and release: who finds nobody inside has seen what all helpers did.
  helpers_inside_.fetch_add(1, std::memory_order_acq_rel);
  for (std::uint32_t look = 0; look < looks && !is_over(); ++look) {
    if ((done = work(*lane)) != 0) break;
    for (std::uint32_t i = 0; i <= look; ++i)
      arch::pause();
  }
  helpers_inside_.fetch_sub(1, std::memory_order_acq_rel);
  // Release, pairs with take_lane(): the lane's own fields.
  lane->is_taken.store(false, std::memory_order_release);
  return done != 0;
}

Runner::Lane* Runner::take_lane() {
  for (std::size_t i = 1; i < lanes_.size(); ++i) {
    Lane& lane = *lanes_[i];
    // Relaxed: a guess. Acquire, pairs with the release in help().
    if (!lane.is_taken.load(std::memory_order_relaxed) &&
        !lane.is_taken.exchange(true, std::memory_order_acquire))
      return &lane;
  }
  return nullptr;
}

bool Runner::is_over() const {
  return steps_done() == steps_ ||
         // Relaxed: a request to hurry.
         is_cancelled_.load(std::memory_order_relaxed);
}

/// Whether others could do something.
bool Runner::has_surplus() const {
  if (lanes_.size() == 1) return false;
  for (const auto& lane : lanes_)
    if (!lane->urgent.seems_empty() || !lane->gap_filling.seems_empty()) return true;
  return static_cast<std::uint32_t>(roots_.load(std::memory_order_relaxed)) <
         compiled_.root_count();
}

/// Asked by the owner with nothing to do: nobody else has anything either.
bool Runner::is_quiescent() const {
  // Acquire: what helpers that have left left behind.
  return helpers_inside_.load(std::memory_order_acquire) == 0 && outbox_.seems_empty() &&
         !has_surplus() && !has_messages_to_begin();
}

// ---- tasks
// ---------------------------------------------------------------------------------------

/// One slice. Returns how many tasks were run; 0: nothing was ready.
std::uint32_t Runner::work(Lane& lane) {
  const std::uint64_t began = arch::cycles();
  const std::uint32_t done = work_until_slice_ends(lane);
  const std::uint64_t spent = arch::cycles() - began;
  if (spent > slice_cycles * 2 && done > 1) {
    lane.tasks_per_slice = done / 2;
  } else if (spent < slice_cycles / 2 && done == lane.tasks_per_slice &&
             lane.tasks_per_slice < tasks_per_slice_max) {
    lane.tasks_per_slice *= 2;
  }
  return done;
}

std::uint32_t Runner::work_until_slice_ends(Lane& lane) {
  std::uint32_t done = 0;
  // Two places that change roles: a copy from one to the other would be the longest part.
  Ready places[2];
  Ready* running = &places[0];
  Ready* next = &places[1];
  try {
    while (find(lane, *running)) {
      for (;;) {
        // Relaxed: a request to hurry.
        if (is_cancelled_.load(std::memory_order_relaxed)) [[unlikely]]
          return done;
        running->family->call(running->family->object, running->task);
        ++done;
        next->family = nullptr;
        if (!finish(lane, *running, *next)) break;
        std::swap(running, next);
        if (done == lane.tasks_per_slice) [[unlikely]] {
          push(lane, *running);
          return done;
        }
      }
      if (done == lane.tasks_per_slice) return done;
    }
  } catch (...) {
    fail(*running);
  }
  return done;
}

/// What to do next, if anything: what this lane made ready last, what a step begins with, what may
/// wait, what others have.
bool Runner::find(Lane& lane, Ready& ready) {
  Deque::Item item = 0;
  for (;;) {
    if (lane.urgent.pop(item)) break;
    if (take_roots(lane)) continue;
    if (lane.gap_filling.pop(item)) break;
    if (!steal(lane, item)) return false;
    break;
  }
  ready = task_of(item);
  return true;
}

bool Runner::steal(Lane& lane, Deque::Item& item) {
  const std::size_t count = lanes_.size();
  for (const bool is_urgent : {true, false}) {
    for (std::size_t i = 0; i < count; ++i) {
      Lane& victim = *lanes_[(lane.next_victim + i) % count];
      Deque& deque = is_urgent ? victim.urgent : victim.gap_filling;
      if (&victim == &lane || deque.seems_empty()) continue;
      if (deque.steal(item)) {
        lane.next_victim = (lane.next_victim + i) % count;
        return true;
      }
    }
  }
  return false;
}

/// Tells some of the tasks with which a step begins.
bool Runner::take_roots(Lane& lane) {
  const std::uint32_t count = compiled_.root_count();
  // Relaxed: a guess.
  if (static_cast<std::uint32_t>(roots_.load(std::memory_order_relaxed)) >= count) return false;
  if (&lane == lanes_[0].get()) begin_messages();
  const std::uint32_t wanted =
      std::clamp(count / (4 * static_cast<std::uint32_t>(lanes_.size())), 1U, roots_at_a_time_max);
  // Acquire, pairs with let_begin(): the step before is done.
  const std::uint64_t word = roots_.fetch_add(wanted, std::memory_order_acquire);
  const auto first = static_cast<std::uint32_t>(word);
  if (first >= count) return false;
  const auto step = static_cast<Index>(word >> index_bits);
  const std::uint32_t last = first + std::min(wanted, count - first);
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
      arrive_at(lane, *box->family, key, step, ready);
      if (ready.family != nullptr) push(lane, ready);
    }
  }
  return true;
}

/// A task is done: tells its successors. True if `next` is to be run at once.
bool Runner::finish(Lane& lane, const Ready& done, Ready& next) {
  const CompiledFamily& family = *done.family;
  const Zone& zone = family.zone_of(done.task.key);
  for (const Arc& arc : zone.in_step)
    arrive_by(lane, arc, done, done.task.step, next);
  for (const Edge& edge : family.wide_in_step)
    arrive_at_all(lane, edge, done.task.key, done.task.step, next);
  // Before those of the next step, so that steps end in order.
  if (zone.is_sink) note_sink(lane, done.task.step, next);
  const Index next_step = done.task.step + 1;
  if (next_step < steps_) {
    for (const Arc& arc : zone.crossing)
      arrive_by(lane, arc, done, next_step, next);
    for (const Edge& edge : family.wide_crossing)
      arrive_at_all(lane, edge, done.task.key, next_step, next);
  }
  return next.family != nullptr;
}

inline void Runner::arrive_by(
    Lane& lane, const Arc& arc, const Ready& done, Index step, Ready& next) {
  CompiledFamily& family = *arc.to;
  const Index index = done.index + arc.distance;
  const std::uint32_t expected = step == 0 ? arc.in_first_step : arc.in_later_steps;
  if (expected != 1 &&
      !family.arrivals[counters_of(step, family.task_count) + index].arrive(expected))
    return;
  Key key = done.task.key;
  for (std::size_t d = 0; d < key.size(); ++d)
    key[d] += arc.shift[d];
  if (arc.looks_at_gate && step != 0) {
    become_ready_at_gate(lane, family, key, index, step, next);
  } else {
    become_ready(lane, family, key, index, step, next);
  }
}

void Runner::arrive_at_all(Lane& lane, const Edge& edge, const Key& from, Index step, Ready& next) {
  CompiledFamily& family = compiled_.family(static_cast<std::size_t>(edge.to));
  for_each_key(dag_.successors(edge, from),
               [&](const Key& key) { arrive_at(lane, family, key, step, next); });
}

void Runner::arrive_at(
    Lane& lane, CompiledFamily& family, const Key& key, Index step, Ready& next) {
  const Expectation& expectation = family.expectation_of(key);
  const std::uint32_t expected = step == 0 ? expectation.in_first_step : expectation.in_later_steps;
  const Index index = family.space.index_of(key);
  if (expected != 1 &&
      !family.arrivals[counters_of(step, family.task_count) + index].arrive(expected))
    return;
  if (expectation.looks_at_gate && step != 0) {
    become_ready_at_gate(lane, family, key, index, step, next);
  } else {
    become_ready(lane, family, key, index, step, next);
  }
}

/// A root that all of the step before have arrived at. Its own step may have to wait for the one
/// before that.
inline void Runner::become_ready_at_gate(
    Lane& lane, CompiledFamily& family, const Key& key, Index index, Index step, Ready& next) {
  if (gates_.is_open(static_cast<std::uint64_t>(step))) [[likely]] {
    become_ready(lane, family, key, index, step, next);
    return;
  }
  const Index number = family.first_task + index;
  // Read by whoever releases it, ordered by the list.
  parked_steps_.data()[number] = step;
  if (!gates_.park(static_cast<std::uint32_t>(number), static_cast<std::uint64_t>(step),
                   parked_links_.data()[number]))
    release_parked(lane, next);
}

/// Some gate has opened: goes through all roots that are parked.
void Runner::release_parked(Lane& lane, Ready& next) {
  gates_.release_all([this](std::uint32_t number) -> auto& { return parked_links_.data()[number]; },
                     [&](std::uint32_t number) {
                       CompiledFamily& family = compiled_.family_of(number);
                       const Index index = static_cast<Index>(number) - family.first_task;
                       become_ready_at_gate(lane, family, family.space.key_at(index), index,
                                            parked_steps_.data()[number], next);
                     });
}

inline void Runner::become_ready(
    Lane& lane, CompiledFamily& family, const Key& key, Index index, Index step, Ready& next) {
  if (family.kind != FamilyKind::task) [[unlikely]] {
    // Each message has two channels, for even and for odd steps.
    const int channel = family.first_channel + 2 * static_cast<int>(index) +
                        static_cast<int>((step + family.phase) & 1);
    &lane == lanes_[0].get() ? start(channel, step) : hand_over(channel, step);
    return;
  }
  if (family.is_filling(key)) [[unlikely]] {
    push(lane, {{key, step}, &family, index});
    return;
  }
  if (next.family != nullptr) push(lane, next);
  next.task.key = key;
  next.task.step = step;
  next.family = &family;
  next.index = index;
}

void Runner::push(Lane& lane, const Ready& ready) {
  const bool is_filling = ready.family->is_filling(ready.task.key);
  (is_filling ? lane.gap_filling : lane.urgent).push(item_of(ready));
}

void Runner::fail(const Ready& ready) {
  // Relaxed: read by the owner when nobody is inside.
  if (!has_failure_.exchange(true, std::memory_order_relaxed))
    failure_ = {std::current_exception(), ready};
  is_cancelled_.store(true, std::memory_order_relaxed);
}

/// Nobody is inside, but tasks may be anywhere.
void Runner::clear_after_failure() {
  for (const auto& lane : lanes_) {
    lane->urgent.clear();
    lane->gap_filling.clear();
  }
  compiled_.clear_counters();
  outbox_.take_all([this](std::uint32_t i) -> auto& { return outbox_links_[i]; },
                   [](std::uint32_t) {});
  if (messages_under_way_ != 0) messenger_->clear();
  messages_under_way_ = 0;
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
  // An old value is no later than the task's step, and close enough.
  const Index done = steps_done();
  const std::uint64_t ahead = ((item >> index_bits) - static_cast<std::uint64_t>(done)) & step_mask;
  return {{family.space.key_at(index), done + static_cast<Index>(ahead)}, &family, index};
}

// ---- steps
// ---------------------------------------------------------------------------------------

/// Its roots are told by whoever has nothing else to do.
void Runner::let_begin(Index step) {
  // Release, pairs with take_roots().
  roots_.store(static_cast<std::uint64_t>(step) << index_bits, std::memory_order_release);
}

/// A task without a successor in its step is done.
void Runner::note_sink(Lane& lane, Index step, Ready& next) {
  std::atomic<std::int64_t>& left = sinks_left_[step & 1];
  // Acquire and release: the last one has seen the whole step.
  if (left.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  left.store(compiled_.sink_count(), std::memory_order_relaxed);
  gates_.note_done(static_cast<std::uint64_t>(step) + 1);
  if (compiled_.window() != 1) {
    release_parked(lane, next);
  } else if (step + 1 < steps_) {
    let_begin(step + 1);
  }
}

}  // namespace sorrel::graph
