#include "tools/sorrel/machine/worker_plan.hpp"

#include <gtest/gtest.h>
#include <optional>
#include <vector>

namespace sorrel::tool {
namespace {

using Cpus = std::vector<int>;

MachineLimits limits_of(Cpus cpus, bool has_smt = false) {
  return {{.allowed_cpus = std::move(cpus), .quota = std::nullopt}, has_smt};
}

/// Two packages of two cores of two threads, numbered as Linux does: siblings are 4 apart, packages
/// alternate.
Topology two_packages() {
  Topology topology;
  topology.threads = {{0, 0}, {4, 0}, {2, 1}, {6, 1}, {1, 2}, {5, 2}, {3, 3}, {7, 3}};
  return topology;
}

const TopologyReader never = []() -> std::optional<Topology> {
  ADD_FAILURE() << "the topology was read though there was nothing to choose";
  return std::nullopt;
};

TEST(WorkerPlan, WorkersAreTheAllowedCpus) {
  EXPECT_EQ(default_workers(limits_of({0, 1, 2})), 3);
  EXPECT_EQ(default_workers(limits_of({})), 1);
}

TEST(WorkerPlan, AQuotaCapsTheWorkersButLeavesOne) {
  MachineLimits limits = limits_of({0, 1, 2, 3});
  limits.quota = os::CpuQuota{.cpus = 2.9, .file = ""};
  EXPECT_EQ(default_workers(limits), 2);
  limits.quota->cpus = 0.3;
  EXPECT_EQ(default_workers(limits), 1);
  limits.quota->cpus = 64;
  EXPECT_EQ(default_workers(limits), 4);
}

TEST(WorkerPlan, TheTopologyIsNotReadWhenThereIsNothingToChoose) {
  EXPECT_EQ(choose_cpus(3, limits_of({1, 5, 6}), never), (Cpus{1, 5, 6}));
  EXPECT_EQ(choose_cpus(4, limits_of({0, 1, 2}), never), Cpus{});
  EXPECT_EQ(choose_cpus(1, limits_of({1, 5, 6}, true), never), Cpus{1});
}

TEST(WorkerPlan, CoresComeBeforeSiblingsInTopologyOrder) {
  const TopologyReader read = [] { return two_packages(); };
  const MachineLimits all = limits_of({0, 1, 2, 3, 4, 5, 6, 7}, true);
  EXPECT_EQ(choose_cpus(2, all, read), (Cpus{0, 2}));
  EXPECT_EQ(choose_cpus(4, all, read), (Cpus{0, 2, 1, 3}));
  EXPECT_EQ(choose_cpus(8, all, read), (Cpus{0, 2, 1, 3, 4, 6, 5, 7}));
}

TEST(WorkerPlan, AMaskThatHoldsOnlySecondThreadsIsUsedFully) {
  const TopologyReader read = [] { return two_packages(); };
  EXPECT_EQ(choose_cpus(3, limits_of({1, 4, 5, 6}, true), read), (Cpus{4, 6, 1}));
}

TEST(WorkerPlan, WithoutATopologyTheSystemsOrderServes) {
  const TopologyReader nothing = []() -> std::optional<Topology> { return std::nullopt; };
  EXPECT_EQ(choose_cpus(2, limits_of({3, 5, 7}, true), nothing), (Cpus{3, 5}));
}

TEST(WorkerPlan, NeighboursShareACpuWhenThereAreTooFew) {
  EXPECT_EQ(share_cpus(5, limits_of({3, 5})), (Cpus{3, 3, 3, 5, 5}));
  EXPECT_EQ(share_cpus(8, limits_of({0, 1, 2})), (Cpus{0, 0, 0, 1, 1, 1, 2, 2}));
  EXPECT_EQ(share_cpus(2, limits_of({})), Cpus{});
}

TEST(WorkerPlan, ThisMachineGetsDistinctAllowedCpus) {
  const MachineLimits limits = read_machine_limits();
  ASSERT_FALSE(limits.allowed_cpus.empty());
  const Cpus cpus =
      choose_cpus(1, limits, [] { return read_topology(TopologyDetail::threads_only); });
  ASSERT_EQ(cpus.size(), 1u);
}

}  // namespace
}  // namespace sorrel::tool
