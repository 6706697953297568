// The slot of a loop: every chunk runs once; the caller continues when all is done and not before,
// and may open the next loop in the same slot while helpers still poll it.
#include <array>
#include <cstdint>

#include "loop/team/slot.hpp"
#include "model/model_sync.hpp"  // Must stay last: Relacy's macros.

namespace sorrel::model {

namespace {

using loop::ChunkPlan;
using loop::Schedule;
using loop::SlotOrders;
using loop::Work;

/// A step of the protocol that a mutation omits.
enum class Step : std::uint8_t { none, wait_for_helpers_inside, check_again_before_sleep, wake };

/// A caller runs two loops of three chunks in one slot; two helpers come at any time, once or twice
/// each. The second helper leaves after its first chunk.
template <class Orders, Step left_out = Step::none>
struct SlotModel : rl::test_suite<SlotModel<Orders, left_out>, 3> {
  using Sync = ModelSync<Weakened{}>;
  using Slot = loop::BasicSlot<Sync, Orders>;

  static constexpr std::int32_t chunk_count = 3;
  Slot slot;
  typename Sync::template Atomic<std::uint32_t> end_signal;
  std::array<typename Sync::template Plain<int>, chunk_count> results;
  bool is_finished = false;

  void thread(unsigned index) {
    if (index == 0) {
      run_loop();
      run_loop();
      is_finished = true;
    } else {
      for (int i = 0; i < 2; ++i)
        help(index == 2);
    }
  }

  void run_chunk(std::int32_t chunk) {
    RL_ASSERT(chunk >= 0 && chunk < chunk_count);
    results[static_cast<std::size_t>(chunk)].mutate() += 1;
  }

  void run_loop() {
    for (auto& result : results)
      result.mutate() = 0;
    const Work work{
        nullptr, nullptr,
        ChunkPlan({0, chunk_count}, {.schedule = Schedule::dynamic, .grain = 1, .width = 3})};
    slot.open(work, 1);
    run_chunk(0);
    for (std::int32_t mine = 1;; ++mine) {
      const auto before = slot.take_as_caller();
      if (before.left() <= 0) {
        if (before.inside() != 0) wait_for_end();
        break;
      }
      run_chunk(mine);
      if (before.left() == 1 && before.inside() == 0) break;
    }
    for (auto& result : results)
      RL_ASSERT(result.get() == 1);
  }

  void wait_for_end() {
    if (left_out == Step::wait_for_helpers_inside) return;
    if (slot.is_over()) return;
    end_signal.store(0, Order::relaxed);
    if (slot.announce_sleep() && left_out != Step::check_again_before_sleep) return;
    while (end_signal.load(Order::acquire) == 0)
      rl::yield(1, $);
    RL_ASSERT(slot.is_over());
  }

  void help(bool leaves_early) {
    auto before = slot.join();
    if (!before.is_joinable()) return;
    RL_ASSERT(slot.work().plan.count() == chunk_count);
    for (; before.left() > 0; before = slot.take_as_helper()) {
      run_chunk(slot.chunk_of_helper(before));
      if (before.left() == 1 || leaves_early) break;
    }
    if (slot.leave() && left_out != Step::wake) end_signal.store(1, Order::release);
  }

  void after() { RL_ASSERT(is_finished); }
};

struct OpenRelaxed : SlotOrders {
  static constexpr Order open = Order::relaxed;
};

struct JoinRelaxed : SlotOrders {
  static constexpr Order join = Order::relaxed;
};

struct LeaveRelaxed : SlotOrders {
  static constexpr Order leave = Order::relaxed;
};

struct EndRelaxed : SlotOrders {
  static constexpr Order end = Order::relaxed;
};

}  // namespace

}  // namespace sorrel::model

int main() {
  using namespace sorrel::model;
  Checker checker(4);
  checker.must_hold<SlotModel<sorrel::loop::SlotOrders>>("slot");
  checker.must_be_caught<SlotModel<OpenRelaxed>>("slot, (O) open relaxed");
  checker.must_be_caught<SlotModel<JoinRelaxed>>("slot, (J) join relaxed");
  checker.must_be_caught<SlotModel<LeaveRelaxed>>("slot, (L) leave relaxed");
  checker.must_be_caught<SlotModel<EndRelaxed>>("slot, (E) end relaxed");
  checker.must_be_caught<SlotModel<sorrel::loop::SlotOrders, Step::wait_for_helpers_inside>>(
      "slot, the caller does not wait for helpers inside");
  checker.must_be_caught<SlotModel<sorrel::loop::SlotOrders, Step::check_again_before_sleep>>(
      "slot, the caller sleeps though no helper is inside");
  checker.must_be_caught<SlotModel<sorrel::loop::SlotOrders, Step::wake>>(
      "slot, the last to leave does not wake the caller");
  return checker.status();
}
