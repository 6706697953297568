// The kernels of src/omp: a region from its fork to its end, fibers that help with a region's tasks
// while the next begins, fibers that start through the queue, the last tasks of a barrier, the task
// flag, a helper that falls asleep, a thread that waits in a list, and the batches of a dynamic
// loop with two thieves.
#include <array>
#include <cstdint>

#include "core/sleeper.hpp"
#include "omp/kernel/barrier_word.hpp"
#include "omp/kernel/batch.hpp"
#include "omp/kernel/dock.hpp"
#include "omp/kernel/queued_start.hpp"
#include "omp/kernel/start_bits.hpp"
#include "omp/kernel/task_flag.hpp"
#include "omp/kernel/wait_count.hpp"
// clang-format off
#include "model/model_sync.hpp"  // Must stay last: Relacy's macros.
// clang-format on

namespace sorrel::model {

namespace {

using omp::BarrierOrders;
using omp::DockOrders;
using omp::QueuedStartOrders;
using omp::StartOrders;
using omp::TaskFlagOrders;
using omp::WaitOrders;

/// A step of the protocol that a mutation omits.
enum class Step : std::uint8_t { none, dock, meet, check_again, sync, lock, wake };

/// Two regions of three threads: the master, and two fibers. Two helpers start the fibers if they
/// come in time, else the master does. Each thread sees and publishes data of its own region only.
/// With leaves of two threads, the master and the first fiber meet in one.
template <class Start,
          class Docking,
          class Orders,
          Step left_out = Step::none,
          std::uint32_t leaf_size = 4>
struct RegionModel : rl::test_suite<RegionModel<Start, Docking, Orders, left_out, leaf_size>, 3> {
  using Sync = ModelSync<Weakened{}>;
  static constexpr std::uint32_t size = 3;

  struct Fiber {
    omp::BasicDock<Sync, Docking> dock;
    typename Sync::template Plain<int> registers;
  };

  omp::BasicStartBits<Sync, Start> bits;
  omp::BasicBarrierWord<Sync, Orders, leaf_size> last;
  std::array<Fiber, size> fibers;
  typename Sync::template Plain<int> team;
  std::array<typename Sync::template Plain<int>, size> results;
  bool is_finished = false;

  void before() {
    last.set_size(size);
    for (Fiber& fiber : fibers)
      fiber.dock.give_up(omp::RunState::docked);
  }

  void thread(unsigned index) {
    if (index == 0) {
      run_region(1);
      run_region(2);
      is_finished = true;
      return;
    }
    for (int i = 0; i < 2; ++i)
      (void)help(index);
  }

  void run_region(int number) {
    team.mutate() = number;
    bits.publish(0b110);
    results[0].mutate() = number;
    const omp::BarrierState state = arrive(0);
    while (left_out != Step::meet && last.generation() == state.generation()) {
      if (!help(1)) rl::yield(1, $);
    }
    for (auto& result : results)
      RL_ASSERT(result.get() == number);
  }

  bool help(unsigned preferred) {
    const std::uint32_t number = bits.take(preferred);
    if (number == bits.none) return false;
    Fiber& fiber = fibers[number];
    while (left_out != Step::dock && !fiber.dock.try_take_docked())
      rl::yield(1, $);
    fiber.registers.mutate() += 1;
    results[number].mutate() = team.get();
    (void)arrive(number);
    // The master may be in the next region: the fiber's worker switches away from it.
    fiber.registers.mutate() += 1;
    fiber.dock.give_up(omp::RunState::docked);
    return true;
  }

  omp::BarrierState arrive(std::uint32_t number) {
    const omp::BarrierState state = last.arrive(number);
    if (last.is_full(state)) last.try_open(state);
    return state;
  }

