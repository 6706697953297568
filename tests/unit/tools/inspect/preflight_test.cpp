#include "tools/sorrel/inspect/preflight.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tools/sorrel/common/installation.hpp"

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
}

}  // namespace
}  // namespace sorrel::tool
