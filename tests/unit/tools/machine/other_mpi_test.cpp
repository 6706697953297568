#include "tools/sorrel/machine/other_mpi.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>

namespace sorrel::tool {
namespace {

TEST(OtherMpi, VersionsAreReadFromWhatLaunchersPrint) {
  const MpiVersion open_mpi = mpi_of("mpirun (Open MPI) 4.1.4\n\nReport bugs to ...\n");
  EXPECT_EQ(open_mpi.name, "Open MPI 4.1.4");
  EXPECT_EQ(open_mpi.family, "openmpi");
  EXPECT_EQ(mpi_of("mpirun.openmpi (OpenRTE) 4.1.4\n").name, "Open MPI 4.1.4");
  const MpiVersion mpich = mpi_of("HYDRA build details:\n    Version:          4.0.2\n");
  EXPECT_EQ(mpich.name, "MPICH 4.0.2");
  EXPECT_EQ(mpich.family, "mpich");
  const MpiVersion intel =
      mpi_of("Intel(R) MPI Library for Linux* OS, Version 2021.11 Build 2023\n");
  EXPECT_EQ(intel.name, "Intel MPI 2021.11");
  EXPECT_EQ(intel.family, "mpich");
  EXPECT_EQ(mpi_of("slurm 22.05\n").name, "");
}

TEST(OtherMpi, LaunchersAreFoundOnceEachAndSorrelsOwnAreNot) {
  namespace files = std::filesystem;
  const files::path folder = files::temp_directory_path() / "sorrel-other-mpi-test";
  files::remove_all(folder);
  files::create_directories(folder / "bin");
  std::ofstream(folder / "bin/mpiexec") << "#!/bin/sh\necho 'mpirun (Open MPI) 9.8.7'\n";
  files::permissions(folder / "bin/mpiexec", files::perms::owner_all);
  files::create_symlink("mpiexec", folder / "bin/mpirun");
  std::ofstream(folder / "bin/sorrel") << "#!/bin/sh\necho 'mpirun (Open MPI) 1.1.1'\n";
  files::permissions(folder / "bin/sorrel", files::perms::owner_all);
  files::create_symlink("sorrel", folder / "bin/mpiexec.hydra");
  const std::string path = (folder / "bin").string();
  const auto found = find_other_mpis(
      [&](const char* name) { return std::string(name) == "PATH" ? path.c_str() : nullptr; }, {});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, "Open MPI 9.8.7");
  files::remove_all(folder);
}

TEST(OtherMpi, MoreProcessesThanCoresNeedAnOptionOfOpenMpi) {
  OtherMpi mpi{.name = "", .family = "openmpi", .launcher = "mpirun"};
  EXPECT_EQ(mpi.start(2, 2).size(), 3U);
  EXPECT_EQ(mpi.start(3, 2).back(), "--oversubscribe");
  mpi.family = "mpich";
  EXPECT_EQ(mpi.start(3, 2).size(), 3U);
}

TEST(OtherMpi, ProgramsGetTheLibraryOfTheirLauncher) {
  OtherMpi mpi{.name = "",
               .family = "mpich",
               .launcher = "/opt/bin/mpiexec",
               .library = "/opt/lib/libmpi.so.12",
               .is_library_of_loader = false,
               .standard_library = "/opt/abi/libmpi_abi.so.1"};
  EXPECT_EQ(mpi.environment(false, false).front().find("LD_LIBRARY_PATH=/opt/lib"), 0U);
  EXPECT_EQ(mpi.environment(true, false).front().find("LD_LIBRARY_PATH=/opt/abi"), 0U);
  const auto python = mpi.environment(false, true);
  EXPECT_NE(std::ranges::find(python, "MPI4PY_MPIABI=mpich"), python.end());
  mpi.is_library_of_loader = true;
  EXPECT_TRUE(mpi.environment(false, false).empty());
}

}  // namespace
}  // namespace sorrel::tool
