// Guests: the seat excludes, and a request to leave the fibers is never lost, whichever thread
// polls it.
#include <array>
#include <cstdint>

// clang-format off: the models' header must stay last, for Relacy's macros.
#include "core/index_list.hpp"
#include "core/parker.hpp"
#include "core/seat.hpp"
#include "model/model_sync.hpp"
// clang-format on

namespace sorrel::model {

namespace {

/// A futex that wakes a sleeper only by wake_one(), or when the time is over.
template <class Sync>
struct ModelFutex {
  using Word = typename Sync::template Atomic<std::uint32_t>;

  /// Which threads sleep.
  static std::array<bool, 4>& sleeping() {
    static std::array<bool, 4> of_threads{};
    return of_threads;
  }

  static void wait(Word& word, std::uint32_t expected, std::int64_t timeout_ns) {
    // The kernel compares the newest value, as a read-modify-write does. Relacy runs other threads
    // before atomic operations only, so the sleep begins in the same step.
    if (!word.compare_exchange(expected, expected, Order::relaxed)) return;
    const unsigned self = rl::thread_index();
    sleeping()[self] = true;
    for (int round = 0; sleeping()[self] && (timeout_ns < 0 || round < 2); ++round)
      rl::yield(1, $);
    sleeping()[self] = false;
  }

  static void wake_one(Word& /*word*/) {
    for (bool& sleeps : sleeping()) {
      if (!sleeps) continue;
      sleeps = false;
      return;
    }
  }
};

/// Threads take the seat in turn, and change a variable that only its holder may.
template <Weakened weakened>
struct SeatModel : rl::test_suite<SeatModel<weakened>, 3> {
  using Sync = ModelSync<weakened>;
  using Seat = core::BasicSeat<Sync, ModelFutex<Sync>>;

  static constexpr int turn_count = 2;
  Seat seat;
  typename Sync::template Plain<int> count;

  void before() { ModelFutex<Sync>::sleeping() = {}; }

  void thread(unsigned index) {
    for (int turn = 0; turn < turn_count; ++turn) {
      seat.take(index == 0 ? Seat::worker : Seat::guest);
      ++count.mutate();
      seat.give();
    }
  }

  void after() { RL_ASSERT(count.get() == 3 * turn_count); }
};

/// A step of the protocol that a mutation leaves out or moves.
enum class Step : std::uint8_t {
  none,
  put_back,         ///< A guest that has polled a request puts it back.
  handle_on_entry,  ///< The request is not put back, but handled when the worker takes its seat.
};

/// How a thread runs its worker: until a request, or in rounds, beside others.
enum class Turns : std::uint8_t { alone, in_rounds };

/// The worker's thread, a guest, and a thread that wants the worker to leave its fibers for good:
/// a change of width, a stop. Without the request the worker's thread sleeps for ever.
template <Turns turns, Step mutation = Step::none>
struct RequestModel : rl::test_suite<RequestModel<turns, mutation>, 3> {
  using Sync = ModelSync<Weakened{}>;
  using Parker = core::BasicParker<Sync>;
  using Seat = core::BasicSeat<Sync, ModelFutex<Sync>>;

  typename Parker::Count asleep_count;
  typename Parker::State state;
  Parker parker{state, asleep_count};
  Seat seat;
  core::BasicIndexList<Sync> opened;
  typename core::BasicIndexList<Sync>::Link link;
  typename Sync::template Atomic<std::uint32_t> is_called;
  typename Sync::template Atomic<std::uint64_t> is_wanted;
  // For the thread that has the seat.
  typename Sync::template Plain<bool> has_missed;
  typename Sync::template Plain<bool> is_root_waiting;

  void before() {
    ModelFutex<Sync>::sleeping() = {};
    has_missed.mutate() = is_root_waiting.mutate() = false;
  }

  void thread(unsigned index) {
    if (index == 0) {
      while (is_wanted.load(Order::relaxed) == 0) {
        if (turns == Turns::alone) {
          run_until_attention();
        } else {
          run_round();
        }
      }
    } else if (index == 1) {
      call_as_guest();
    } else {
      is_wanted.store(1, Order::relaxed);
      request_attention();
    }
  }

  void request_attention() {
    if (is_called.exchange(1, Order::acq_rel) == 0) opened.push(0, link);
    parker.try_unpark();
  }

  void call_as_guest() {
    seat.take(Seat::guest, 1, [this](typename Seat::Holder holder) {
      if (holder == Seat::worker) request_attention();
    });
    poll(true);
    if (mutation != Step::handle_on_entry && has_missed.get()) {
      has_missed.mutate() = false;
      if (mutation != Step::put_back) opened.push(0, link);
    }
    seat.give();
  }

  bool poll(bool is_guest) {
    if (opened.seems_empty()) return false;
    opened.take_all([this](std::uint32_t) -> auto& { return link; },
                    [&](std::uint32_t) { handle_attention(is_guest); });
    return true;
  }

  void handle_attention(bool is_guest) {
    if (is_guest) {
      has_missed.mutate() = true;
      return;
    }
    is_called.exchange(0, Order::acq_rel);
    is_root_waiting.mutate() = false;
  }

  void take_seat() {
    seat.take(Seat::worker);
    if (mutation != Step::handle_on_entry || !has_missed.get()) return;
    has_missed.mutate() = false;
    handle_attention(false);
  }

  void run_until_attention() {
    take_seat();
    suspend();
    seat.give();
  }

  void suspend() {
    is_root_waiting.mutate() = true;
    for (;;) {
      poll(false);
      if (!is_root_waiting.get()) return;
      park();
    }
  }

  void park() {
    parker.prepare_park();
    if (poll(false) || !is_root_waiting.get()) {
      parker.cancel_park();
      return;
    }
    seat.give();
    while (parker.is_parked())
      rl::yield(1, $);
    parker.cancel_park();
    take_seat();
  }

  void run_round() {
    take_seat();
    poll(false);
    seat.give();
    if (is_wanted.load(Order::relaxed) == 0) sleep();
  }

  /// For the end of the sleep, then announced, for its work.
  void sleep() {
    take_seat();
    seat.give();
    parker.prepare_park();
    take_seat();
    const bool has_any = poll(false);
    seat.give();
    while (!has_any && parker.is_parked())
      rl::yield(1, $);
    parker.cancel_park();
  }
};

}  // namespace

}  // namespace sorrel::model

int main() {
  using namespace sorrel::model;
  using sorrel::core::Order;
  Checker checker(3);
  checker.must_hold<SeatModel<Weakened{}>>("seat");
  checker.must_be_caught<SeatModel<relaxed<Cell::u32, Order::acquire>>>("seat, (K) take relaxed");
  checker.must_be_caught<SeatModel<relaxed<Cell::u32, Order::release>>>("seat, (R) give relaxed");
  checker.must_hold<RequestModel<Turns::alone>>("request");
  checker.must_be_caught<RequestModel<Turns::alone, Step::put_back>>(
      "request, a guest does not put it back");
  checker.must_be_caught<RequestModel<Turns::alone, Step::handle_on_entry>>(
      "request, handled on entry, then the root waits");
  checker.must_hold<RequestModel<Turns::in_rounds>>("request, several workers on the thread");
  checker.must_be_caught<RequestModel<Turns::in_rounds, Step::put_back>>(
      "request, several workers, a guest does not put it back");
  checker.must_be_caught<RequestModel<Turns::in_rounds, Step::handle_on_entry>>(
      "request, handled before the sleep of several workers");
  return checker.status();
}