  void after() { RL_ASSERT(is_finished); }
};

/// Two regions of a master and one fiber that starts through the queue, and two workers. The fiber
/// is in the queue once, and runs on one worker at a time. It docks after the master has seen the
/// end of its part, maybe in the next region.
template <class Orders, Step left_out = Step::none>
struct QueueModel : rl::test_suite<QueueModel<Orders, left_out>, 3> {
  using Sync = ModelSync<Weakened{}>;
  static constexpr std::uint32_t region_count = 2;
  omp::BasicQueuedStart<Sync, Orders> start;
  typename Sync::template Atomic<std::uint32_t> queued;
  typename Sync::template Atomic<std::uint32_t> arrived;
  typename Sync::template Atomic<std::uint32_t> docked;
  typename Sync::template Plain<std::uint32_t> team;
  typename Sync::template Plain<int> registers;

  void thread(unsigned index) {
    if (index != 0) return work();
    for (std::uint32_t number = 1; number <= region_count; ++number) {
      team.mutate() = number;
      if (start.start() || left_out == Step::meet) push();
      while (arrived.load(Order::acquire) != number)
        rl::yield(1, $);
    }
  }

  // The queue's lock orders a push before the pop.
  void push() { RL_ASSERT(queued.exchange(1, Order::acq_rel) == 0); }

  void work() {
    while (docked.load(Order::acquire) != region_count) {
      if (queued.exchange(0, Order::acq_rel) == 0) {
        rl::yield(1, $);
        continue;
      }
      registers.mutate() += 1;
      const std::uint32_t number = team.get();
      arrived.store(number, Order::release);
      registers.mutate() += 1;
      if (start.dock()) push();
      docked.fetch_add(1, Order::release);
    }
  }

  void after() { RL_ASSERT(start.is_docked()); }
};

/// Two regions of a master and one fiber, each with a task that the master makes and any thread may
/// run. A helper starts the fiber, or takes it for the task once it has arrived. No fiber runs a
/// task before it has been started in the task's region.
template <class Orders, Step left_out = Step::none>
struct HelpModel : rl::test_suite<HelpModel<Orders, left_out>, 2> {
  using Sync = ModelSync<Weakened{}>;
  static constexpr std::uint32_t size = 2;

  omp::BasicStartBits<Sync> bits;
  omp::BasicBarrierWord<Sync, Orders> last;
  omp::BasicDock<Sync> dock;
  typename Sync::template Atomic<std::uint32_t> task;  ///< its region's number, or 0
  typename Sync::template Atomic<std::uint32_t> made;
  std::array<typename Sync::template Atomic<std::uint32_t>, size> finished;
  typename Sync::template Plain<std::uint32_t> team;
  typename Sync::template Plain<std::uint32_t> result;
  // Private to the fiber.
  typename Sync::template Plain<std::uint32_t> region;
  typename Sync::template Plain<std::uint32_t> done_generation;

  void before() {
    last.set_size(size);
    dock.give_up(omp::RunState::docked);
  }

  void thread(unsigned index) {
    if (index == 0) {
      run_region(1);
      run_region(2);
      return;
    }
    for (int i = 0; i < 2; ++i) {
      if (start()) continue;
      if (!dock.try_take_docked()) continue;
      if (region.get() != 0 && is_open()) help();
      dock.give_up(omp::RunState::docked);
    }
  }

  void run_region(std::uint32_t number) {
    team.mutate() = number;
    bits.publish(0b10);
    made.store(number, Order::relaxed);
    task.store(number, Order::release);
    const omp::BarrierState state = last.arrive(0);
    open_if_done(state);
    while (last.generation() == state.generation()) {
      if (start()) continue;
      if (task.exchange(0, Order::acquire) != 0) {
        result.mutate() = number;
        finish(0);
      } else {
        rl::yield(1, $);
      }
    }
    RL_ASSERT(result.get() == number);
  }

  bool start() {
    if (bits.take(1) == bits.none) return false;
    while (!dock.try_take_docked())
      rl::yield(1, $);
    region.mutate() = team.get();
    const omp::BarrierState state = last.arrive(1);
    done_generation.mutate() = state.generation();
    open_if_done(state);
    help();
    dock.give_up(omp::RunState::docked);
    return true;
  }

