// Exchanges: every participant reads what all have published in the round, while some are a round
// ahead.
#include <array>
#include <cstdint>

// clang-format off: the models' header must stay last, for Relacy's macros.
#include "core/exchange.hpp"
#include "model/model_sync.hpp"
// clang-format on

namespace sorrel::model {

namespace {

/// A step of the protocol that a mutation leaves out or changes.
enum class Step : std::uint8_t {
  none,
  read_at_once,      ///< A participant does not wait until all have published.
  publish_too_soon,  ///< It publishes in the next round before it has read this one.
};

/// Three participants, three rounds: the third one overwrites the numbers of the first.
template <Weakened weakened, Step mutation = Step::none>
struct ExchangeModel : rl::test_suite<ExchangeModel<weakened, mutation>, 3> {
  using Sync = ModelSync<weakened>;
  using Exchange = core::BasicExchange<Sync>;

  static constexpr std::uint32_t participant_count = 3;
  static constexpr std::uint64_t round_count = 3;
  Exchange exchange;
  std::array<typename Exchange::Slot, participant_count> slots;

  static std::uint64_t number_of(std::uint64_t participant, std::uint64_t round) {
    return 10 * round + participant + 1;
  }

  void thread(unsigned index) {
    for (std::uint64_t round = 0; round < round_count; ++round) {
      exchange.publish(slots[index], round, number_of(index, round));
      while (mutation != Step::read_at_once && !exchange.is_complete(round, participant_count))
        rl::yield(1, $);
      if (mutation == Step::publish_too_soon && round == 0) continue;
      for (std::uint64_t other = 0; other < participant_count; ++other)
        RL_ASSERT(Exchange::number_in(slots[other], round) == number_of(other, round));
      if (mutation == Step::publish_too_soon && round == 1) {
        for (std::uint64_t other = 0; other < participant_count; ++other)
          RL_ASSERT(Exchange::number_in(slots[other], 0) == number_of(other, 0));
      }
    }
  }
};

}  // namespace

}  // namespace sorrel::model

int main() {
  using namespace sorrel::model;
  using sorrel::core::Order;
  Checker checker(2);
  checker.must_hold<ExchangeModel<Weakened{}>>("exchange");
  checker.must_be_caught<ExchangeModel<relaxed<Cell::u64, Order::release>>>(
      "exchange, (P) publish relaxed");
  checker.must_be_caught<ExchangeModel<relaxed<Cell::u64, Order::acquire>>>(
      "exchange, (R) read relaxed");
  checker.must_be_caught<ExchangeModel<Weakened{}, Step::read_at_once>>(
      "exchange, read before all have published");
  checker.must_be_caught<ExchangeModel<Weakened{}, Step::publish_too_soon>>(
      "exchange, read after the next number");
  return checker.status();
}
