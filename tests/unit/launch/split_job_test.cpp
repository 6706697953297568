#include "launch/split_job.hpp"

#include <gtest/gtest.h>
#include <map>
#include <string>

namespace sorrel::launch {
namespace {

Launched launched(const std::map<std::string, std::string>& environment) {
  return launched_in([&](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

TEST(SplitJobTest, LaunchersOfSeveralProcessesAreRecognized) {
  const Launched open_mpi =
      launched({{"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_RANK", "1"}});
  EXPECT_EQ(open_mpi.text, "Open MPI's mpirun has started 2 processes");
  EXPECT_FALSE(open_mpi.is_first);
  const Launched mpich = launched({{"PMI_SIZE", "3"}, {"PMI_RANK", "0"}});
  EXPECT_EQ(mpich.text, "mpiexec has started 3 processes");
  EXPECT_TRUE(mpich.is_first);
  const Launched slurm =
      launched({{"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", "2"}});
  EXPECT_EQ(slurm.text, "srun has started 4 tasks");
  EXPECT_FALSE(slurm.is_first);
}

TEST(SplitJobTest, OneProcessIsNoSplitJob) {
  EXPECT_EQ(launched({}).text, "");
  EXPECT_EQ(launched({{"OMPI_COMM_WORLD_SIZE", "1"}, {"OMPI_COMM_WORLD_RANK", "0"}}).text, "");
  EXPECT_EQ(launched({{"PMI_SIZE", "1"}}).text, "");
  EXPECT_EQ(launched({{"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}}).text, "");
  // A batch script, and the shell of salloc.
  EXPECT_EQ(launched({{"SLURM_JOB_ID", "1"}, {"SLURM_NTASKS", "4"}}).text, "");
  // What a rank starts inherits its numbers.
  EXPECT_EQ(launched({{"SORREL_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"PMI_SIZE", "4"}}).text,
            "");
}

}  // namespace
}  // namespace sorrel::launch
