#include "tools/sorrel/machine/topology.hpp"

#include <cstdlib>
#include <gtest/gtest.h>
#include <set>

namespace sorrel::tool {
namespace {

TEST(Topology, EveryHardwareThreadIsListedOnceAndHasACore) {
  const auto topology = read_topology(TopologyDetail::threads_only);
  if (!topology) GTEST_SKIP() << "hwloc is not installed";
  std::set<int> cpus;
  std::set<int> cores;
  for (const HardwareThread& thread : topology->threads) {
    EXPECT_TRUE(cpus.insert(thread.cpu).second);
    cores.insert(thread.core);
  }
  EXPECT_FALSE(cpus.empty());
  EXPECT_EQ(static_cast<int>(cores.size()), topology->core_count);
}

TEST(Topology, TheUsersHwlocVariableIsPutBack) {
  setenv("HWLOC_PLUGINS_PATH", "/somewhere", 1);
  (void)read_topology(TopologyDetail::with_caches);
  EXPECT_STREQ(std::getenv("HWLOC_PLUGINS_PATH"), "/somewhere");
  unsetenv("HWLOC_PLUGINS_PATH");
  (void)read_topology(TopologyDetail::threads_only);
  EXPECT_EQ(std::getenv("HWLOC_PLUGINS_PATH"), nullptr);
}

}  // namespace
}  // namespace sorrel::tool
