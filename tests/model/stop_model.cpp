// Stops: one worker acts while all others are held, sees all that they have written, and they see
// what it has changed. A stop that is given up has no effect.
#include <array>
#include <cstdint>

// clang-format off: the models' header must stay last, for Relacy's macros.
#include "core/stop_point.hpp"
#include "model/model_sync.hpp"
// clang-format on

namespace sorrel::model {

namespace {

/// A step of the protocol that a mutation leaves out or changes.
enum class Step : std::uint8_t {
  none,
  act_when_early,       ///< The first worker to arrive acts.
  close_before_acting,  ///< The last one ends the stop before it acts.
  go_on_when_early,     ///< An early worker, not the requester, does not wait.
  give_up_regardless,   ///< A worker gives up without asking whether all have arrived.
};

/// Three workers, of which the first requests two stops. Each has a plain variable; the action
/// moves a token from one to the next.
template <Weakened weakened, Step mutation = Step::none>
struct StopModel : rl::test_suite<StopModel<weakened, mutation>, 3> {
  using Sync = ModelSync<weakened>;
  using Point = core::BasicStopPoint<Sync>;
  using Arrival = typename Point::Arrival;

  static constexpr std::uint32_t worker_count = 3;
  static constexpr std::uint32_t stop_count = 2;
  Point point;
  /// Written by the requester: what the stop is for.
  typename Sync::template Plain<std::uint32_t> request;
  /// A token of each worker.
  std::array<typename Sync::template Plain<std::uint32_t>, worker_count> tokens;
  std::uint32_t action_count = 0;
  bool is_requester_done = false;

  void before() {
    request.mutate() = 0;
    for (auto& token : tokens)
      token.mutate() = 0;
  }

  void thread(unsigned index) {
    if (index == 0) {
      for (std::uint32_t i = 0; i < stop_count; ++i) {
        request.mutate() = i + 1;
        point.open();
        take_part(index);
      }
      is_requester_done = true;
      return;
    }
    // At most once in each stop, and perhaps in none.
    for (std::uint32_t i = 0; i < stop_count; ++i)
      take_part(index);
  }

  void take_part(unsigned index) {
    // The worker's own work.
    tokens[index].mutate() += 1;
    const auto stop = point.arrive(worker_count);
    if (stop.arrival == Arrival::late) return;
    if (stop.arrival == Arrival::last || mutation == Step::act_when_early) {
      if (mutation == Step::close_before_acting) point.close();
      act();
      if (mutation != Step::close_before_acting) point.close();
    } else if (mutation != Step::go_on_when_early || index == 0) {
      wait(stop.number);
    }
    tokens[index].mutate() += 1;
  }

  void act() {
    RL_ASSERT(request.get() != 0);
    ++action_count;
    for (auto& token : tokens)
      token.mutate() += 1;
  }

  void wait(std::uint32_t number) {
    constexpr int polls_before_giving_up = 2;
    for (int poll = 1; !point.is_over(number); ++poll) {
      if (poll == polls_before_giving_up) {
        const bool asks = mutation != Step::give_up_regardless;
        point.give_up(number, asks ? worker_count : worker_count + 1);
      }
      rl::yield(1, $);
    }
  }

  void after() {
    RL_ASSERT(is_requester_done);
    RL_ASSERT(action_count <= stop_count);
  }
};

/// A step that is left out where all act.
enum class TogetherStep : std::uint8_t {
  none,
  act_when_early,  ///< A participant acts before all have arrived.
  act_after_end,   ///< A participant takes the end of a stop that was given up for its arrival.
};

/// Stops in which every participant acts when all have arrived, and reads what the others have
/// written. The first one requests two stops and closes them.
template <Weakened weakened, TogetherStep mutation = TogetherStep::none>
struct TogetherModel : rl::test_suite<TogetherModel<weakened, mutation>, 3> {
  using Sync = ModelSync<weakened>;
  using Point = core::BasicStopPoint<Sync>;
  using Arrival = typename Point::Arrival;

  static constexpr std::uint32_t participant_count = 3;
  static constexpr std::uint32_t stop_count = 2;
  Point point;
  std::array<typename Sync::template Plain<std::uint32_t>, participant_count> tokens;
  /// For the requester alone; orders nothing.
  std::array<std::uint32_t, stop_count + 1> acting_counts{};

  void before() {
    for (auto& token : tokens)
      token.mutate() = 0;
  }

  void thread(unsigned index) {
    for (std::uint32_t i = 0; i < stop_count; ++i) {
      tokens[index].mutate() += 1;
      if (index == 0) point.open();
      const auto stop = point.arrive(participant_count);
      if (stop.arrival == Arrival::late) continue;
      if (mutation != TogetherStep::act_when_early && !wait_for_all(stop.number)) continue;
      std::uint32_t sum = 0;
      for (const auto& token : tokens)
        sum += token.get();
      RL_ASSERT(sum >= participant_count);
      acting_counts[stop.number] += 1;
      // The end of the exchange that follows: no participant goes on before.
      while (acting_counts[stop.number] != participant_count)
        rl::yield(1, $);
      if (index == 0) point.close();
      return;
    }
  }

  bool wait_for_all(std::uint32_t number) {
    constexpr int polls_before_giving_up = 2;
    for (int poll = 1; !point.have_all_arrived(number, participant_count); ++poll) {
      if (point.is_over(number)) return mutation == TogetherStep::act_after_end;
      if (poll == polls_before_giving_up) point.give_up(number, participant_count);
      rl::yield(1, $);
    }
    return true;
  }
};

}  // namespace

}  // namespace sorrel::model

int main() {
  using namespace sorrel::model;
  using sorrel::core::Order;
  Checker checker(2);
  checker.must_hold<StopModel<Weakened{}>>("stop");
  checker.must_be_caught<StopModel<relaxed<Cell::u64, Order::release>>>(
      "stop, (O) open and (C) close relaxed");
  checker.must_be_caught<StopModel<relaxed<Cell::u64, Order::acquire>>>("stop, (W) wait relaxed");
  checker.must_be_caught<StopModel<relaxed<Cell::u64, Order::acq_rel>>>(
      "stop, (A) arrival relaxed");
  checker.must_be_caught<StopModel<Weakened{}, Step::act_when_early>>(
      "stop, the first worker to arrive acts");
  checker.must_be_caught<StopModel<Weakened{}, Step::close_before_acting>>(
      "stop, it ends before the action");
  checker.must_be_caught<StopModel<Weakened{}, Step::go_on_when_early>>(
      "stop, a worker does not wait");
  checker.must_be_caught<StopModel<Weakened{}, Step::give_up_regardless>>(
      "stop, given up when all have arrived");
  checker.must_hold<TogetherModel<Weakened{}>>("all act");
  checker.must_be_caught<TogetherModel<relaxed<Cell::u64, Order::acquire>>>(
      "all act, (W) wait for all relaxed");
  checker.must_be_caught<TogetherModel<relaxed<Cell::u64, Order::acq_rel>>>(
      "all act, (A) arrival relaxed");
  checker.must_be_caught<TogetherModel<Weakened{}, TogetherStep::act_when_early>>(
      "all act, one of them before all have arrived");
  checker.must_be_caught<TogetherModel<Weakened{}, TogetherStep::act_after_end>>(
      "all act, one of them when the stop was given up");
  return checker.status();
}
