// Loads of processes in windows: the reader finds those of the window that it has ended last.
#include <array>
#include <cstdint>

// clang-format off: the models' header must stay last, for Relacy's macros.
#include "core/window_load.hpp"
#include "model/model_sync.hpp"
// clang-format on

namespace sorrel::model {

namespace {

/// A step of the protocol that a mutation leaves out or changes.
enum class Step : std::uint8_t {
  none,
  read_at_once,  ///< The reader does not wait for the load.
  end_too_soon,  ///< It ends the next window before it has read the load of this one.
};

/// A reader and two owners, three windows. The end of a window reaches the owners by a counter with
/// orders of its own.
template <Weakened weakened, Step mutation = Step::none>
struct WindowLoadModel : rl::test_suite<WindowLoadModel<weakened, mutation>, 3> {
  static constexpr std::uint32_t owner_count = 2;
  static constexpr std::uint32_t window_count = 3;
  std::array<core::BasicWindowLoad<ModelSync<weakened>>, owner_count> loads;
  rl::atomic<std::uint32_t> ended;

  void before() { ended($).store(0, rl::mo_relaxed); }

  static double load_of(std::uint32_t owner, std::uint32_t window) { return 10.0 * window + owner; }

  void thread(unsigned index) {
    if (index == 0) return read();
    for (std::uint32_t window = 1; window <= window_count; ++window) {
      while (ended($).load(rl::mo_acquire) < window)
        rl::yield(1, $);
      loads[index - 1].publish(window, load_of(index - 1, window));
    }
  }

  void read() {
    for (std::uint32_t window = 1; window <= window_count; ++window) {
      ended($).store(window, rl::mo_release);
      for (auto& load : loads) {
        while (mutation != Step::read_at_once && !load.is_of(window))
          rl::yield(1, $);
      }
      if (mutation == Step::end_too_soon && window < window_count)
        ended($).store(window + 1, rl::mo_release);
      for (std::uint32_t owner = 0; owner < owner_count; ++owner)
        RL_ASSERT(loads[owner].load() == load_of(owner, window));
    }
  }
};

}  // namespace

}  // namespace sorrel::model

int main() {
  using namespace sorrel::model;
  using sorrel::core::Order;
  Checker checker(2);
  checker.must_hold<WindowLoadModel<Weakened{}>>("window load");
  checker.must_be_caught<WindowLoadModel<relaxed<Cell::u32, Order::release>>>(
      "window load, (P) publish relaxed");
  checker.must_be_caught<WindowLoadModel<relaxed<Cell::u32, Order::acquire>>>(
      "window load, (R) read relaxed");
  checker.must_be_caught<WindowLoadModel<Weakened{}, Step::read_at_once>>(
      "window load, read before it is published");
  checker.must_be_caught<WindowLoadModel<Weakened{}, Step::end_too_soon>>(
      "window load, next window ended before the read");
  return checker.status();
}
