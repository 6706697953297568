// The barrier of a tree with a short reduction: a chain of root, inner node and leaf, each with one
// member, and the release by a root without members, whose communicator is freed right after it.
#include <array>
#include <cstdint>
#include <cstring>

// clang-format off: the models' header must stay last, for Relacy's macros.
#include "core/mailbox.hpp"
#include "model/model_sync.hpp"
// clang-format on

namespace sorrel::model {

namespace {

/// A step of the protocol that a mutation leaves out or changes.
enum class Step : std::uint8_t {
  none,
  slot_of_first_call,    ///< An operand goes into the slot of the first call at its node.
  report_without_own,    ///< A node reports when its children have arrived.
  release_without_wait,  ///< A node releases its members when it has reported.
  touch_after_release,   ///< A node is read after the release of its last child.
};

/// Two barriers over three nodes: node k + 1 is the child of node k. The inner node's worker polls
/// before its member arrives, so the first arrival there may be its child's.
template <Weakened weakened, Step mutation = Step::none>
struct BarrierTreeModel : rl::test_suite<BarrierTreeModel<weakened, mutation>, 3> {
  using Sync = ModelSync<weakened>;
  using Mailbox = core::BasicMailbox<Sync, 2, 64, 28>;
  using Value = typename Sync::template Plain<std::uint32_t>;

  static constexpr std::uint32_t node_count = 3;
  static constexpr std::uint32_t barrier_count = 2;

  /// Its worker only.
  struct Node {
    bool has_member_arrived = false;
    bool has_child_arrived = false;
    bool is_released = false;
    std::uint32_t first_rank = 0;
    std::uint32_t operand = 0;
    std::uint32_t result = 0;
  };

  /// Words of a report: the rank whose slot gets the operand, the first call's, the operand.
  std::array<Mailbox, node_count - 1> upward;
  /// Word of a release: the result.
  std::array<Mailbox, node_count - 1> downward;
  std::array<Node, node_count> nodes;
  /// The slots of all members: written by the worker of a node's parent.
  std::array<Value, node_count> values;

  static std::uint32_t operand_of(std::uint32_t rank, std::uint32_t barrier) {
    return (barrier + 1) << (8 * rank);
  }

  static std::uint32_t total_of(std::uint32_t barrier) {
    return operand_of(0, barrier) + operand_of(1, barrier) + operand_of(2, barrier);
  }

  void thread(unsigned index) {
    Node& node = nodes[index];
    for (std::uint32_t barrier = 0; barrier < barrier_count; ++barrier) {
      if (index == 1) poll(index);
      node.is_released = false;
      note_first(node, index);
      node.has_member_arrived = true;
      if (index == 0) {
        values[0].mutate() = operand_of(0, barrier);
      } else {
        node.operand = operand_of(index, barrier);
      }
      complete_if_all_arrived(index);
      while (!node.is_released) {
        if (!poll(index)) rl::yield(1, $);
      }
      RL_ASSERT(node.result == total_of(barrier));
    }
  }

  static void note_first(Node& node, std::uint32_t rank) {
    if (!node.has_member_arrived && !node.has_child_arrived) node.first_rank = rank;
  }

  bool poll(unsigned index) {
    bool any = false;
    if (index + 1 < node_count) {
      any |= upward[index].take([&](const core::Record& record, const std::byte*) {
        note_first(nodes[index], record.words[1]);
        values[record.words[0]].mutate() = record.words[2];
        nodes[index].has_child_arrived = true;
        complete_if_all_arrived(index);
      });
    }
    if (index != 0) {
      any |= downward[index - 1].take([&](const core::Record& record, const std::byte*) {
        nodes[index].result = record.words[0];
        release(index);
      });
    }
    return any;
  }

