// The kernels of src/omp: a region from its fork to its end, a helper that falls asleep, and the
// batches of a dynamic loop with two thieves.
#include <array>
#include <cstdint>

#include "omp/batch.hpp"
#include "omp/dock.hpp"
#include "omp/meeting.hpp"
#include "omp/start_bits.hpp"
// clang-format off
#include "model/model_sync.hpp"  // Must stay last: Relacy's macros.
// clang-format on

namespace sorrel::model {

namespace {

using omp::DockOrders;
using omp::MeetingOrders;
using omp::StartOrders;

/// A step of the protocol that a mutation leaves out.
enum class Step : std::uint8_t { none, dock, meet };

/// Two regions of three threads: the master, and two fibers that two helpers start if they come in
/// time and the master if they do not. What each thread sees and leaves is its region's.
template <class Start, class Docking, class Meeting, Step left_out = Step::none>
struct RegionModel : rl::test_suite<RegionModel<Start, Docking, Meeting, left_out>, 3> {
  using Sync = ModelSync<Weakened{}>;
  static constexpr std::uint32_t size = 3;

  struct Fiber {
    omp::BasicDock<Sync, Docking> dock;
    typename Sync::template Plain<int> registers;
  };

  omp::BasicStartBits<Sync, Start> bits;
  omp::BasicMeeting<Sync, Meeting> last;
  std::array<Fiber, size> fibers;
  typename Sync::template Plain<int> team;
  std::array<typename Sync::template Plain<int>, size> results;
  bool is_finished = false;

  void before() {
    for (Fiber& fiber : fibers)
      fiber.dock.give_up(omp::Place::docked);
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
    const std::uint32_t generation = last.generation();
    bits.publish(0b110);
    results[0].mutate() = number;
    if (arrive()) last.try_open(size);
    while (left_out != Step::meet && last.generation() == generation) {
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
    if (arrive()) last.try_open(size);
    // The master may be in the next region: the fiber is switched away from.
    fiber.registers.mutate() += 1;
    fiber.dock.give_up(omp::Place::docked);
    return true;
  }

  bool arrive() { return last.arrive(size); }

  void after() { RL_ASSERT(is_finished); }
};

/// A helper announces that it sleeps and looks once more; the master publishes and looks for
/// sleepers. The flag stands for a worker's.
template <class Start>
struct SleepModel : rl::test_suite<SleepModel<Start>, 2> {
  using Sync = ModelSync<Weakened{}>;
  omp::BasicStartBits<Sync, Start> bits;
  typename Sync::template Atomic<std::uint32_t> is_asleep;
  std::uint32_t taken = 0;

  void thread(unsigned index) {
    if (index == 0) {
      bits.publish(0b10);
      if (is_asleep.load(Order::seq_cst) != 0) is_asleep.exchange(0, Order::acq_rel);
      return;
    }
    is_asleep.store(1, Order::seq_cst);
    if (!bits.any()) {
      while (is_asleep.load(Order::seq_cst) != 0)
        rl::yield(1, $);
    }
    taken = bits.take(1);
  }

  void after() { RL_ASSERT(taken == 1); }
};

/// An owner runs two batches in turn; two thieves take from it, and the second from the first.
/// Every chunk is run once.
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

struct LookRelaxed : StartOrders {
  static constexpr Order look = Order::relaxed;
};

struct GiveUpRelaxed : DockOrders {
  static constexpr Order give_up = Order::relaxed;
};

struct TakePlaceRelaxed : DockOrders {
  static constexpr Order take = Order::relaxed;
};

struct ArriveRelaxed : MeetingOrders {
  static constexpr Order arrive = Order::relaxed;
};

struct RaiseRelaxed : MeetingOrders {
  static constexpr Order raise = Order::relaxed;
};

struct SeeRelaxed : MeetingOrders {
  static constexpr Order see = Order::relaxed;
};

/// Adding is a load and a store.
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

/// Exchanging does not compare.
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
  using Good = RegionModel<StartOrders, DockOrders, MeetingOrders>;
  checker.must_hold<Good>("region");
  checker.must_be_caught<RegionModel<PublishRelaxed, DockOrders, MeetingOrders>>(
      "region, (B) publish relaxed");
  checker.must_be_caught<RegionModel<TakeRelaxed, DockOrders, MeetingOrders>>(
      "region, (B) take relaxed");
  checker.must_be_caught<RegionModel<StartOrders, GiveUpRelaxed, MeetingOrders>>(
      "region, (U) give up relaxed");
  checker.must_be_caught<RegionModel<StartOrders, TakePlaceRelaxed, MeetingOrders>>(
      "region, (D) take relaxed");
  checker.must_be_caught<RegionModel<StartOrders, DockOrders, ArriveRelaxed>>(
      "region, (A) arrive relaxed");
  checker.must_be_caught<RegionModel<StartOrders, DockOrders, RaiseRelaxed>>(
      "region, (G) raise relaxed");
  checker.must_be_caught<RegionModel<StartOrders, DockOrders, SeeRelaxed>>(
      "region, (G) see relaxed");
  checker.must_be_caught<RegionModel<StartOrders, DockOrders, MeetingOrders, Step::dock>>(
      "region, a fiber is resumed before its worker has let go");
  checker.must_be_caught<RegionModel<StartOrders, DockOrders, MeetingOrders, Step::meet>>(
      "region, the master does not wait");
  checker.must_hold<SleepModel<StartOrders>>("sleep");
  checker.must_be_caught<SleepModel<PublishReleased>>("sleep, (B) publish released only");
  checker.must_be_caught<SleepModel<LookRelaxed>>("sleep, (B) look relaxed");
  checker.must_hold<BatchModel<ModelSync<Weakened{}>>>("batch");
  checker.must_be_caught<BatchModel<TornAdding>>("batch, the owner takes in two steps");
  checker.must_be_caught<BatchModel<BlindExchange>>("batch, a thief does not compare");
  return checker.status();
}
