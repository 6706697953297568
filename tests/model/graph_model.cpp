// The kernels of src/graph/run: the dependency counter of a task, the deque of ready tasks with two
// thieves, and the step window.
#include <array>
#include <cstdint>

#include "graph/run/dependency_counter.hpp"
#include "graph/run/deque.hpp"
#include "graph/run/step_window.hpp"
#include "model/model_sync.hpp"  // Must stay last: Relacy's macros.

namespace sorrel::model {

namespace {

/// Three predecessors, each with a result; the last increment reads them all. Then once more, by
/// the thread of the last increment: the count starts at 0 again.
template <Weakened weakened>
struct DependencyCounterModel : rl::test_suite<DependencyCounterModel<weakened>, 3> {
  static constexpr unsigned count = 3;
  std::array<typename ModelSync<weakened>::template Plain<int>, count> results;
  graph::BasicDependencyCounter<ModelSync<weakened>> counter;
  int start_count = 0;

  void thread(unsigned index) {
    results[index].mutate() = 7;
    if (!counter.arrive(count)) return;
    ++start_count;
    for (const auto& result : results)
      RL_ASSERT(result.get() == 7);
    RL_ASSERT(!counter.arrive(2) && counter.arrive(2));
  }

  void after() { RL_ASSERT(start_count == 1); }
};

/// The owner pushes three tasks and pops between; two thieves steal. Each task is taken once, by a
/// thread that sees its data. Two cells: the ring wraps around.
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

/// A step ends and admits another while two roots, one of them of a later step, find theirs
/// admitted or not. Each root that may run does so once, after the step.
template <Weakened weakened>
struct StepWindowModel : rl::test_suite<StepWindowModel<weakened>, 3> {
  using Sync = ModelSync<weakened>;
  using StepWindow = graph::BasicStepWindow<Sync>;

  StepWindow window;
  std::array<typename StepWindow::Link, 2> links;
  std::array<typename Sync::template Plain<int>, 2> contents;
  typename Sync::template Plain<int> effect;
  std::array<int, 2> run_count{};

  void thread(unsigned index) {
    if (index == 2) {
      effect.mutate() = 7;
      window.record_done(1);
      release();
    } else {
      contents[index].mutate() = 7;
      check(index);
    }
  }

  void after() { RL_ASSERT(run_count[0] == 1 && run_count[1] == 0); }

  void check(unsigned root) {
    const std::uint64_t step = root + 1;
    if (window.admits(step)) {
      RL_ASSERT(effect.get() == 7 && contents[root].get() == 7);
      ++run_count[root];
    } else if (!window.park(root, step, links[root])) {
      release();
    }
  }

  void release() {
    window.release_all([this](std::uint32_t root) -> auto& { return links[root]; },
                       [this](std::uint32_t root) { check(root); });
  }
};

}  // namespace

}  // namespace sorrel::model

int main() {
  using namespace sorrel::model;
  Checker checker(3);
  checker.must_hold<DependencyCounterModel<Weakened{}>>("dependency counter");
  checker
      .must_be_caught<DependencyCounterModel<Weakened{.cell = Cell::u32, .order = Order::acquire}>>(
          "dependency counter, (Z) seen all by a relaxed load");
  checker
      .must_be_caught<DependencyCounterModel<Weakened{.cell = Cell::u32, .order = Order::acq_rel}>>(
          "dependency counter, (A) relaxed");
  checker.must_hold<DequeModel<Weakened{}>>("deque");
  checker.must_be_caught<DequeModel<Weakened{.cell = Cell::u64, .order = Order::release}>>(
      "deque, (U) push relaxed");
  checker.must_be_caught<DequeModel<Weakened{.cell = Cell::u64, .order = Order::seq_cst}>>(
      "deque, (D) relaxed");
  checker.must_hold<StepWindowModel<Weakened{}>>("step window");
  checker.must_be_caught<StepWindowModel<Weakened{.cell = Cell::u32, .order = Order::acq_rel}>>(
      "step window, (P) and (O) relaxed");
  checker.must_be_caught<StepWindowModel<Weakened{.cell = Cell::u64, .order = Order::acquire}>>(
      "step window, (S) done seen by a relaxed load");
  checker.must_be_caught<StepWindowModel<Weakened{.cell = Cell::u64, .order = Order::release}>>(
      "step window, (S) done relaxed");
  return checker.status();
}
