#include "os/cgroup.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>

#include "os/free_memory.hpp"
#include "unit/base/temporary_folder.hpp"

namespace sorrel::os {
namespace {

/// A folder with the layout of a machine's root.
class CgroupTest : public ::testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  void write_v2(const std::string& group, const std::string& mount_root = "/") const {
    write("/proc/self/cgroup", "0::" + group + "\n");
    write("/proc/self/mountinfo",
          "20 1 8:1 / / rw - ext4 /dev/root rw\n"
          "30 20 0:26 " +
              mount_root + " /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
  }

  void write_v1(const std::string& group) const {
    write("/proc/self/cgroup",
          "5:memory:/elsewhere\n4:cpu,cpuacct:" + group + "\n1:cpuset:/\n0::/\n");
    write("/proc/self/mountinfo",
          "31 20 0:27 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
          "32 20 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n");
  }

  const TemporaryFolder temporary_;
  const std::string root_ = temporary_.path();
};

TEST_F(CgroupTest, AMachineWithoutCgroupsHasNoQuota) {
  EXPECT_FALSE(cpu_quota(root_).has_value());
}

TEST_F(CgroupTest, Version2MaxMeansNoQuota) {
  write_v2("/job");
  write("/sys/fs/cgroup/job/cpu.max", "max 100000\n");
  EXPECT_FALSE(cpu_quota(root_).has_value());
}

TEST_F(CgroupTest, Version2QuotaIsTimeOverPeriod) {
  write_v2("/job");
  write("/sys/fs/cgroup/job/cpu.max", "250000 100000\n");
  const auto quota = cpu_quota(root_);
  ASSERT_TRUE(quota.has_value());
  EXPECT_DOUBLE_EQ(quota->cpus, 2.5);
  EXPECT_EQ(quota->file, "/sys/fs/cgroup/job/cpu.max");
  EXPECT_EQ(whole_cpus(*quota), 2);
}

TEST_F(CgroupTest, TheTightestGroupAboveCounts) {
  write_v2("/slice/job/step");
  write("/sys/fs/cgroup/slice/job/step/cpu.max", "max 100000\n");
  write("/sys/fs/cgroup/slice/job/cpu.max", "400000 100000\n");
  write("/sys/fs/cgroup/slice/cpu.max", "50000 100000\n");
  const auto quota = cpu_quota(root_);
  ASSERT_TRUE(quota.has_value());
  EXPECT_DOUBLE_EQ(quota->cpus, 0.5);
  EXPECT_EQ(whole_cpus(*quota), 1);
}

TEST_F(CgroupTest, AContainersMountOfASubtreeIsUnderstood) {
  write_v2("/docker/abc/step", "/docker/abc");
  write("/sys/fs/cgroup/step/cpu.max", "300000 100000\n");
  const auto quota = cpu_quota(root_);
  ASSERT_TRUE(quota.has_value());
  EXPECT_DOUBLE_EQ(quota->cpus, 3.0);
}

TEST_F(CgroupTest, AGroupOutsideTheMountReadsTheMountsRoot) {
  write_v2("/../other", "/docker/abc");
  write("/sys/fs/cgroup/cpu.max", "200000 100000\n");
  const auto quota = cpu_quota(root_);
  ASSERT_TRUE(quota.has_value());
  EXPECT_DOUBLE_EQ(quota->cpus, 2.0);
}

TEST_F(CgroupTest, Version1QuotaIsReadFromTheCpuController) {
  write_v1("/job");
  write("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "150000\n");
  write("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "50000\n");
  const auto quota = cpu_quota(root_);
  ASSERT_TRUE(quota.has_value());
  EXPECT_DOUBLE_EQ(quota->cpus, 3.0);
  EXPECT_EQ(quota->file, "/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us");
}

TEST_F(CgroupTest, Version1MinusOneMeansNoQuota) {
  write_v1("/job");
  write("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
  write("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  EXPECT_FALSE(cpu_quota(root_).has_value());
}

TEST_F(CgroupTest, NonsenseInTheFilesIsNoQuota) {
  write_v2("/job");
  write("/sys/fs/cgroup/job/cpu.max", "abc\n");
  EXPECT_FALSE(cpu_quota(root_).has_value());
  write("/sys/fs/cgroup/job/cpu.max", "100000 0\n");
  EXPECT_FALSE(cpu_quota(root_).has_value());
  for (const char* text : {"nan 100000\n", "100000 nan\n", "inf 100000\n", "1e-300 1e300\n"}) {
    write("/sys/fs/cgroup/job/cpu.max", text);
    EXPECT_FALSE(cpu_quota(root_).has_value()) << text;
  }
  write("/proc/self/mountinfo", "garbage - \n - cgroup2\n");
  EXPECT_FALSE(cpu_quota(root_).has_value());
}

TEST_F(CgroupTest, ThreadsAreLimitedByTheTightestGroup) {
  write_v2("/a/b");
  EXPECT_FALSE(pids_limit(root_).has_value());
  write("/sys/fs/cgroup/a/b/pids.max", "max\n");
  write("/sys/fs/cgroup/a/pids.max", "120\n");
  const auto limit = pids_limit(root_);
  ASSERT_TRUE(limit.has_value());
  EXPECT_EQ(limit->threads, 120U);
  EXPECT_EQ(limit->file, "/sys/fs/cgroup/a/pids.max");
}

TEST_F(CgroupTest, Version1HasAHierarchyForThreads) {
  write("/proc/self/cgroup", "9:pids:/x\n4:cpu,cpuacct:/\n0::/\n");
  write("/proc/self/mountinfo", "31 20 0:27 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n");
  write("/sys/fs/cgroup/pids/x/pids.max", "33\n");
  const auto limit = pids_limit(root_);
  ASSERT_TRUE(limit.has_value());
  EXPECT_EQ(limit->threads, 33U);
}

TEST_F(CgroupTest, MemoryIsLimitedByTheTightestGroup) {
  write_v2("/a/b");
  EXPECT_FALSE(memory_limit(root_).has_value());
  write("/sys/fs/cgroup/a/b/memory.max", "max\n");
  write("/sys/fs/cgroup/a/memory.max", "5000000000\n");
  EXPECT_EQ(memory_limit(root_), 5'000'000'000U);
}

TEST_F(CgroupTest, WhatIsLeftOfMemoryCountsCachedFilesAsFree) {
  write_v2("/a/b");
  EXPECT_FALSE(memory_left(root_).has_value());
  write("/sys/fs/cgroup/a/memory.max", "1000\n");
  write("/sys/fs/cgroup/a/memory.current", "700\n");
  EXPECT_EQ(memory_left(root_), 300U);
  write("/sys/fs/cgroup/a/memory.stat", "anon 400\nactive_file 100\ninactive_file 150\nshmem 50\n");
  EXPECT_EQ(memory_left(root_), 550U);
  write("/proc/meminfo", "MemTotal:    2 kB\nMemFree:   1 kB\nMemAvailable:    1 kB\n");
  EXPECT_EQ(free_memory(root_).bytes, 550U);
  EXPECT_EQ(free_memory(root_).all_bytes, 1000U);
  write("/sys/fs/cgroup/a/memory.current", "2000\n");
  EXPECT_EQ(memory_left(root_), 0U);
}

TEST_F(CgroupTest, Version1WritesALargeNumberForUnlimitedMemory) {
  write("/proc/self/cgroup", "9:memory:/x\n0::/\n");
  write("/proc/self/mountinfo",
        "31 20 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  write("/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_FALSE(memory_limit(root_).has_value());
  write("/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "1048576\n");
  EXPECT_EQ(memory_limit(root_), 1048576U);
}

}  // namespace
}  // namespace sorrel::os
