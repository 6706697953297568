// The sleeper with the symmetric handshake, and the count of those that are parked: no wake-up is
// lost, though wakers check only the count; a thread that is woken sees what its waker did before.
#include <array>
#include <cstdint>

#include "core/sleeper.hpp"
// clang-format off
#include "model/model_sync.hpp"  // Must stay last: Relacy's macros.
// clang-format on

namespace sorrel::model {

namespace {

using core::SleeperOrders;

/// A step of the protocol that a mutation omits.
enum class Step : std::uint8_t { none, check_again, count, subtract };

/// Two wakers publish something each; the sleeper sleeps until it has seen both. A lost wake-up is
/// a sleep without end.
template <class Orders, Step left_out = Step::none>
struct SleepModel : rl::test_suite<SleepModel<Orders, left_out>, 3> {
  using Sync = ModelSync<Weakened{}>;
  using ParkedCount = core::BasicParkedCount<Sync, Orders>;

  static constexpr std::uint32_t waker_count = 2;
  ParkedCount parked_count;
  typename ParkedCount::Sleeper sleeper;
  std::array<typename Sync::template Atomic<std::uint32_t>, waker_count> published;
  std::uint32_t seen_count = 0;

  void thread(unsigned index) {
    if (index < waker_count) {
      (void)published[index].exchange(1, Order::seq_cst);
      if (!parked_count.has_parked() || !sleeper.seems_parked()) return;
      if (left_out == Step::subtract) {
        (void)sleeper.unpark();
      } else {
        (void)parked_count.unpark(sleeper);
      }
    } else {
      while (seen_count < waker_count) {
        if (!poll_all()) park();
      }
    }
  }

  /// True when there is something new.
  bool poll_all() {
    std::uint32_t count = 0;
    for (auto& flag : published)
      count += flag.load(Order::seq_cst);
    const bool any = count != seen_count;
    seen_count = count;
    return any;
  }

  void park() {
    if (left_out == Step::count) {
      sleeper.prepare();
    } else {
      parked_count.prepare(sleeper);
    }
    if (left_out != Step::check_again && poll_all()) {
      parked_count.cancel(sleeper);
      return;
    }
    while (sleeper.is_parked())
      rl::yield(1, $);
  }

  void after() { RL_ASSERT(parked_count.seems() == 0); }
};

/// A waker writes a note before it unparks the sleeper. The sleeper reads it after its sleep, or
/// when it could not cancel.
template <Weakened weakened, bool cancels>
struct NoteModel : rl::test_suite<NoteModel<weakened, cancels>, 2> {
  using Sync = ModelSync<weakened>;
  using ParkedCount = core::BasicParkedCount<Sync>;

  ParkedCount parked_count;
  typename ParkedCount::Sleeper sleeper;
  typename Sync::template Plain<int> note;

  void thread(unsigned index) {
    if (index == 0) {
      while (!sleeper.seems_parked()) {
        if (cancels) return;
        rl::yield(1, $);
      }
      note.mutate() = 1;
      (void)parked_count.unpark(sleeper);
      return;
    }
    parked_count.prepare(sleeper);
    if (cancels && sleeper.cancel()) return;
    while (!cancels && sleeper.is_parked())
      rl::yield(1, $);
    RL_ASSERT(note.get() == 1);
  }
};

/// A waker subtracts from the count what the sleeper has added, so it must see the addition. A
/// variable that is not atomic stands for the count.
template <Weakened weakened>
struct CountedModel : rl::test_suite<CountedModel<weakened>, 2> {
  using Sync = ModelSync<weakened>;
  using Sleeper = typename core::BasicParkedCount<Sync>::Sleeper;

  Sleeper sleeper;
  typename Sync::template Plain<int> count;

  void thread(unsigned index) {
    if (index == 0) {
      while (!sleeper.unpark())
        rl::yield(1, $);
      RL_ASSERT(count.get() == 1);
    } else {
      count.mutate() = 1;
      sleeper.prepare();
    }
  }
};

struct AnnounceReleased : SleeperOrders {
  static constexpr Order announce = Order::release;
};

struct CheckAcquired : SleeperOrders {
  static constexpr Order check = Order::acquire;
};

struct CountAcqRel : SleeperOrders {
  static constexpr Order count = Order::acq_rel;
};

struct CheckCountAcquired : SleeperOrders {
  static constexpr Order check_count = Order::acquire;
};

constexpr Weakened intact{};
constexpr Weakened unpark_relaxed{.cell = Cell::u32, .order = Order::acq_rel};
constexpr Weakened woken_relaxed{.cell = Cell::u32, .order = Order::acquire};

}  // namespace

}  // namespace sorrel::model

int main() {
  using namespace sorrel::model;
  Checker checker(3);
  checker.must_hold<SleepModel<SleeperOrders>>("sleep");
  checker.must_be_caught<SleepModel<AnnounceReleased>>("sleep, (N) announcement released only");
  checker.must_be_caught<SleepModel<CheckAcquired>>("sleep, (S) check acquired only");
  checker.must_be_caught<SleepModel<CountAcqRel>>("sleep, (I) counted, not seq_cst");
  checker.must_be_caught<SleepModel<CheckCountAcquired>>("sleep, (K) check acquired only");
  checker.must_be_caught<SleepModel<SleeperOrders, Step::check_again>>("sleep, no second check");
  checker.must_be_caught<SleepModel<SleeperOrders, Step::count>>("sleep, not counted");
  checker.must_be_caught<SleepModel<SleeperOrders, Step::subtract>>("sleep, not subtracted");
  checker.must_hold<NoteModel<intact, false>>("note");
  checker.must_be_caught<NoteModel<unpark_relaxed, false>>("note, (C) unpark relaxed");
  checker.must_be_caught<NoteModel<woken_relaxed, false>>("note, (W) woken relaxed");
  checker.must_hold<NoteModel<intact, true>>("note, cancelled");
  checker.must_be_caught<NoteModel<unpark_relaxed, true>>("note, cancelled, (C) unpark relaxed");
  checker.must_be_caught<NoteModel<woken_relaxed, true>>("note, cancelled, (W) woken relaxed");
  checker.must_hold<CountedModel<intact>>("counted");
  checker.must_be_caught<CountedModel<unpark_relaxed>>("counted, (C) unpark relaxed");
  return checker.status();
}
