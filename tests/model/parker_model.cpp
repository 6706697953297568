// The parker: no wake-up is lost, and the last one to fall asleep knows it, exactly then.
#include <array>
#include <cstdint>

#include "core/parker.hpp"
#include "model/model_sync.hpp"  // Must stay last: Relacy's macros.

namespace sorrel::model {

namespace {

enum class SecondLook : std::uint8_t { taken, left_out };

/// Two wakers publish something each; the sleeper sleeps until it has seen both. A lost wake-up is
/// a sleep without end.
template <Weakened weakened, SecondLook second_look = SecondLook::taken>
struct WakeUpModel : rl::test_suite<WakeUpModel<weakened, second_look>, 3> {
  using Sync = ModelSync<weakened>;
  using Parker = core::BasicParker<Sync>;

  static constexpr std::uint64_t waker_count = 2;
  typename Parker::Count asleep_count;
  typename Parker::State state;
  Parker parker{state, asleep_count};
  std::array<typename Sync::template Atomic<std::uint64_t>, waker_count> published;
  std::uint64_t seen_count = 0;

  void thread(unsigned index) {
    if (index < waker_count) {
      published[index].store(1, Order::relaxed);
      parker.try_unpark();
    } else {
      while (seen_count < waker_count) {
        if (!poll_all()) park();
      }
    }
  }

  /// True when there is something new.
  bool poll_all() {
    std::uint64_t count = 0;
    for (auto& flag : published)
      count += flag.load(Order::relaxed);
    const bool any = count != seen_count;
    seen_count = count;
    return any;
  }

  void park() {
    parker.prepare_park();
    if (second_look == SecondLook::taken && poll_all()) {
      parker.cancel_park();
      return;
    }
    parker.mark_idle();
    while (parker.is_parked())
      rl::yield(1, $);
  }

  void after() {
    // A claimed worker was counted out.
    RL_ASSERT(asleep_count.load(Order::relaxed) == 0);
  }
};

/// Two workers with a message to each other, one sent by a timer, and one answer. When both sleep
/// for good the last one must know, once, and see what the other has left behind.
template <Weakened weakened>
struct AllIdleModel : rl::test_suite<AllIdleModel<weakened>, 2> {
  using Sync = ModelSync<weakened>;
  using Parker = core::BasicParker<Sync>;

  struct Worker {
    explicit Worker(typename Parker::Count& asleep_count) : parker(state, asleep_count) {}

    typename Parker::State state;
    Parker parker;
    typename Sync::template Atomic<std::uint64_t> inbox;
    typename Sync::template Plain<int> left_behind;
    std::uint64_t taken_count = 0;
    bool has_timer = false;
    bool is_counted_in = false;
  };

  typename Parker::Count asleep_count;
  std::array<Worker, 2> workers{Worker(asleep_count), Worker(asleep_count)};
  bool is_over = false;

  void before() { workers[0].has_timer = true; }

  void thread(unsigned index) {
    if (index == 1) send_to(0);
    while (!is_over) {
      if (!poll_all(index)) park(index);
    }
  }

  void send_to(unsigned to) {
    // One sender each, so that this is no read-modify-write.
    workers[to].inbox.store(workers[to].inbox.load(Order::relaxed) + 1, Order::relaxed);
    if (workers[to].parker.try_unpark()) workers[to].is_counted_in = false;
  }

  bool poll_all(unsigned index) {
    Worker& self = workers[index];
    if (self.inbox.load(Order::relaxed) == self.taken_count) return false;
    ++self.taken_count;
    if (index == 1) send_to(0);
    return true;
  }

  void park(unsigned index) {
    Worker& self = workers[index];
    static_cast<void>(self.left_behind.mutate());
    self.parker.prepare_park();
    if (poll_all(index)) {
      self.parker.cancel_park();
    } else if (self.has_timer) {
      doze(index);
    } else {
      self.is_counted_in = true;
      if (self.parker.mark_idle() == 2) on_all_asleep(index);
      while (!is_over && self.parker.is_parked())
        rl::yield(1, $);
    }
  }

