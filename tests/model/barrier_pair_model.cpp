// The barrier of two nodes: each sends the other one a record when its members have arrived, and
// goes on when it has the other's. Totals are read in place, so one may be a barrier ahead while
// the other still reads. In one barrier the first node holds its record until it has the other's
// and has looked at what the members of both wait for (a safepoint).
#include <array>
#include <cstdint>

// clang-format off: the models' header must stay last, for Relacy's macros.
#include "core/mailbox.hpp"
#include "model/model_sync.hpp"
// clang-format on

namespace sorrel::model {

namespace {

/// A step of the protocol that a mutation leaves out or changes.
enum class Step : std::uint8_t {
  none,
  keep_one_total,    ///< A node has one total in place of two that take turns.
  read_at_once,      ///< It does not wait for the other's record.
  contribute_first,  ///< It sends its record before it has its total.
  hold_too_short,    ///< It sends the record that it holds before it has the other's.
};

/// Three barriers: in the third one a node writes the total of the first again.
template <Weakened weakened, Step mutation = Step::none>
struct BarrierPairModel : rl::test_suite<BarrierPairModel<weakened, mutation>, 2> {
  using Sync = ModelSync<weakened>;
  using Total = typename Sync::template Plain<std::uint32_t>;

  static constexpr std::uint32_t barrier_count = 3;
  static constexpr std::uint32_t held_barrier = 1;

  /// What a thread has of the other one. Its own only.
  struct Node {
    bool has_arrived = false;
    std::uint32_t barrier_number = 0;
  };

  std::array<core::BasicMailbox<Sync, 2, 64, 28>, 2> mailboxes;
  std::array<std::array<Total, 2>, 2> totals;
  /// The barrier in which the members of a node wait.
  std::array<Total, 2> waits_in;

  static std::uint32_t total_of(unsigned node, std::uint32_t barrier) {
    return 10 * barrier + node + 1;
  }

  void thread(unsigned index) {
    const unsigned peer = 1 - index;
    Node node;
    for (std::uint32_t barrier = 0; barrier < barrier_count; ++barrier) {
      const std::uint32_t turn = mutation == Step::keep_one_total ? 0 : barrier % 2;
      const bool is_held = index == 0 && barrier == held_barrier;
      if (mutation == Step::contribute_first) contribute(index, barrier);
      totals[index][turn].mutate() = total_of(index, barrier);
      waits_in[index].mutate() = barrier;
      const bool has_contributed = mutation == Step::contribute_first;
      if (!has_contributed && (!is_held || mutation == Step::hold_too_short))
        contribute(index, barrier);
      while (mutation != Step::read_at_once && !node.has_arrived) {
        if (!take(mailboxes[peer], node)) rl::yield(1, $);
      }
      if (is_held) {
        for (const Total& waits : waits_in)
          RL_ASSERT(waits.get() == barrier);
        if (!has_contributed && mutation != Step::hold_too_short) contribute(index, barrier);
      }
      RL_ASSERT(mutation == Step::read_at_once || node.barrier_number == barrier);
      node.has_arrived = false;
      RL_ASSERT(totals[peer][turn].get() == total_of(peer, barrier));
    }
  }

  void contribute(unsigned index, std::uint32_t barrier) {
    RL_ASSERT(mailboxes[index].try_post({.words = {barrier}, .payload_bytes = 0}, nullptr));
  }

  /// All records that are there: none comes before the one of the last barrier has been used.
  static bool take(core::BasicMailbox<Sync, 2, 64, 28>& mailbox, Node& node) {
    return mailbox.take([&](const core::Record& record, const std::byte*) {
      RL_ASSERT(!node.has_arrived);
      node = {.has_arrived = true, .barrier_number = record.words[0]};
    });
  }
};

}  // namespace

}  // namespace sorrel::model

int main() {
  using namespace sorrel::model;
  using sorrel::core::Order;
  Checker checker(3);
  checker.must_hold<BarrierPairModel<Weakened{}>>("barrier of a pair");
  checker.must_be_caught<BarrierPairModel<relaxed<Cell::u32, Order::release>>>(
      "barrier of a pair, (P) publish relaxed");
  checker.must_be_caught<BarrierPairModel<relaxed<Cell::u32, Order::acquire>>>(
      "barrier of a pair, (T) take relaxed");
  checker.must_be_caught<BarrierPairModel<Weakened{}, Step::keep_one_total>>(
      "barrier of a pair, one total");
  checker.must_be_caught<BarrierPairModel<Weakened{}, Step::read_at_once>>(
      "barrier of a pair, read before the record");
  checker.must_be_caught<BarrierPairModel<Weakened{}, Step::contribute_first>>(
      "barrier of a pair, a record before the total");
  checker.must_be_caught<BarrierPairModel<Weakened{}, Step::hold_too_short>>(
      "barrier of a pair, a record that is not held long enough");
  return checker.status();
}
