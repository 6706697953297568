#include "os/memory_nodes.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "os/cpu_set.hpp"
#include "unit/base/temporary_folder.hpp"

namespace sorrel::os {
namespace {

using Numbers = std::vector<int>;

/// A folder with the layout of the kernel's.
class MemoryNodesTest : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  void write_node(int number, const std::string& cpus, const std::string& distances) const {
    const std::string folder = "/node" + std::to_string(number);
    write(folder + "/cpulist", cpus + "\n");
    write(folder + "/distance", distances + "\n");
  }

  [[nodiscard]] MemoryNodes read() const { return MemoryNodes::read(root_); }

  const TemporaryFolder temporary_;
  const std::string root_ = temporary_.path();
};

TEST_F(MemoryNodesTest, AMachineThatTellsNothingHasOneNode) {
  EXPECT_FALSE(read().are_several());
  EXPECT_EQ(read().node_of(0), -1);
}

TEST_F(MemoryNodesTest, OneNodeIsNoneOfSeveral) {
  write("/online", "0\n");
  write_node(0, "0-7", "10");
  EXPECT_FALSE(read().are_several());
  EXPECT_EQ(read().node_of(3), -1);
}

TEST_F(MemoryNodesTest, EachCpuIsNextToItsNode) {
  write("/online", "0-1\n");
  write_node(0, "0-1,4-5", "10 21");
  write_node(1, "2-3,6-7", "21 10");
  const MemoryNodes machine = read();
  ASSERT_EQ(machine.nodes().size(), 2U);
  EXPECT_EQ(machine.nodes()[0].cpus, (Numbers{0, 1, 4, 5}));
  EXPECT_EQ(machine.node_of(1), 0);
  EXPECT_EQ(machine.node_of(6), 1);
  EXPECT_EQ(machine.node_of(8), -1);
}

TEST_F(MemoryNodesTest, NumbersMayHaveGapsAndNodesMayHaveNoCpus) {
  write("/online", "0,8,250-251\n");
  write_node(0, "0-3", "10 40 80 80");
  write_node(8, "4-7", "40 10 80 80");
  write_node(250, "", "80 80 10 80");
  write_node(251, "", "80 80 80 10");
  const MemoryNodes machine = read();
  ASSERT_EQ(machine.nodes().size(), 4U);
  EXPECT_TRUE(machine.nodes()[2].cpus.empty());
  EXPECT_EQ(machine.node_of(5), 8);
  EXPECT_EQ(machine.distance(0, 8), 40);
  EXPECT_EQ(machine.distance(8, 8), 10);
  EXPECT_EQ(machine.distance(251, 250), 80);
  EXPECT_EQ(machine.distance(0, 1), MemoryNodes::not_known);
}

TEST_F(MemoryNodesTest, DamagedFilesNameNoCpus) {
  write("/online", "0-1\n");
  write_node(0, "0-", "ten");
  write_node(1, "x", "");
  const MemoryNodes machine = read();
  EXPECT_TRUE(machine.are_several());
  EXPECT_EQ(machine.node_of(0), -1);
  EXPECT_EQ(machine.distance(0, 1), MemoryNodes::not_known);
  write("/online", "0-99999999999\n");
  EXPECT_FALSE(read().are_several());
}

TEST(MemoryNodesOfThisMachine, HaveTheCpusOfThisProcess) {
  const MemoryNodes machine = MemoryNodes::read();
  if (!machine.are_several()) GTEST_SKIP() << "one node";
  for (const int cpu : allowed_cpus())
    EXPECT_GE(machine.node_of(cpu), 0) << cpu;
}

}  // namespace
}  // namespace sorrel::os