  bool is_open() { return last.generation() == done_generation.get(); }

  void help() {
    const std::uint32_t number = task.exchange(0, Order::acquire);
    if (number == 0) return;
    if (left_out != Step::check_again && !is_open()) {
      task.exchange(number, Order::acq_rel);
      return;
    }
    RL_ASSERT(number == region.get());
    result.mutate() = number;
    finish(1);
  }

  void finish(unsigned who) {
    finished[who].store(finished[who].load(Order::relaxed) + 1, Order::release);
    open_if_done(last.sync());
  }

  void open_if_done(omp::BarrierState state) {
    if (!last.is_full(state)) return;
    const std::uint32_t done = finished[0].load(Order::acquire) + finished[1].load(Order::acquire);
    if (done == made.load(Order::relaxed)) last.try_open(state);
  }
};

/// Both threads of a team arrive and run one task each: the last of these actions opens the
/// barrier.
template <class Orders, Step left_out = Step::none>
struct FinishModel : rl::test_suite<FinishModel<Orders, left_out>, 2> {
  using Sync = ModelSync<Weakened{}>;
  static constexpr std::uint32_t size = 2;
  omp::BasicBarrierWord<Sync, Orders> barrier;
  std::array<typename Sync::template Atomic<std::uint32_t>, size> finished;
  std::array<typename Sync::template Plain<int>, size> results;

  void before() { barrier.set_size(size); }

  void thread(unsigned index) {
    const omp::BarrierState state = barrier.arrive(index);
    open_if_done(state);
    results[index].mutate() = 1;
    finished[index].store(1, Order::release);
    if (left_out != Step::sync) {
      open_if_done(barrier.sync());
    } else if (finished[1 - index].load(Order::acquire) == 1) {
      // Without the word in between, no thread need see that it is the last.
      open_if_done({size});
    }
  }

  void open_if_done(omp::BarrierState state) {
    if (!barrier.is_full(state)) return;
    for (auto& count : finished) {
      if (count.load(Order::acquire) == 0) return;
    }
    for (auto& result : results)
      RL_ASSERT(result.get() == 1);
    barrier.try_open(state);
  }

  void after() { RL_ASSERT(barrier.generation() == 1); }
};

/// One thread opens a barrier; the other falls asleep if it is not open.
template <class Orders>
struct OpenModel : rl::test_suite<OpenModel<Orders>, 2> {
  using Sync = ModelSync<Weakened{}>;
  omp::BasicBarrierWord<Sync, Orders> barrier;
  typename Sync::template Atomic<std::uint32_t> sleepers;

  void thread(unsigned index) {
    if (index == 0) {
      barrier.try_open(barrier.arrive(0));
      if (sleepers.load(Order::seq_cst) != 0) sleepers.exchange(0, Order::acq_rel);
      return;
    }
    sleepers.exchange(1, Order::seq_cst);
    if (barrier.generation() != 0) return;
    while (sleepers.load(Order::seq_cst) != 0)
      rl::yield(1, $);
  }
};

/// One thread queues a task, one finds none and lowers the flag, one falls asleep if the flag is
/// down. The task is not lost, and no thread sleeps while it is queued.
template <class Orders, bool begins_up, Step left_out = Step::none>
struct FlagModel : rl::test_suite<FlagModel<Orders, begins_up, left_out>, 3> {
  using Sync = ModelSync<Weakened{}>;
  omp::BasicTaskFlag<Sync, Orders> flag;
  typename Sync::template Atomic<std::uint32_t> lock;
  typename Sync::template Atomic<std::uint32_t> queued;
  typename Sync::template Atomic<std::uint32_t> sleepers;

  void before() {
    if (begins_up) flag.raise();
  }

  void thread(unsigned index) {
    if (index == 0) {
      take_lock();
      queued.store(1, Order::relaxed);
      lock.store(0, Order::release);
      flag.raise();
      wake();
    } else if (index == 1) {
      if (!flag.seems_up() || queued.load(Order::relaxed) != 0) return;
      const bool is_down = flag.lower([&] { return has_queued(); });
      if (!is_down && left_out != Step::wake) wake();
    } else {
      sleepers.exchange(1, Order::seq_cst);
      if (flag.is_up()) return;
      while (sleepers.load(Order::seq_cst) != 0)
        rl::yield(1, $);
    }
  }

