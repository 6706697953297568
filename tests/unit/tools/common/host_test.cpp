#include "tools/sorrel/common/host.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>

#include "unit/base/temporary_folder.hpp"

namespace sorrel::tool {
namespace {

/// An installation in a temporary folder, with plugins for two hosts, whose libraries are in
/// folders of their own.
class HostTest : public testing::Test {
 protected:
  HostTest() {
    for (const char* folder : {"/lib", "/openmpi/lib", "/mpich/lib"})
      std::filesystem::create_directories(folder_ + folder);
    for (const char* file : {"libsorrel-host-openmpi.so", "libsorrel-host-mpich.so"})
      std::ofstream(folder_ + "/lib/" + file) << "";
    std::ofstream(openmpi_) << "";
    std::ofstream(mpich_) << "";
    installation_.library_dir = folder_ + "/lib";
  }

  Host find(std::map<std::string, std::string> environment, const HostOptions& words = {}) {
    environment.emplace("LD_LIBRARY_PATH", folder_ + "/openmpi/lib:" + folder_ + "/mpich/lib");
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
  const std::string openmpi_ = folder_ + "/openmpi/lib/libmpi.so.40";
  const std::string mpich_ = folder_ + "/mpich/lib/libmpich.so.12";
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
  EXPECT_EQ(host.library, openmpi_);
  EXPECT_EQ(host.plugin, folder_ + "/lib/libsorrel-host-openmpi.so");
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
  EXPECT_EQ(host.library, mpich_) << "Debian's name of it";
}

TEST_F(HostTest, AStepOfSlurmIsToldByItsProtocol) {
  const std::map<std::string, std::string> pmi = {
      {"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "6"}, {"PMI_FD", "7"}};
  EXPECT_EQ(find(pmi).name, "mpich");
  EXPECT_EQ(find(pmi).processes, 6U);
  EXPECT_TRUE(find(pmi).is_slurm);
  EXPECT_EQ(find({{"SLURM_STEP_ID", "0"}, {"PMIX_RANK", "2"}}).name, "openmpi");
}

TEST_F(HostTest, TasksOfSlurmWithoutAPmiAreRefused) {
  std::map<std::string, std::string> environment{
      {"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", "1"}};
  const std::string error = find(environment).error;
  EXPECT_NE(error.find("srun has started 4 tasks without a PMI"), std::string::npos) << error;
  EXPECT_NE(error.find("--mpi=pmix"), std::string::npos) << error;
  EXPECT_EQ(find(environment, {.host = "none", .library = ""}).error, "");
  environment["SORREL_RANK"] = "3";
  EXPECT_EQ(find(environment).error, "") << "started by a rank";
  environment.erase("SORREL_RANK");
  environment["SLURM_STEP_NUM_TASKS"] = "1";
  EXPECT_EQ(find(environment).error, "") << "the shell of salloc";
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
  EXPECT_NE(find({}, {.host = "other", .library = ""}).error.find("not 'other'"),
            std::string::npos);
}

TEST_F(HostTest, TheLibraryIsThatOfTheLauncherOrTheUsers) {
  const Environment none = [](const char*) -> const char* { return nullptr; };
  EXPECT_EQ(host_library("openmpi", folder_ + "/openmpi/bin/mpirun", none, installation_),
            openmpi_);
  EXPECT_EQ(host_library("mpich", folder_ + "/mpich/bin/hydra_pmi_proxy", none, installation_),
            mpich_);
  const std::string cray = folder_ + "/libmpi_cray.so.12";
  std::ofstream(cray) << "";
  EXPECT_EQ(find({{"PMI_RANK", "0"}}, {.host = "", .library = cray}).library, cray);
}

TEST_F(HostTest, ALibraryOfAnotherInterfaceIsRefusedAndTheCureNamed) {
  const std::string old = folder_ + "/libmpi.so.20";
  std::ofstream(old) << "";
  for (const std::string& wrong : {old, mpich_}) {
    const Host host = find({{"OMPI_COMM_WORLD_SIZE", "2"}}, {.host = "", .library = wrong});
    EXPECT_NE(host.error.find("is for libmpi.so.40; for an MPI of another binary interface compile "
                              "the plug-in, mpicc -shared"),
              std::string::npos)
        << host.error;
  }
}

TEST_F(HostTest, TranslationsAreNoHosts) {
  const std::string folder = folder_ + "/lib/translate/openmpi";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/libmpi.so.40") << "";
  EXPECT_EQ(find({{"OMPI_COMM_WORLD_SIZE", "2"},
                  {"LD_LIBRARY_PATH", folder + ":" + folder_ + "/openmpi/lib"}})
                .library,
            openmpi_);
}

TEST_F(HostTest, UsersMayCompileAPlugin) {
  const std::string plugin = folder_ + "/sorrel-host.so";
  EXPECT_NE(find({}, {.host = plugin, .library = ""}).error.find("is not a readable file"),
            std::string::npos);
  std::ofstream(plugin) << "";
  Host host = find({}, {.host = plugin, .library = ""});
  EXPECT_EQ(host.error, "");
  EXPECT_EQ(host.name, "own");
  EXPECT_EQ(host.plugin, plugin);
  EXPECT_EQ(host.library, "") << "the plugin is linked with it";
  host = find({{"OMPI_COMM_WORLD_SIZE", "4"}}, {.host = plugin, .library = ""});
  EXPECT_EQ(host.name, "openmpi");
  EXPECT_EQ(host.plugin, plugin);
}

TEST_F(HostTest, TheStandardAbiNeedsALibraryThatIsNotOurs) {
  std::ofstream(folder_ + "/lib/libsorrel-host-abi.so") << "";
  std::ofstream(folder_ + "/lib/libmpi_abi.so.1") << "";
  EXPECT_NE(find({}, {.host = "abi", .library = ""}).error, "");
  EXPECT_NE(find({}, {.host = "abi", .library = installation_.library()}).error, "");
  EXPECT_EQ(find({}, {.host = "abi", .library = "/dev/null"}).error,
            "--host-library /dev/null is not a readable file");
  const Environment none = [](const char*) -> const char* { return nullptr; };
  EXPECT_EQ(host_library("abi", folder_ + "/bin/hydra_pmi_proxy", none, installation_),
            folder_ + "/lib/libmpi_abi.so.1");
  EXPECT_EQ(host_library("abi", "/nowhere/bin/hydra_pmi_proxy", none, installation_), "");
}

}  // namespace
}  // namespace sorrel::tool