  void doze(unsigned index) {
    for (int i = 0; i < 2 && workers[index].parker.is_parked(); ++i)
      rl::yield(1, $);
    workers[index].parker.cancel_park();
    workers[index].has_timer = false;
    send_to(1 - index);
  }

  void on_all_asleep(unsigned index) {
    const Worker& other = workers[1 - index];
    RL_ASSERT(!is_over);
    RL_ASSERT(other.is_counted_in);
    RL_ASSERT(workers[0].taken_count == 2 && workers[1].taken_count == 1);
    static_cast<void>(other.left_behind.get());
    is_over = true;
  }
};

/// A worker that slept and was claimed finds itself counted out.
template <Weakened weakened>
struct ClaimedModel : rl::test_suite<ClaimedModel<weakened>, 2> {
  using Parker = core::BasicParker<ModelSync<weakened, true>>;
  typename Parker::Count asleep_count;
  typename Parker::State state;
  Parker parker{state, asleep_count};

  void thread(unsigned index) {
    if (index == 0) {
      parker.prepare_park();
      parker.mark_idle();
      while (parker.is_parked())
        rl::yield(1, $);
      asleep_count.order_is_kept();
    } else {
      while (!parker.try_unpark())
        rl::yield(1, $);
    }
  }
};

/// A worker that cancels its park after it was claimed counts itself in behind being counted out.
template <Weakened weakened>
struct CancelParkModel : rl::test_suite<CancelParkModel<weakened>, 2> {
  using Parker = core::BasicParker<ModelSync<weakened, true>>;
  typename Parker::Count asleep_count;
  typename Parker::State state;
  Parker parker{state, asleep_count};

  void thread(unsigned index) {
    if (index == 0) {
      parker.prepare_park();
      parker.cancel_park();
    } else {
      parker.try_unpark();
    }
  }

  void after() { RL_ASSERT(asleep_count.load(Order::relaxed) == 0); }
};

constexpr Weakened intact{};
constexpr Weakened no_heavy_fence{.without_heavy_fence = true};
constexpr Weakened no_light_fence{.without_light_fence = true};
constexpr Weakened late_counting{.with_late_counting = true};
constexpr Weakened claim_relaxed{.cell = Cell::u32, .order = Order::acq_rel};
constexpr Weakened woken_relaxed{.cell = Cell::u32, .order = Order::acquire};
constexpr Weakened count_relaxed{.cell = Cell::i32, .order = Order::acq_rel};

void check_wake_up(Checker& checker) {
  checker.must_hold<WakeUpModel<intact>>("wake-up");
  checker.must_be_caught<WakeUpModel<no_heavy_fence>>("wake-up, (H) fence left out");
  checker.must_be_caught<WakeUpModel<no_light_fence>>("wake-up, (L) fence left out");
  checker.must_be_caught<WakeUpModel<intact, SecondLook::left_out>>("wake-up, no second look");
}

void check_count(Checker& checker) {
  checker.must_hold<AllIdleModel<intact>>("all idle");
  checker.must_be_caught<AllIdleModel<count_relaxed>>("all idle, (A) count relaxed");
  checker.must_be_caught<AllIdleModel<late_counting>>("all idle, counted out after the try_unpark");
  checker.must_hold<ClaimedModel<intact>>("claimed");
  checker.must_be_caught<ClaimedModel<claim_relaxed>>("claimed, (C) try_unpark relaxed");
  checker.must_be_caught<ClaimedModel<woken_relaxed>>("claimed, (W) woken relaxed");
  checker.must_hold<CancelParkModel<intact>>("cancel park");
  checker.must_be_caught<CancelParkModel<claim_relaxed>>("cancel park, (C) try_unpark relaxed");
  checker.must_be_caught<CancelParkModel<woken_relaxed>>("cancel park, (W) woken relaxed");
}

}  // namespace

}  // namespace sorrel::model

int main() {
  sorrel::model::Checker checker(3);
  sorrel::model::check_wake_up(checker);
  sorrel::model::check_count(checker);
  return checker.status();
}