  bool has_queued() {
    if (left_out != Step::lock) take_lock();
    const bool is_some = queued.load(Order::relaxed) != 0;
    if (left_out != Step::lock) lock.store(0, Order::release);
    return is_some;
  }

  void take_lock() {
    while (lock.exchange(1, Order::acquire) != 0)
      rl::yield(1, $);
  }

  void wake() {
    if (sleepers.load(Order::seq_cst) != 0) sleepers.exchange(0, Order::acq_rel);
  }

  void after() { RL_ASSERT(flag.seems_up()); }
};

/// A helper announces its sleep and checks again; the master publishes and checks for sleepers.
template <class Start>
struct SleepModel : rl::test_suite<SleepModel<Start>, 2> {
  using Sync = ModelSync<Weakened{}>;
  omp::BasicStartBits<Sync, Start> bits;
  core::BasicParkedCount<Sync> parked_count;
  typename core::BasicParkedCount<Sync>::Sleeper sleeper;
  std::uint32_t taken = 0;

  void thread(unsigned index) {
    if (index == 0) {
      bits.publish(0b10);
      if (parked_count.has_parked() && sleeper.seems_parked()) (void)parked_count.unpark(sleeper);
      return;
    }
    parked_count.prepare(sleeper);
    if (bits.any()) {
      parked_count.cancel(sleeper);
    } else {
      while (sleeper.is_parked())
        rl::yield(1, $);
    }
    taken = bits.take(1);
  }

  void after() { RL_ASSERT(taken == 1); }
};

/// A waiter joins a list unless its condition holds; a waker makes the condition true, then checks
/// for waiters. The waiter sees what the waker did before.
template <class Orders>
struct WaitModel : rl::test_suite<WaitModel<Orders>, 2> {
  using Sync = ModelSync<Weakened{}>;
  omp::BasicWaitCount<Sync, Orders> count;
  typename Sync::template Atomic<std::uint32_t> has_come;
  typename Sync::template Atomic<std::uint32_t> lock;
  typename Sync::template Plain<bool> is_listed;
  typename Sync::template Atomic<std::uint32_t> is_woken;
  typename Sync::template Plain<int> result;

  void thread(unsigned index) {
    if (index == 0) {
      result.mutate() = 1;
      has_come.exchange(1, Orders::make);
      if (!count.seems_zero()) wake();
      return;
    }
    if (add_unless_come()) {
      while (is_woken.load(Order::acquire) == 0)
        rl::yield(1, $);
    }
    RL_ASSERT(has_come.load(Order::acquire) == 1 && result.get() == 1);
  }

  bool add_unless_come() {
    take_lock();
    count.increment();
    const bool has_to_wait = has_come.load(Orders::examine) == 0;
    if (has_to_wait) {
      is_listed.mutate() = true;
    } else {
      count.decrement();
    }
    lock.store(0, Order::release);
    return has_to_wait;
  }

  void wake() {
    take_lock();
    if (is_listed.get()) {
      is_listed.mutate() = false;
      count.decrement();
      is_woken.store(1, Order::release);
    }
    lock.store(0, Order::release);
  }

  void take_lock() {
    while (lock.exchange(1, Order::acquire) != 0)
      rl::yield(1, $);
  }
};

/// An owner runs two batches in turn; two thieves steal from it, and the second also from the
/// first. Every chunk is run once.
template <class Sync>
struct BatchModel : rl::test_suite<BatchModel<Sync>, 3> {
  static constexpr std::size_t chunk_count = 6;
  static constexpr std::uint64_t loop = 7;
  std::array<omp::BasicBatch<Sync>, 3> batches;
  std::array<int, chunk_count> runs{};

