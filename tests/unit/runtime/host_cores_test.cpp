#include "runtime/host/host_cores.hpp"

#include <gtest/gtest.h>

namespace sorrel::runtime {
namespace {

HostCores may_use(std::int32_t node, std::initializer_list<int> cpus) {
  HostCores cores{.cpus = {}, .node = node};
  for (const int cpu : cpus)
    cores.cpus.set(static_cast<std::size_t>(cpu));
  return cores;
}

using Cpus = std::vector<int>;

TEST(HostCoresTest, ProcessesWithTheSameCpusDivideThemInTheOrderOfPreference) {
  const std::vector<HostCores> all(3, may_use(0, {0, 1, 2, 3, 4, 5, 6}));
  const Cpus preferred = {0, 2, 4, 6, 1, 3, 5};
  EXPECT_EQ(own_share(all, 0, preferred), (Cpus{0, 2}));
  EXPECT_EQ(own_share(all, 1, preferred), (Cpus{4, 6}));
  EXPECT_EQ(own_share(all, 2, preferred), (Cpus{1, 3, 5}));
}

TEST(HostCoresTest, ALaunchersBindingIsRespected) {
  const std::vector<HostCores> all = {may_use(0, {0, 1}), may_use(0, {2, 3})};
  EXPECT_EQ(own_share(all, 0, Cpus{0, 1}), (Cpus{0, 1}));
  EXPECT_EQ(own_share(all, 1, Cpus{2, 3}), (Cpus{2, 3}));
}

TEST(HostCoresTest, TheSameNumbersOnAnotherNodeAreOtherCpus) {
  const std::vector<HostCores> all = {may_use(0, {0, 1}), may_use(1, {0, 1}), may_use(0, {0, 1})};
  EXPECT_EQ(own_share(all, 1, Cpus{0, 1}), (Cpus{0, 1}));
  EXPECT_EQ(own_share(all, 2, Cpus{0, 1}), (Cpus{1}));
  EXPECT_EQ(count_on_node(all, 0), 2U);
  EXPECT_EQ(count_on_node(all, 1), 1U);
}

TEST(HostCoresTest, MoreProcessesThanCpusGetNoneOfTheirOwn) {
  const std::vector<HostCores> all(3, may_use(0, {0, 1}));
  EXPECT_EQ(own_share(all, 1, Cpus{0, 1}), Cpus{});
}

}  // namespace
}  // namespace sorrel::runtime
