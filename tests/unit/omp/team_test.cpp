// The audits of teams between two regions find planted faults.
#include "omp/team/team.hpp"

#include <array>
#include <gtest/gtest.h>

#include "omp/tasking/member_state.hpp"

namespace sorrel::omp {
namespace {

/// In teams of which all threads arrive at the root, and of which they meet in leaves.
class TeamAuditOfSize : public testing::TestWithParam<std::uint32_t> {};

INSTANTIATE_TEST_SUITE_P(Teams, TeamAuditOfSize, testing::Values(2U, 4U, 5U, 9U, 33U));

TEST_P(TeamAuditOfSize, FindsAThreadThatIsStillInABarrier) {
  const std::uint32_t size = GetParam();
  Team team;
  team.set_size(size);
  for (int phase = 0; phase < 3; ++phase) {
    team.check_invariants();
    for (std::uint32_t number = size; number > 1; --number) {
      EXPECT_FALSE(team.inner.is_full(team.inner.arrive(number - 1)));
      EXPECT_DEATH(team.check_invariants(), "a thread is in a barrier") << number;
    }
    const BarrierState state = team.inner.arrive(0);
    EXPECT_TRUE(team.inner.is_full(state));
    EXPECT_TRUE(team.inner.try_open(state));
    EXPECT_FALSE(team.inner.try_open(state)) << "once only";
  }
  EXPECT_EQ(team.inner.generation(), 3U);
  (void)team.last.arrive(0);
  EXPECT_DEATH(team.check_invariants(), "a thread is at the region's end");
}

TEST_P(TeamAuditOfSize, ACancelledBarrierIsEmptied) {
  Team team;
  team.set_size(GetParam());
  (void)team.inner.arrive(0);
  team.inner.reset();
  team.check_invariants();
}

TEST_P(TeamAuditOfSize, OneThreadClaimsASingleConstruct) {
  Team team;
  team.set_size(GetParam());
  EXPECT_TRUE(team.inner.claim(0));
  EXPECT_FALSE(team.inner.claim(0));
  EXPECT_TRUE(team.inner.claim(1));
}

TEST(TeamAudit, FindsATaskThatWasNotRun) {
  MemberState member_state;
  Task task;
  member_state.check_invariants();
  member_state.queue.push(task);
  EXPECT_DEATH(member_state.check_invariants(), "1 tasks were not run");
  EXPECT_EQ(member_state.queue.pop(nullptr), &task);
  member_state.check_invariants();
}

TEST(TeamAudit, FindsAQueueWhoseLinksDisagree) {
  TaskQueue queue;
  std::array<Task, 3> tasks;
  for (Task& task : tasks)
    queue.push(task);
  queue.check_invariants();
  tasks[1].before = nullptr;
  EXPECT_DEATH(queue.check_invariants(), "the links of task 1 disagree");
  tasks[1].before = tasks.data();
  tasks[1].after = nullptr;
  EXPECT_DEATH(queue.check_invariants(), "2 tasks, counted as 3");
}

}  // namespace
}  // namespace sorrel::omp
