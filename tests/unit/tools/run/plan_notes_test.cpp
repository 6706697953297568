#include "tools/sorrel/run/plan_notes.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace sorrel::tool {
namespace {

using Notes = std::vector<std::string>;

RunPlan plan_of(std::int32_t ranks, std::uint32_t processes) {
  RunPlan plan;
  plan.job.rank_count = ranks;
  plan.job.process_count = processes;
  plan.job.worker_count = 2;
  return plan;
}

TEST(PlanNotes, OneProcessNeedsNoTransport) {
  RunPlan plan = plan_of(4, 1);
  plan.cpus = {0, 1};
  EXPECT_EQ(notes_on(plan, false),
            (Notes{"4 ranks in 1 process of 2 workers, on cpus 0,1", "messages: within one process",
                   "balance: off", "share: fair, unless SORREL_SHARE says otherwise"}));
}

TEST(PlanNotes, EachSettingHasItsLine) {
  RunPlan plan = plan_of(4, 2);
  plan.job.wire =
      launch::WireSpec{.node_count = 4, .latency_ns = 20'500, .bytes_per_second = 2.5e9};
  plan.job.balance = launch::Balance::steal;
  plan.share = "fixed";
  EXPECT_EQ(
      notes_on(plan, true),
      (Notes{"4 ranks in 2 processes of 2 workers, not bound",
             "messages: between processes through shared memory",
             "network: 4 simulated nodes, latency 20.5 us, 2.5 GB/s",
             "OpenMP: user-level threads on the worker of their rank",
             "balance: steal: idle workers run computations of other ranks", "share: fixed"}));
  plan.job.wire->jitter_ns = 5'000;
  plan.job.wire->bytes_per_second = 0;
  EXPECT_EQ(notes_on(plan, false)[2],
            "network: 4 simulated nodes, latency 20.5 us, jitter up to 5 us, any bandwidth");
}

TEST(PlanNotes, AHostCarriesMessagesBetweenMachines) {
  RunPlan plan = plan_of(4, 2);
  plan.host.name = "mpich";
  plan.has_room_for_threads = true;
  const Notes notes = notes_on(plan, true);
  EXPECT_EQ(notes[1],
            "messages: between machines through mpich, on a machine through shared memory");
  EXPECT_EQ(notes[2], "OpenMP: user-level threads, on as many cores as are free");
}

}  // namespace
}  // namespace sorrel::tool
