#include "tools/sorrel/common/host.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>

#include "unit/base/temporary_folder.hpp"

namespace sorrel::tool {
namespace {

/// An installation in a temporary folder, with plugins for two hosts.
class HostTest : public testing::Test {
 protected:
  HostTest() {
    std::filesystem::create_directories(folder_ + "/lib");
    for (const char* file : {"libsorrel-host-openmpi.so", "libsorrel-host-mpich.so"})
      std::ofstream(folder_ + "/lib/" + file) << "";
    installation_.library_dir = folder_ + "/lib";
  }

  Host find(const std::map<std::string, std::string>& environment, const HostOptions& words = {}) {
    return find_host(
        words,
        [&](const char* name) -> const char* {
          const auto found = environment.find(name);
          return found == environment.end() ? nullptr : found->second.c_str();
        },
        installation_);
  }

  const TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
  Installation installation_;
};

TEST_F(HostTest, WithoutALauncherThereIsNone) {
  EXPECT_EQ(find({}).name, "");
  EXPECT_EQ(find({{"SLURM_JOB_ID", "1"}, {"SLURM_NTASKS", "4"}}).name, "") << "salloc's shell";
}

TEST_F(HostTest, OpenMpisLauncherTellsItselfAndHowMany) {
  const Host host = find({{"OMPI_COMM_WORLD_SIZE", "4"}, {"PMIX_RANK", "1"}});
  EXPECT_EQ(host.name, "openmpi");
  EXPECT_EQ(host.processes, 4U);
  EXPECT_EQ(host.error, "");
}

TEST_F(HostTest, TheNumbersOfASorrelRankAreNoLauncher) {
  std::map<std::string, std::string> environment{
      {"SORREL_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"PMI_RANK", "1"}, {"PMI_SIZE", "4"}};
  EXPECT_EQ(find(environment).name, "");
  environment["PMI_FD"] = "7";
  EXPECT_EQ(find(environment).name, "mpich") << "mpiexec started by the rank";
}

TEST_F(HostTest, PmiIsMpich) {
  const Host host = find({{"PMI_RANK", "0"}, {"PMI_SIZE", "3"}});
  EXPECT_EQ(host.name, "mpich");
  EXPECT_EQ(host.processes, 3U);
}

TEST_F(HostTest, AStepOfSlurmIsToldByItsProtocol) {
  const std::map<std::string, std::string> pmi = {
      {"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "6"}, {"PMI_FD", "7"}};
  EXPECT_EQ(find(pmi).name, "mpich");
  EXPECT_EQ(find(pmi).processes, 6U);
  EXPECT_TRUE(find(pmi).is_slurm);
  EXPECT_EQ(find({{"SLURM_STEP_ID", "0"}, {"PMIX_RANK", "2"}}).name, "openmpi");
}

TEST_F(HostTest, TheUserMayKnowBetter) {
  EXPECT_EQ(find({{"PMI_RANK", "0"}}, {.host = "none", .library = ""}).name, "");
  EXPECT_EQ(find({{"PMI_RANK", "0"}}, {.host = "openmpi", .library = ""}).name, "openmpi");
}

TEST_F(HostTest, AMissingPluginIsAProblem) {
  std::filesystem::remove(folder_ + "/lib/libsorrel-host-openmpi.so");
  const Host host = find({{"OMPI_COMM_WORLD_SIZE", "2"}});
  EXPECT_NE(host.error.find("libsorrel-host-openmpi.so is not in"), std::string::npos)
      << host.error;
  EXPECT_NE(host.error.find("(there: mpich)"), std::string::npos) << host.error;
}

TEST_F(HostTest, TheStandardAbiNeedsALibraryThatIsNotOurs) {
  std::ofstream(folder_ + "/lib/libsorrel-host-abi.so") << "";
  std::ofstream(folder_ + "/lib/libmpi_abi.so.1") << "";
  EXPECT_NE(find({}, {.host = "abi", .library = ""}).error, "");
  EXPECT_NE(find({}, {.host = "abi", .library = installation_.library()}).error, "");
  EXPECT_EQ(find({}, {.host = "abi", .library = "/dev/null"}).error,
            "--host-library /dev/null is not a readable file");
  EXPECT_EQ(abi_library_of(folder_ + "/bin/hydra_pmi_proxy"), folder_ + "/lib/libmpi_abi.so.1");
  EXPECT_EQ(abi_library_of("/nowhere/bin/hydra_pmi_proxy"), "");
}

}  // namespace
}  // namespace sorrel::tool
