#include "tools/sorrel/run/process_choice.hpp"

#include <gtest/gtest.h>

namespace sorrel::tool {
namespace {

const MachineProbe usual{
    .handover_ns = 60, .wake_ns = 4000, .copy_bytes_per_ns = 11, .other_work = 0, .date = ""};
const KernelFeatures with_fsgsbase{.fsgsbase = true};

ProcessChoice choose(const ProgramReport& program,
                     const ChoiceInput& input,
                     const KernelFeatures& features = with_fsgsbase) {
  return choose_processes(input, program, features, usual);
}

TEST(ProcessChoice, RanksShareAProcessWhereTheyCan) {
  ProgramReport program;
  program.has_tls = true;
  EXPECT_EQ(choose(program, {.ranks = 64, .cores = 2, .ranks_per_process_max = 1000}).processes,
            1U);
}

TEST(ProcessChoice, EveryRankIsAProcessWhereTheyCannot) {
  ProgramReport program;
  program.own_process_reason = "it is an interpreter";
  const ProcessChoice choice =
      choose(program, {.ranks = 6, .cores = 2, .ranks_per_process_max = 1000});
  EXPECT_EQ(choice.processes, 6U);
  EXPECT_EQ(choice.process_reason, program.own_process_reason);
}

TEST(ProcessChoice, MoreRanksThanOneProcessHasMapsForAreSpread) {
  EXPECT_EQ(choose({}, {.ranks = 2001, .cores = 2, .ranks_per_process_max = 1000}).processes, 3U);
}

TEST(ProcessChoice, ThreadLocalsThatCostASystemCallSpreadWhatHasCores) {
  ProgramReport program;
  program.has_tls = true;
  const KernelFeatures without{.fsgsbase = false};
  EXPECT_EQ(
      choose(program, {.ranks = 4, .cores = 4, .ranks_per_process_max = 9}, without).processes, 4U);
  EXPECT_EQ(
      choose(program, {.ranks = 8, .cores = 4, .ranks_per_process_max = 9}, without).processes, 1U);
}

TEST(ProcessChoice, TheLongestCopyFollowsTheMachineWithinBounds) {
  const ChoiceInput input{.ranks = 2, .cores = 2, .ranks_per_process_max = 9};
  EXPECT_EQ(choose({}, input).eager_bytes, 16384U);
  const MachineProbe slow{
      .handover_ns = 10, .wake_ns = 1e9, .copy_bytes_per_ns = 0.1, .other_work = 0, .date = ""};
  EXPECT_EQ(choose_processes(input, {}, with_fsgsbase, slow).eager_bytes, 4096U);
}

TEST(MachineProbe, IsReadAgainForTheSameMachineOnly) {
  const std::string text = write_probe(usual, "a processor;a kernel");
  const auto kept = read_probe(text, "a processor;a kernel");
  ASSERT_TRUE(kept);
  EXPECT_DOUBLE_EQ(kept->wake_ns, usual.wake_ns);
  EXPECT_FALSE(read_probe(text, "another processor;a kernel"));
  EXPECT_FALSE(read_probe("a processor;a kernel\n1 2", "a processor;a kernel"));
  EXPECT_FALSE(read_probe("a processor;a kernel\n0 0 0\n", "a processor;a kernel"));
  EXPECT_FALSE(read_probe("a processor;a kernel\n1127460 265300 40\n", "a processor;a kernel"));
  EXPECT_FALSE(read_probe("", ""));
}

TEST(MachineProbe, TellsWhenAndBesideWhatItWasMeasured) {
  MachineProbe probe = usual;
  probe.date = "2026-11-22 13:05 UTC";
  probe.other_work = 0.03;
  const auto kept = read_probe(write_probe(probe, "key"), "key");
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->date, probe.date);
  EXPECT_DOUBLE_EQ(kept->other_work, 0.03);
  EXPECT_TRUE(kept->is_of_a_quiet_machine());
  const ChoiceInput input{.ranks = 2, .cores = 2, .ranks_per_process_max = 9};
  EXPECT_TRUE(choose_processes(input, {}, with_fsgsbase, *kept)
                  .limit_reason.ends_with("; measured 2026-11-22 13:05 UTC, other work 3 %"));
  // The format of earlier versions.
  const auto old = read_probe("key\n60 4000 11\n", "key");
  ASSERT_TRUE(old);
  EXPECT_EQ(old->date, "");
}

TEST(MachineProbe, IsNotKeptWhereOtherWorkHadTheCpus) {
  MachineProbe probe = usual;
  probe.date = "2026-11-22 13:05 UTC";
  probe.other_work = 0.5;
  EXPECT_FALSE(probe.is_of_a_quiet_machine());
  const ChoiceInput input{.ranks = 2, .cores = 2, .ranks_per_process_max = 9};
  EXPECT_TRUE(choose_processes(input, {}, with_fsgsbase, probe)
                  .limit_reason.ends_with(", other work 50 %, not kept"));
}

TEST(MachineProbe, MeasuresSomethingPossible) {
  const MachineProbe probe = measure_machine();
  EXPECT_GT(probe.handover_ns, 1);
  EXPECT_GT(probe.wake_ns, 100);
  EXPECT_GT(probe.copy_bytes_per_ns, 0.05);
}

}  // namespace
}  // namespace sorrel::tool
