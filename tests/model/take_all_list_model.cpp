// The list of a worker's new mailboxes: two senders push, the owner takes all.
#include <array>
#include <cstdint>

#include "core/take_all_list.hpp"
#include "model/model_sync.hpp"  // Must stay last: Relacy's macros.

namespace sorrel::model {

namespace {

template <Weakened weakened>
struct TakeAllListModel : rl::test_suite<TakeAllListModel<weakened>, 3> {
  struct Node {
    Node* next = nullptr;
    typename ModelSync<weakened>::template Plain<int> content;
    bool is_taken = false;
  };

  static constexpr unsigned pusher_count = 2;
  std::array<std::array<Node, 2>, pusher_count> nodes;
  core::BasicTakeAllList<ModelSync<weakened>, Node> list;

  void thread(unsigned index) {
    if (index < pusher_count) {
      for (Node& node : nodes[index]) {
        node.content.mutate() = 7;
        list.push(node);
      }
    } else {
      for (int i = 0; i < 3; ++i) {
        if (!list.seems_empty()) take_all();
      }
    }
  }

  void after() {
    take_all();
    for (const auto& of_pusher : nodes) {
      for (const Node& node : of_pusher)
        RL_ASSERT(node.is_taken);
    }
  }

  void take_all() {
    for (Node* node = list.take_all(); node != nullptr; node = node->next) {
      RL_ASSERT(node->content.get() == 7 && !node->is_taken);
      node->is_taken = true;
    }
  }
};

}  // namespace

}  // namespace sorrel::model

int main() {
  using namespace sorrel::model;
  Checker checker(4);
  checker.must_hold<TakeAllListModel<Weakened{}>>("take-all list");
  checker
      .must_be_caught<TakeAllListModel<Weakened{.cell = Cell::pointer, .order = Order::release}>>(
          "take-all list, (N) push relaxed");
  checker
      .must_be_caught<TakeAllListModel<Weakened{.cell = Cell::pointer, .order = Order::acquire}>>(
          "take-all list, (M) take relaxed");
  return checker.status();
}
