#include "loop/team/protocol.hpp"

#include <cstdint>
#include <gtest/gtest.h>

#include "arch/cpu.hpp"

namespace sorrel::loop {
namespace {

/// Counts the helpers that are woken; they never come.
struct CountingHost {
  static constexpr std::uint64_t wake_cost = 10'000;

  std::uint32_t sleeper_count = 0;
  std::uint32_t woken_count = 0;
  LoopTable table;
  GrainTuner tuner{1000};
  OpenLoop* loop = nullptr;

  explicit CountingHost(std::uint32_t sleepers) : sleeper_count(sleepers) {}

  [[nodiscard]] bool has_sleepers(std::uint32_t /*wanted*/) const { return sleeper_count != 0; }

  void wake_helper() {
    --sleeper_count;
    ++woken_count;
  }

  OpenLoop* open(const Work& work, std::uint32_t helper_count_max) {
    loop = table.acquire(0);
    loop->open(work, helper_count_max);
    return loop;
  }

  GrainTuner& grain_tuner() { return tuner; }

  static std::uint64_t wake_cost_cycles() { return wake_cost; }

  static bool has_searchers() { return false; }

  static void wait_for_end(OpenLoop& /*loop*/) {}

  static void record_alone(std::uint64_t /*cycles*/) {}

  static bool needs_thread() { return true; }

  static void wake_caller(OpenLoop& /*loop*/) {}

  /// A helper joins a loop with so many chunks and so many possible helpers.
  std::uint32_t count_woken(std::int64_t chunk_count, std::uint32_t helper_count_max) {
    const Body body = [](void*, std::int64_t, std::int64_t) { return go_on; };
    const SplitOptions split{.schedule = Schedule::dynamic, .grain = 1, .width = 1000};
    open({body, nullptr, ChunkPlan({0, chunk_count}, split)}, helper_count_max);
    EXPECT_TRUE(help(*this, *loop));
    return woken_count;
  }
};

TEST(ProtocolTest, AHelperThatJoinsWakesAsManyAsATreeHasBranches) {
  EXPECT_EQ(CountingHost(100).count_woken(200, 100), core::wake_fan_out);
}

TEST(ProtocolTest, AHelperWakesNoMoreThanThereIsWorkAndRoomFor) {
  EXPECT_EQ(CountingHost(100).count_woken(3, 100), 1U) << "the caller's chunk, its own, one more";
  EXPECT_EQ(CountingHost(100).count_woken(200, 3), 2U);
  EXPECT_EQ(CountingHost(1).count_woken(200, 100), 1U);
}

/// A body of two iterations, each longer than a wake-up, that sees how many helpers were woken
/// before the first one began.
struct LongBody {
  CountingHost& host;
  std::uint32_t woken_before = 0;

  static int run(void* argument, std::int64_t begin, std::int64_t end) {
    LongBody& self = *static_cast<LongBody*>(argument);
    if (begin == 0) self.woken_before = self.host.woken_count;
    const std::uint64_t began = arch::cycles();
    const auto cycles = 2 * CountingHost::wake_cost * static_cast<std::uint64_t>(end - begin);
    while (arch::cycles() - began < cycles)
      arch::pause();
    return go_on;
  }

  std::uint32_t count_woken_before() {
    const SplitOptions split{.schedule = Schedule::fixed, .grain = 0, .width = 2};
    EXPECT_EQ(run_loop(host, {run, this, ChunkPlan({0, 2}, split)}, 1), go_on);
    return woken_before;
  }
};

// So two long bodies run side by side.
TEST(ProtocolTest, ABodyThatIsKnownToBeLongHasAHelperFromItsFirstChunk) {
  CountingHost host(2);
  LongBody body{host};
  EXPECT_EQ(body.count_woken_before(), 0U) << "the duration is unknown";
  EXPECT_EQ(host.woken_count, 1U) << "after the first chunk";
  EXPECT_EQ(body.count_woken_before(), 2U);
}

}  // namespace
}  // namespace sorrel::loop
