// Loans: a fiber is run by one thread at a time, everything that the last one has written is seen,
// and every fiber comes home.
#include <array>
#include <cstdint>

// clang-format off: the models' header must stay last, for Relacy's macros.
#include "core/loan_box.hpp"
#include "core/mailbox.hpp"
#include "core/parker.hpp"
#include "model/model_sync.hpp"
// clang-format on

namespace sorrel::model {

namespace {

/// A step of the protocol that a mutation leaves out or moves.
enum class Step : std::uint8_t {
  none,
  save_before_offer,   ///< The owner offers a fiber whose registers it has not saved.
  save_before_return,  ///< The borrower sends a fiber home before it has saved its registers.
  post_before_park,    ///< The borrower parks before it sends the fiber home.
};

/// An owner offers fibers and takes back what no thief has claimed; two thieves borrow. The box is
/// smaller than the number of offers, so that its slots are used again.
template <Weakened weakened, Step mutation = Step::none>
struct BoxModel : rl::test_suite<BoxModel<weakened, mutation>, 3> {
  using Sync = ModelSync<weakened>;

  struct Fiber {
    /// Registers and stack.
    typename Sync::template Plain<std::uint32_t> context;
  };

  static constexpr std::uint32_t fiber_count = 4;
  core::BasicLoanBox<Sync, Fiber, 2> box;
  std::array<Fiber, fiber_count> fibers;
  std::array<std::uint32_t, 3> run_counts{};

  void thread(unsigned index) {
    if (index == 0) {
      offer_all();
    } else {
      for (int attempt = 0; attempt < 2; ++attempt)
        run_one(index);
    }
  }

  void offer_all() {
    for (Fiber& fiber : fibers) {
      if (mutation != Step::save_before_offer) fiber.context.mutate() = 1;
      while (!box.try_push(&fiber))
        run_one(0);
      if (mutation == Step::save_before_offer) fiber.context.mutate() = 1;
    }
    while (run_one(0)) {
    }
  }

  bool run_one(unsigned index) {
    Fiber* fiber = box.claim();
    if (fiber == nullptr) return false;
    RL_ASSERT(fiber->context.get() == 1);
    fiber->context.mutate() = 2;
    ++run_counts[index];
    return true;
  }

  void after() {
    RL_ASSERT(run_counts[0] + run_counts[1] + run_counts[2] == fiber_count);
    for (const Fiber& fiber : fibers)
      RL_ASSERT(fiber.context.get() == 2);
  }
};

/// One fiber is lent and comes home by a mailbox, between two workers that park. Only when both
/// sleep for good and the fiber has come back may the job be taken for idle.
template <Weakened weakened, Step mutation = Step::none>
struct LoanModel : rl::test_suite<LoanModel<weakened, mutation>, 2> {
  using Sync = ModelSync<weakened>;
  using Parker = core::BasicParker<Sync>;
  using Mailbox = core::BasicMailbox<Sync, 2, 64, 16>;

  struct Fiber {
    typename Sync::template Plain<std::uint32_t> context;
  };

  typename Parker::Count asleep_count;
  std::array<typename Parker::State, 2> states;
  std::array<Parker, 2> parkers{Parker(states[0], asleep_count), Parker(states[1], asleep_count)};
  core::BasicLoanBox<Sync, Fiber, 2> box;
  Mailbox way_home;
  Fiber fiber;
  bool is_home = false;
  /// Written by the last worker to fall asleep.
  bool is_over = false;

  void thread(unsigned index) {
    if (index == 0) {
      fiber.context.mutate() = 1;
      RL_ASSERT(box.try_push(&fiber));
      wake(1);
    }
    while (!is_over) {
      if (!poll(index)) park(index);
    }
  }

  void wake(unsigned index) { parkers[index].try_unpark(); }

  bool poll(unsigned index) {
    if (index == 0 && way_home.take([this](const core::Record&, const std::byte*) { finish(); }))
      return true;
    Fiber* claimed = box.claim();
    if (claimed == nullptr) return false;
    RL_ASSERT(claimed->context.get() == 1);
    if (index == 0) {
      claimed->context.mutate() = 2;
      finish();
    } else {
      borrow(*claimed);
    }
    return true;
  }

  void borrow(Fiber& claimed) {
    if (mutation == Step::save_before_return) go_home();
    claimed.context.mutate() = 2;
    if (mutation == Step::post_before_park) park(1);
    if (mutation != Step::save_before_return) go_home();
  }

  void go_home() {
    RL_ASSERT(way_home.try_post({}, nullptr));
    wake(0);
  }

  void finish() {
    RL_ASSERT(fiber.context.get() == 2);
    is_home = true;
  }

  [[nodiscard]] bool has_work(unsigned index) const {
    return !box.seems_empty() || (index == 0 && way_home.has_record());
  }

  void park(unsigned index) {
    parkers[index].prepare_park();
    if (has_work(index)) {
      parkers[index].cancel_park();
      return;
    }
    if (parkers[index].mark_idle() == 2) {
      // A deadlock report: no worker is left that could run the fiber.
      RL_ASSERT(is_home);
      is_over = true;
    }
    while (!is_over && parkers[index].is_parked())
      rl::yield(1, $);
  }
};

}  // namespace

}  // namespace sorrel::model

int main() {
  using namespace sorrel::model;
  using sorrel::core::Order;
  Checker checker(3);
  checker.must_hold<BoxModel<Weakened{}>>("loan box");
  checker.must_be_caught<BoxModel<relaxed<Cell::u64, Order::release>>>(
      "loan box, (B) push and (E) claim relaxed");
  checker.must_be_caught<BoxModel<relaxed<Cell::u64, Order::acquire>>>(
      "loan box, (C) claim and (R) reuse relaxed");
  checker.must_be_caught<BoxModel<Weakened{}, Step::save_before_offer>>(
      "loan box, registers are saved after the offer");
  checker.must_hold<LoanModel<Weakened{}>>("loan");
  checker.must_be_caught<LoanModel<relaxed<Cell::u64, Order::release>>>("loan, (B) push relaxed");
  checker.must_be_caught<LoanModel<relaxed<Cell::u64, Order::acquire>>>("loan, (C) claim relaxed");
  checker.must_be_caught<LoanModel<Weakened{.without_heavy_fence = true}>>(
      "loan, heavy fence left out");
  checker.must_be_caught<LoanModel<Weakened{}, Step::save_before_return>>(
      "loan, registers are saved after the return");
  checker.must_be_caught<LoanModel<Weakened{}, Step::post_before_park>>(
      "loan, the borrower parks before the return");
  return checker.status();
}
