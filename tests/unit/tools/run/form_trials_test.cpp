#include "tools/sorrel/run/form_trials.hpp"

#include <gtest/gtest.h>

#include "tools/sorrel/run/process_choice.hpp"

namespace sorrel::tool {
namespace {

TEST(FormTrials, TheFirstRunsTryBothFormsInTurn) {
  FormTable table;
  std::vector<Form> forms;
  for (int run = 0; run < 6; ++run) {
    const FormChoice choice = choose_form(table.find(7));
    if (!choice.is_trial) break;
    forms.push_back(choice.form);
    table.add(7, choice.form, choice.form == Form::one_process ? 2.0 : 1.0);
  }
  EXPECT_EQ(forms, (std::vector<Form>{Form::one_process, Form::process_per_core, Form::one_process,
                                      Form::process_per_core}));
  EXPECT_EQ(choose_form(table.find(7)).form, Form::process_per_core);
  EXPECT_TRUE(choose_form(table.find(8)).is_trial);
}

TEST(FormTrials, TheQuickestRunOfEachFormCounts) {
  const FormChoice choice = choose_form({{1.0, 9.0}, {1.2, 1.1}});
  EXPECT_EQ(choice.form, Form::one_process);
  EXPECT_FALSE(choice.is_trial);
  EXPECT_EQ(choice.reason,
            "earlier runs took 1 s in one process and 1.1 s in a process for each core");
  EXPECT_EQ(choose_form({{9.0, 9.0}, {1.2, 20.0}}).form, Form::process_per_core);
}

TEST(FormTrials, ProcessesMustBeClearlyFaster) {
  EXPECT_EQ(choose_form({{1.04, 1.04}, {1.0, 1.0}}).form, Form::one_process);
  EXPECT_EQ(choose_form({{1.06, 1.06}, {1.0, 1.0}}).form, Form::process_per_core);
}

TEST(FormTrials, ATextIsReadAgain) {
  FormTable table;
  table.add(0xabc, Form::one_process, 1.5);
  table.add(0xabc, Form::process_per_core, 0.25);
  table.add(1, Form::process_per_core, 3);
  EXPECT_EQ(table.text(), "abc: 1.5; 0.25\n1: ; 3\n");
  EXPECT_EQ(FormTable::parse(table.text()).text(), table.text());
}

TEST(FormTrials, DamagedLinesAreLeftOut) {
  const FormTable table = FormTable::parse(
      "5: 1; 2\nno line\n6: -1; 2\n: 1; 2\n7; 1: 2\nxyz: 1; 1\n8: 1 nan; 1 x\n9: 1e300; inf\n5");
  EXPECT_EQ(table.text(), "5: 1; 2\n6: ; 2\n8: ; \n9: ; \n");
}

TEST(FormTrials, TheOldestJobsAreDropped) {
  FormTable table;
  for (std::uint64_t job = 0; job <= FormTable::job_count_max; ++job)
    table.add(job, Form::one_process, 1);
  EXPECT_TRUE(table.find(0).one_process_s.empty());
  EXPECT_EQ(table.find(1).one_process_s.size(), 1U);
}

TEST(ProcessChoice, EarlierRunsDecideWhereTheChoiceIsFree) {
  const MachineProbe probe{
      .handover_ns = 60, .wake_ns = 4000, .copy_bytes_per_ns = 11, .other_work = 0, .date = ""};
  const FormChoice several{.form = Form::process_per_core, .reason = "earlier runs"};
  ChoiceInput input{.ranks = 64, .cores = 4, .ranks_per_process_max = 100, .form = several};
  const ProcessChoice choice = choose_processes(input, {}, {.fsgsbase = true}, probe);
  EXPECT_TRUE(choice.is_free);
  EXPECT_EQ(choice.processes, 4U);
  EXPECT_EQ(choice.process_reason, "the program's data can be private to a rank, earlier runs");
  input.ranks = 3;
  EXPECT_EQ(choose_processes(input, {}, {.fsgsbase = true}, probe).processes, 3U);
  // One core, one rank, or too many ranks for a process: not free.
  input.cores = 1;
  EXPECT_FALSE(choose_processes(input, {}, {.fsgsbase = true}, probe).is_free);
  input = {.ranks = 1, .cores = 4, .ranks_per_process_max = 100, .form = several};
  EXPECT_EQ(choose_processes(input, {}, {.fsgsbase = true}, probe).processes, 1U);
  input = {.ranks = 300, .cores = 4, .ranks_per_process_max = 100, .form = several};
  EXPECT_EQ(choose_processes(input, {}, {.fsgsbase = true}, probe).processes, 3U);
}

}  // namespace
}  // namespace sorrel::tool
