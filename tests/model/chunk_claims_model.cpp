// A long message that its receiver and a helper copy together: two rounds in one buffer, with a
// helper that may still be at the first when the second opens.
#include <array>
#include <cstdint>

// clang-format off: the models' header must stay last, for Relacy's macros.
#include "transport/shm/chunk_claims.hpp"
#include "model/model_sync.hpp"
// clang-format on

namespace sorrel::model {

namespace {

/// A step of the protocol that a mutation leaves out.
enum class Step : std::uint8_t { none, wait_for_the_helper, look_at_the_round };

template <Weakened weakened, Step left_out = Step::none>
struct ChunkClaimsModel : rl::test_suite<ChunkClaimsModel<weakened, left_out>, 2> {
  using Sync = ModelSync<weakened>;

  static constexpr std::uint32_t chunk_count = 2;
  static constexpr std::uint32_t round_count = 2;
  transport::BasicChunkClaims<Sync> claims;
  /// What tells the helper of a round. Orders nothing: what must be ordered, the claims order.
  typename Sync::template Atomic<std::uint32_t> wanted;
  std::array<typename Sync::template Plain<std::uint32_t>, chunk_count> buffer;

  void thread(unsigned index) {
    if (index == 0) {
      for (std::uint32_t round = 1; round <= round_count; ++round)
        receive(round);
    } else {
      help();
      help();
    }
  }

  void receive(std::uint32_t round) {
    for (auto& chunk : buffer)
      chunk.mutate() = 0;
    RL_ASSERT(claims.open(chunk_count) == round);
    wanted.store(round, core::Order::relaxed);
    while (const auto mine = claims.claim_front())
      buffer[*mine].mutate() += round;
    const std::uint32_t others = chunk_count - claims.first_of_helper();
    while (left_out != Step::wait_for_the_helper && !claims.are_done(others))
      rl::yield(1, $);
    RL_ASSERT(!claims.has_failed());
    for (const auto& chunk : buffer)
      RL_ASSERT(chunk.get() == round);
  }

  void help() {
    const std::uint32_t round = wanted.load(core::Order::relaxed);
    if (round == 0) return;
    const std::uint32_t claimed = left_out == Step::look_at_the_round ? any_round(round) : round;
    while (const auto mine = claims.claim_back(claimed)) {
      buffer[*mine].mutate() += round;
      claims.finish_back(true);
    }
  }

  /// The mutation: a helper of the first round takes the second's chunks for its own.
  std::uint32_t any_round(std::uint32_t told) const {
    const std::uint32_t now = wanted.load(core::Order::relaxed);
    return now == 0 ? told : now;
  }
};

template <Cell cell, core::Order order>
using WithRelaxed = ChunkClaimsModel<Weakened{.cell = cell, .order = order}>;

}  // namespace

}  // namespace sorrel::model

int main() {
  using namespace sorrel::model;
  Checker checker(4);
  checker.must_hold<ChunkClaimsModel<Weakened{}>>("chunk claims");
  checker.must_be_caught<WithRelaxed<Cell::u64, Order::release>>("chunk claims, (O) open relaxed");
  checker.must_be_caught<WithRelaxed<Cell::u64, Order::acquire>>("chunk claims, (C) claim relaxed");
  checker.must_be_caught<WithRelaxed<Cell::u32, Order::release>>("chunk claims, (D) done relaxed");
  checker.must_be_caught<WithRelaxed<Cell::u32, Order::acquire>>("chunk claims, (W) wait relaxed");
  checker.must_be_caught<ChunkClaimsModel<Weakened{}, Step::wait_for_the_helper>>(
      "chunk claims, no waiting for the helper");
  checker.must_be_caught<ChunkClaimsModel<Weakened{}, Step::look_at_the_round>>(
      "chunk claims, a helper of any round");
  return checker.status();
}