  void thread(unsigned index) {
    if (index == 0) {
      batches[0].fill(loop, {0, 4});
      run_all(0);
      batches[0].fill(loop, {4, 6});
    } else {
      const omp::ChunkRange loot = batches[index - 1].steal(loop);
      if (loot.empty()) return;
      batches[index].fill(loop, loot);
    }
    run_all(index);
  }

  void run_all(unsigned index) {
    for (std::uint64_t chunk = 0; batches[index].take(chunk);)
      ++runs[chunk];
  }

  void after() {
    for (const int count : runs)
      RL_ASSERT(count == 1);
  }
};

struct PublishRelaxed : StartOrders {
  static constexpr Order publish = Order::relaxed;
};

struct PublishReleased : StartOrders {
  static constexpr Order publish = Order::release;
};

struct TakeRelaxed : StartOrders {
  static constexpr Order take = Order::relaxed;
};

struct CheckRelaxed : StartOrders {
  static constexpr Order check = Order::relaxed;
};

struct GiveUpRelaxed : DockOrders {
  static constexpr Order give_up = Order::relaxed;
};

struct TakeDockRelaxed : DockOrders {
  static constexpr Order take = Order::relaxed;
};

struct StartRelaxed : QueuedStartOrders {
  static constexpr Order start = Order::relaxed;
};

struct DockRelaxed : QueuedStartOrders {
  static constexpr Order dock = Order::relaxed;
};

struct ArriveRelaxed : BarrierOrders {
  static constexpr Order arrive = Order::relaxed;
};

struct OpenRelaxed : BarrierOrders {
  static constexpr Order open = Order::relaxed;
};

struct SyncRelaxed : BarrierOrders {
  static constexpr Order sync = Order::relaxed;
};

struct SeeRelaxed : BarrierOrders {
  static constexpr Order see = Order::relaxed;
};

struct FlagRelaxed : TaskFlagOrders {
  static constexpr Order raise = Order::relaxed;
};

struct CountInAcqRel : WaitOrders {
  static constexpr Order increment = Order::acq_rel;
};

struct ExamineAcquired : WaitOrders {
  static constexpr Order examine = Order::acquire;
};

struct MakeAcqRel : WaitOrders {
  static constexpr Order make = Order::acq_rel;
};

struct SeeAcquired : WaitOrders {
  static constexpr Order see = Order::acquire;
};

/// The addition is a load and a store.
struct TornAdding : ModelSync<Weakened{}> {
  template <class T>
  struct Atomic : ModelSync<Weakened{}>::Atomic<T> {
    T fetch_add(T value, Order order) {
      const T before = this->load(order);
      this->store(before + value, order);
      return before;
    }
  };
};

/// The exchange does not compare.
struct BlindExchange : ModelSync<Weakened{}> {
  template <class T>
  struct Atomic : ModelSync<Weakened{}>::Atomic<T> {
    bool compare_exchange(T&, T desired, Order order) {
      this->store(desired, order);
      return true;
    }
  };
};

}  // namespace

}  // namespace sorrel::model

