#include "tools/sorrel/inspect/preflight.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tools/sorrel/common/installation.hpp"
#include "tools/sorrel/inspect/mpi_interface.hpp"

namespace sorrel::tool {
namespace {

const std::string subjects = SORREL_SUBJECTS;
const std::string tree = SORREL_SUBJECT_TREE;
using Strings = std::vector<std::string>;

ProgramReport inspect(const std::string& name) {
  return inspect_program(subjects + "/" + name, find_installation(tree + "/bin/sorrel"));
}

TEST(Installation, TheLibraryAndHeadersAreFoundFromTheCommand) {
  const Installation installation = find_installation(tree + "/bin/sorrel");
  EXPECT_EQ(installation.library(), tree + "/lib/libmpi_abi.so.1");
  EXPECT_EQ(installation.include_dir, tree + "/include");
  EXPECT_EQ(find_installation("/nowhere/bin/sorrel").library_dir, "");
}

TEST(Preflight, AnOrdinaryProgramMayRun) {
  const ProgramReport report = inspect("program");
  EXPECT_EQ(report.refusal, "");
  EXPECT_TRUE(report.is_pie);
  EXPECT_TRUE(report.uses_mpi);
  EXPECT_FALSE(report.must_preload);
  EXPECT_EQ(report.functions, (Strings{"MPI_Finalize", "MPI_Init"}));
  EXPECT_TRUE(report.missing_functions.empty());
}

TEST(Preflight, AProgramWithoutMpiIsPreloaded) {
  const ProgramReport report = inspect("without_mpi");
  EXPECT_EQ(report.refusal, "");
  EXPECT_FALSE(report.uses_mpi);
  EXPECT_TRUE(report.must_preload);
}

TEST(Preflight, AnOldRpathToAnotherLibraryIsOverruledByPreloading) {
  const ProgramReport report = inspect("other_rpath");
  EXPECT_EQ(report.refusal, "");
  EXPECT_TRUE(report.uses_mpi);
  EXPECT_TRUE(report.must_preload);
}

TEST(Preflight, MissingFunctionsAreFoundInTheProgramAndInItsLibraries) {
  EXPECT_EQ(inspect("missing").missing_functions, (Strings{"MPI_Imaginary", "PMPI_Imaginary_too"}));
  EXPECT_EQ(inspect("missing_below").missing_functions, Strings{"MPI_Imaginary"});
}

TEST(Preflight, PrivateLibrariesCostMapsAndSoRanks) {
  EXPECT_LT(map_budget(inspect("with_data")).ranks_max(),
            map_budget(inspect("program")).ranks_max());
}

TEST(Preflight, OtherMpisAreKnownByTheirLibraries) {
  EXPECT_EQ(foreign_mpi("libmpi.so.40"), "Open MPI");
  EXPECT_EQ(foreign_mpi("libmpi.so.12"), "MPICH, Intel MPI or MVAPICH");
  EXPECT_EQ(foreign_mpi("libmpich.so.12"), "MPICH");
  EXPECT_NE(foreign_mpi("libmpi_cxx.so.40"), "");
  EXPECT_NE(foreign_mpi("libmpi_mpifh.so.40"), "");
  EXPECT_EQ(foreign_mpi("libmpi_abi.so.1"), "");
  EXPECT_EQ(foreign_mpi("libm.so.6"), "");
  EXPECT_EQ(foreign_mpi("libc.so.6"), "");
  EXPECT_EQ(foreign_mpi("libmpi.so.20"), "Open MPI 2");
  EXPECT_EQ(foreign_mpi("libmpi.so.1"), "Open MPI 1.5 to 1.8");
  EXPECT_EQ(foreign_mpi("libmpi.so.4"), "Intel MPI 4 or older");
  EXPECT_EQ(foreign_mpi("libmpich.so.10"), "MPICH 3.0");
  EXPECT_EQ(foreign_mpi("libmpich.so.1.2"), "MPICH2 1.2 or older");
  EXPECT_TRUE(is_shared_name("libmpi.so.0"));
  EXPECT_FALSE(is_shared_name("liblam.so.4"));
}

TEST(Preflight, InterfacesThatAreTranslatedHaveTheirExactNames) {
  ASSERT_NE(translated_interface("libmpi.so.40"), nullptr);
  EXPECT_EQ(translated_interface("libmpi.so.40")->name, "Open MPI");
  EXPECT_EQ(translated_interface("libmpi_cxx.so.40"), translated_interface("libmpi.so.40"));
  ASSERT_NE(translated_interface("libmpich.so.12"), nullptr);
  EXPECT_EQ(translated_interface("libmpich.so.12"), translated_interface("libmpi.so.12"));
  EXPECT_EQ(translated_interface("libmpi_mpifh.so.40"), translated_interface("libmpi.so.40"));
  EXPECT_EQ(translated_interface("libmpifort.so.12"), translated_interface("libmpi.so.12"));
  for (const char* other : {"libmpi.so", "libmpi.so.20", "libmpi.so.120", "libmpi_mpifh.so.20",
                            "libmpifort.so.10", "libmpi_abi.so.1"})
    EXPECT_EQ(translated_interface(other), nullptr) << other;
}

}  // namespace
}  // namespace sorrel::tool