  void complete_if_all_arrived(unsigned index) {
    Node& node = nodes[index];
    const bool has_child = index + 1 < node_count;
    if (!node.has_member_arrived && mutation != Step::report_without_own) return;
    if (has_child && !node.has_child_arrived) return;
    node.has_member_arrived = node.has_child_arrived = false;
    if (index == 0) {
      node.result = values[0].get() + values[1].get() + values[2].get();
      release(0);
      return;
    }
    const std::uint32_t slot = mutation == Step::slot_of_first_call ? node.first_rank : index;
    RL_ASSERT(
        upward[index - 1].try_post({.words = {slot, node.first_rank, node.operand}}, nullptr));
    if (mutation == Step::release_without_wait) node.is_released = true;
  }

  void release(unsigned index) {
    if (index + 1 < node_count)
      RL_ASSERT(downward[index].try_post({.words = {nodes[index].result}}, nullptr));
    nodes[index].is_released = true;
  }
};

/// A root without members and two children with one each, that free the communicator after the
/// barrier: the last one destroys the nodes.
template <Weakened weakened, Step mutation = Step::none>
struct MemberlessRootModel : rl::test_suite<MemberlessRootModel<weakened, mutation>, 3> {
  using Sync = ModelSync<weakened>;
  using Mailbox = core::BasicMailbox<Sync, 2, 64, 28>;

  static constexpr std::uint32_t child_count = 2;

  std::array<Mailbox, child_count> upward;
  std::array<Mailbox, child_count> downward;
  /// The root's node: its memory, of which a part is the queue of waiting members, and another one
  /// the total, which members read after their release.
  typename Sync::template Plain<std::uint32_t> root;
  typename Sync::template Atomic<std::uint32_t> left_count{0};

  void thread(unsigned index) {
    if (index == 0) {
      run_root();
    } else {
      run_member(index - 1);
    }
  }

  void run_root() {
    for (std::uint32_t arrived_count = 0; arrived_count < child_count;) {
      bool any = false;
      for (Mailbox& mailbox : upward)
        any |= mailbox.take([&](const core::Record&, const std::byte*) { ++arrived_count; });
      if (!any) rl::yield(1, $);
    }
    root.mutate() = 1;
    if (mutation != Step::touch_after_release) static_cast<void>(root.get());
    for (Mailbox& mailbox : downward)
      RL_ASSERT(mailbox.try_post({}, nullptr));
    if (mutation == Step::touch_after_release) static_cast<void>(root.get());
  }

  void run_member(unsigned child) {
    RL_ASSERT(upward[child].try_post({}, nullptr));
    while (!downward[child].take([](const core::Record&, const std::byte*) {}))
      rl::yield(1, $);
    static_cast<void>(root.get());
    if (left_count.fetch_add(1, core::Order::acq_rel) + 1 == child_count) root.mutate() = 0;
  }
};

}  // namespace

}  // namespace sorrel::model

int main() {
  using namespace sorrel::model;
  using sorrel::core::Order;
  Checker checker(2);
  checker.must_hold<BarrierTreeModel<Weakened{}>>("barrier tree");
  checker.must_be_caught<BarrierTreeModel<relaxed<Cell::u32, Order::release>>>(
      "barrier tree, (P) publish relaxed");
  checker.must_be_caught<BarrierTreeModel<relaxed<Cell::u32, Order::acquire>>>(
      "barrier tree, (T) take relaxed");
  checker.must_be_caught<BarrierTreeModel<Weakened{}, Step::slot_of_first_call>>(
      "barrier tree, an operand in the slot of the first call");
  checker.must_be_caught<BarrierTreeModel<Weakened{}, Step::report_without_own>>(
      "barrier tree, a report before the own member");
  checker.must_be_caught<BarrierTreeModel<Weakened{}, Step::release_without_wait>>(
      "barrier tree, members go on before the release");
  checker.must_hold<MemberlessRootModel<Weakened{}>>("root without members");
  checker.must_be_caught<MemberlessRootModel<relaxed<Cell::u32, Order::acq_rel>>>(
      "root without members, leaving relaxed");
  checker.must_be_caught<MemberlessRootModel<Weakened{}, Step::touch_after_release>>(
      "root without members, read after the last release");
  return checker.status();
}