int main() {
  using namespace sorrel::model;
  Checker checker(3);
  using Good = RegionModel<StartOrders, DockOrders, BarrierOrders>;
  checker.must_hold<Good>("region");
  checker.must_be_caught<RegionModel<PublishRelaxed, DockOrders, BarrierOrders>>(
      "region, (B) publish relaxed");
  checker.must_be_caught<RegionModel<TakeRelaxed, DockOrders, BarrierOrders>>(
      "region, (B) take relaxed");
  checker.must_be_caught<RegionModel<StartOrders, GiveUpRelaxed, BarrierOrders>>(
      "region, (U) give up relaxed");
  checker.must_be_caught<RegionModel<StartOrders, TakeDockRelaxed, BarrierOrders>>(
      "region, (D) take relaxed");
  checker.must_be_caught<RegionModel<StartOrders, DockOrders, ArriveRelaxed>>(
      "region, (A) arrive relaxed");
  checker.must_be_caught<RegionModel<StartOrders, DockOrders, SeeRelaxed>>(
      "region, (G) see relaxed");
  checker.must_hold<RegionModel<StartOrders, DockOrders, BarrierOrders, Step::none, 2>>(
      "region with leaves");
  checker.must_be_caught<RegionModel<StartOrders, DockOrders, ArriveRelaxed, Step::none, 2>>(
      "region with leaves, (A) arrive relaxed");
  checker.must_be_caught<RegionModel<StartOrders, DockOrders, OpenRelaxed, Step::none, 2>>(
      "region with leaves, (O) open relaxed");
  checker.must_be_caught<RegionModel<StartOrders, DockOrders, SeeRelaxed, Step::none, 2>>(
      "region with leaves, (G) see relaxed");
  checker.must_be_caught<RegionModel<StartOrders, DockOrders, BarrierOrders, Step::dock>>(
      "region, a fiber is resumed before its worker has let go");
  checker.must_be_caught<RegionModel<StartOrders, DockOrders, BarrierOrders, Step::meet>>(
      "region, the master does not wait");
  checker.must_hold<QueueModel<QueuedStartOrders>>("queue");
  checker.must_be_caught<QueueModel<StartRelaxed>>("queue, (T) start relaxed");
  checker.must_be_caught<QueueModel<DockRelaxed>>("queue, (V) dock relaxed");
  checker.must_be_caught<QueueModel<QueuedStartOrders, Step::meet>>(
      "queue, the master does not ask whether the fiber has docked");
  checker.must_hold<HelpModel<BarrierOrders>>("help");
  checker.must_be_caught<HelpModel<BarrierOrders, Step::check_again>>(
      "help, a found task is not looked at again");
  checker.must_be_caught<HelpModel<ArriveRelaxed>>("help, (A) arrive relaxed");
  checker.must_hold<FinishModel<BarrierOrders>>("finish");
  checker.must_be_caught<FinishModel<SyncRelaxed>>("finish, (S) sync relaxed");
  checker.must_be_caught<FinishModel<BarrierOrders, Step::sync>>(
      "finish, the others are looked at without it");
  checker.must_hold<OpenModel<BarrierOrders>>("open");
  checker.must_be_caught<OpenModel<OpenRelaxed>>("open, (O) open relaxed");
  checker.must_be_caught<OpenModel<SeeRelaxed>>("open, (G) see relaxed");
  checker.must_hold<FlagModel<TaskFlagOrders, true>>("flag, up");
  checker.must_hold<FlagModel<TaskFlagOrders, false>>("flag, down");
  checker.must_be_caught<FlagModel<FlagRelaxed, false>>("flag, (K) raise relaxed");
  checker.must_be_caught<FlagModel<TaskFlagOrders, true, Step::lock>>(
      "flag, the queue is checked without its lock");
  checker.must_be_caught<FlagModel<TaskFlagOrders, true, Step::wake>>(
      "flag, the thread that raises it again wakes no sleeper");
  checker.must_hold<SleepModel<StartOrders>>("sleep");
  checker.must_be_caught<SleepModel<PublishReleased>>("sleep, (B) publish released only");
  checker.must_be_caught<SleepModel<CheckRelaxed>>("sleep, (B) check relaxed");
  checker.must_hold<WaitModel<WaitOrders>>("wait");
  checker.must_be_caught<WaitModel<CountInAcqRel>>("wait, (W) count in not seq_cst");
  checker.must_be_caught<WaitModel<ExamineAcquired>>("wait, (E) examine acquired only");
  checker.must_be_caught<WaitModel<MakeAcqRel>>("wait, (M) make not seq_cst");
  checker.must_be_caught<WaitModel<SeeAcquired>>("wait, (C) see acquired only");
  checker.must_hold<BatchModel<ModelSync<Weakened{}>>>("batch");
  checker.must_be_caught<BatchModel<TornAdding>>("batch, the owner takes in two steps");
  checker.must_be_caught<BatchModel<BlindExchange>>("batch, a thief does not compare");
  return checker.status();
}
