// The event ring: a copy has complete records only, in order, up to the latest that the reader
// could know.
#include <array>
#include <cstdint>

#include "core/sync.hpp"
#include "model/model_sync.hpp"  // Must stay last: Relacy's macros.
#include "trace/ring.hpp"

namespace sorrel::model {

namespace {

/// One writer that overwrites the ring, and a reader that copies it meanwhile.
template <Weakened weakened>
struct RingModel : rl::test_suite<RingModel<weakened>, 2> {
  using Ring = trace::BasicRing<ModelSync<weakened>, 2>;
  static constexpr std::uint64_t record_count = 4;

  Ring ring;

  void thread(unsigned index) {
    if (index == 0) {
      for (std::uint64_t i = 1; i <= record_count; ++i)
        ring.add({.time_and_kind = i, .subject = i, .first = i, .second = i});
      return;
    }
    for (int round = 0; round < 2; ++round)
      check_copy();
  }

  void check_copy() {
    std::array<trace::Record, 1> memory;
    for (const trace::Record& record : ring.copy_latest(memory)) {
      const std::uint64_t number = record.time_and_kind;
      RL_ASSERT(number >= 1 && number <= record_count);
      RL_ASSERT(record.subject == number && record.first == number && record.second == number);
    }
  }

  void after() {
    std::array<trace::Record, 1> memory;
    const auto copied = ring.copy_latest(memory);
    RL_ASSERT(copied.size() == 1 && copied[0].second == record_count);
  }
};

constexpr Weakened intact{};
constexpr Weakened published_relaxed{.cell = Cell::u32, .order = Order::release};
constexpr Weakened read_relaxed{.cell = Cell::u32, .order = Order::acquire};
constexpr Weakened overwritten_relaxed{.cell = Cell::u64, .order = Order::release};
constexpr Weakened copied_relaxed{.cell = Cell::u64, .order = Order::acquire};

}  // namespace

}  // namespace sorrel::model

int main() {
  using namespace sorrel::model;
  Checker checker(3);
  checker.must_hold<RingModel<intact>>("ring");
  checker.must_be_caught<RingModel<published_relaxed>>("ring, (P) published relaxed");
  checker.must_be_caught<RingModel<read_relaxed>>("ring, (P) read relaxed");
  checker.must_be_caught<RingModel<overwritten_relaxed>>("ring, (O) overwritten relaxed");
  checker.must_be_caught<RingModel<copied_relaxed>>("ring, (O) copied relaxed");
  return checker.status();
}
