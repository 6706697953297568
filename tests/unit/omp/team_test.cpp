// The audits of teams between two regions find planted faults.
#include "omp/team/team.hpp"

#include <array>
#include <gtest/gtest.h>

#include "omp/tasking/member_state.hpp"

namespace sorrel::omp {
namespace {

TEST(TeamAudit, FindsAThreadThatIsStillInABarrier) {
  Team team;
  team.size = 2;
  team.check_invariants();
  (void)team.inner.arrive();
  EXPECT_DEATH(team.check_invariants(), "a thread is in a barrier");
  (void)team.inner.try_open(team.inner.arrive());
  team.check_invariants();
  (void)team.last.arrive();
  EXPECT_DEATH(team.check_invariants(), "a thread is at the region's end");
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
