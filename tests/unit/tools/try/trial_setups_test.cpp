#include "tools/sorrel/try/trial_setups.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace sorrel::tool {
namespace {

OtherMpi open_mpi() {
  return {.name = "Open MPI 4.1.4",
          .family = "openmpi",
          .launcher = "/usr/bin/mpirun.openmpi",
          .library = "/usr/lib/libmpi.so.40",
          .is_library_of_loader = true,
          .standard_library = ""};
}

TrialSubject subject() {
  return {.sorrel = "/opt/bin/sorrel",
          .program = {"./app", "10"},
          .cores = 2,
          .rank_counts = usual_rank_counts(2),
          .mpis = {open_mpi()}};
}

std::vector<std::string> labels(const std::vector<TrialSetup>& setups) {
  std::vector<std::string> found;
  for (const TrialSetup& setup : setups)
    found.push_back(setup.label);
  return found;
}

TEST(TrialSetups, BeginWithEachNumberOfRanks) {
  const std::vector<TrialSetup> setups = first_setups(subject());
  EXPECT_EQ(labels(setups),
            (std::vector<std::string>{"sorrel run -n 2", "mpirun.openmpi -n 2 (Open MPI 4.1.4)",
                                      "sorrel run -n 4", "sorrel run -n 8", "sorrel run -n 16",
                                      "sorrel run -n 32"}));
  EXPECT_EQ(setups[0].command,
            (std::vector<std::string>{"/opt/bin/sorrel", "run", "-n", "2", "./app", "10"}));
  EXPECT_FALSE(setups[1].is_sorrel);
}

TEST(TrialSetups, GoOnWithOptionsForTheBestNumberOfRanks) {
  TrialSubject with_openmp = subject();
  with_openmp.uses_openmp = true;
  EXPECT_EQ(
      labels(further_setups(with_openmp, 16)),
      (std::vector<std::string>{"sorrel run -n 16 --procs 2", "sorrel run -n 16 --balance steal",
                                "sorrel run -n 16 --balance measured", "sorrel run -n 16 --omp",
                                "mpirun.openmpi -n 16 --oversubscribe (Open MPI 4.1.4)"}));
}

TEST(TrialSetups, OneCoreNeedsNoProcesses) {
  TrialSubject one = subject();
  one.cores = 1;
  one.rank_counts = usual_rank_counts(1);
  EXPECT_EQ(labels(further_setups(one, 1)).front(), "sorrel run -n 1 --balance steal");
}

TEST(TrialSetups, OtherMpisMustHaveTheInterfaceOfTheProgram) {
  ProgramReport program;
  EXPECT_TRUE(mpis_for(program, {open_mpi()}).empty());
  program.needed.push_back({.name = "libmpi.so.40", .path = "", .reason = ""});
  EXPECT_EQ(mpis_for(program, {open_mpi()}).size(), 1U);
  program.needed.back().name = "libmpi.so.12";
  EXPECT_TRUE(mpis_for(program, {open_mpi()}).empty());
  program.uses_mpi = true;
  OtherMpi with_standard = open_mpi();
  with_standard.standard_library = "/opt/mpich/lib/libmpi_abi.so.1";
  EXPECT_EQ(mpis_for(program, {with_standard}).size(), 1U);
  program = {};
  program.is_interpreter = true;
  EXPECT_EQ(mpis_for(program, {open_mpi()}).size(), 1U);
}

}  // namespace
}  // namespace sorrel::tool
