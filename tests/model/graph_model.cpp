// The kernels of src/graph/run: a task's arrivals, and the deque of ready tasks with two thieves.
#include <array>
#include <cstdint>

#include "graph/run/arrivals.hpp"
#include "graph/run/deque.hpp"
#include "model/model_sync.hpp"  // Must stay last: Relacy's macros.

namespace sorrel::model {

namespace {

/// Three predecessors, each with a result; the last to arrive reads them all. Then once more, by
/// whoever was last: the count begins anew.
template <Weakened weakened>
struct ArrivalsModel : rl::test_suite<ArrivalsModel<weakened>, 3> {
  static constexpr unsigned count = 3;
  std::array<typename ModelSync<weakened>::template Plain<int>, count> results;
  graph::BasicArrivals<ModelSync<weakened>> arrivals;
  int start_count = 0;

  void thread(unsigned index) {
    results[index].mutate() = 7;
    if (!arrivals.arrive(count)) return;
    ++start_count;
    for (const auto& result : results)
      RL_ASSERT(result.get() == 7);
    RL_ASSERT(!arrivals.arrive(2) && arrivals.arrive(2));
  }

  void after() { RL_ASSERT(start_count == 1); }
};

/// The owner pushes three tasks and pops between; two thieves steal. Each is taken once, by one who
/// sees what belongs to it. Two cells: the ring goes round.
template <Weakened weakened>
struct DequeModel : rl::test_suite<DequeModel<weakened>, 3> {
  using Sync = ModelSync<weakened>;
  using Deque = graph::BasicDeque<Sync>;

  static constexpr std::uint64_t task_count = 3;
  std::array<typename Deque::Cell, 2> cells;
  std::array<typename Sync::template Plain<int>, task_count> contents;
  std::array<int, task_count> taken{};
  Deque deque;

  void before() { deque.set_cells(cells.data(), cells.size()); }

  void thread(unsigned index) {
    if (index != 0) {
      for (int i = 0; i < 2; ++i) {
        std::uint64_t item = 0;
        if (deque.steal(item)) take(item);
      }
      return;
    }
    push(0);
    push(1);
    pop();
    push(2);
    pop();
    pop();
  }

  void after() {
    while (pop()) {
    }
    for (const int count : taken)
      RL_ASSERT(count == 1);
  }

  void push(std::uint64_t item) {
    contents[item].mutate() = 7;
    deque.push(item);
  }

  bool pop() {
    std::uint64_t item = 0;
    const bool any = deque.pop(item);
    if (any) take(item);
    return any;
  }

  void take(std::uint64_t item) {
    RL_ASSERT(item < task_count && contents[item].get() == 7);
    ++taken[item];
  }
};

}  // namespace

}  // namespace sorrel::model

int main() {
  using namespace sorrel::model;
  Checker checker(3);
  checker.must_hold<ArrivalsModel<Weakened{}>>("arrivals");
  checker.must_be_caught<ArrivalsModel<Weakened{.cell = Cell::u32, .order = Order::acquire}>>(
      "arrivals, (Z) seen all by a relaxed load");
  checker.must_be_caught<ArrivalsModel<Weakened{.cell = Cell::u32, .order = Order::acq_rel}>>(
      "arrivals, (A) relaxed");
  checker.must_hold<DequeModel<Weakened{}>>("deque");
  checker.must_be_caught<DequeModel<Weakened{.cell = Cell::u64, .order = Order::release}>>(
      "deque, (U) push relaxed");
  checker.must_be_caught<DequeModel<Weakened{.cell = Cell::u64, .order = Order::seq_cst}>>(
      "deque, (D) relaxed");
  return checker.status();
}
