// The list of a worker's newly opened mailboxes: two senders push, the owner takes all.
#include <array>
#include <cstdint>

#include "core/index_list.hpp"
#include "model/model_sync.hpp"  // Must stay last: Relacy's macros.

namespace sorrel::model {

namespace {

template <Weakened weakened>
struct IndexListModel : rl::test_suite<IndexListModel<weakened>, 3> {
  using List = core::BasicIndexList<ModelSync<weakened>>;

  static constexpr unsigned pusher_count = 2;
  static constexpr unsigned each = 2;
  std::array<typename ModelSync<weakened>::template Plain<int>, pusher_count * each> contents;
  std::array<typename List::Link, pusher_count * each> links;
  std::array<bool, pusher_count * each> is_taken{};
  List list;

  void thread(unsigned index) {
    if (index < pusher_count) {
      for (unsigned i = index * each; i < (index + 1) * each; ++i) {
        contents[i].mutate() = 7;
        list.push(i, links[i]);
      }
    } else {
      for (int i = 0; i < 3; ++i) {
        if (!list.seems_empty()) take_all();
      }
    }
  }

  void after() {
    take_all();
    for (const bool taken : is_taken)
      RL_ASSERT(taken);
  }

  void take_all() {
    list.take_all([this](std::uint32_t index) -> auto& { return links[index]; },
                  [this](std::uint32_t index) {
                    RL_ASSERT(contents[index].get() == 7 && !is_taken[index]);
                    is_taken[index] = true;
                  });
  }
};

}  // namespace

}  // namespace sorrel::model

int main() {
  using namespace sorrel::model;
  Checker checker(4);
  checker.must_hold<IndexListModel<Weakened{}>>("index list");
  checker.must_be_caught<IndexListModel<Weakened{.cell = Cell::u32, .order = Order::release}>>(
      "index list, (N) push relaxed");
  checker.must_be_caught<IndexListModel<Weakened{.cell = Cell::u32, .order = Order::acquire}>>(
      "index list, (M) take relaxed");
  return checker.status();
}
