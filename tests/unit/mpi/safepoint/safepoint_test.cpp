#include "mpi/safepoint/safepoint.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <vector>

#include "core/burst.hpp"
#include "core/shared_job_stop.hpp"
#include "mpi/collectives/slots.hpp"
#include "mpi/job/process_world.hpp"

namespace sorrel::mpi {
namespace {

using Wish = SafepointParticipant::Wish;

/// Counts the calls, and wants what a test sets.
class TestParticipant final : public SafepointParticipant {
 public:
  Wish wish = Wish::nothing;
  int polls = 0;
  int notices = 0;
  int begins = 0;
  std::vector<std::int32_t> threaded_ranks;

 private:
  Wish wants() override {
    ++polls;
    return wish;
  }

  void on_notice() override { ++notices; }

  void begin() override { ++begins; }

  void give_up(std::int32_t threaded_rank) override { threaded_ranks.push_back(threaded_rank); }

  int run(core::JobStop& /*stop*/) override { return 0; }
};

class TestProcessParticipant final : public ProcessParticipant {
 public:
  CollectiveSlots* slots = nullptr;
  bool wants = true;

  [[nodiscard]] bool is_due() const override { return wants; }

  bool begin_in(CollectiveSlots& of) override {
    slots = &of;
    return wants;
  }
};

/// A job of four ranks whose workers do not run.
class Safepoints : public testing::Test, private core::SchedulerHooks, private JobControl {
 protected:
  Safepoints() {
    safepoint().add(first_);
    safepoint().add(second_);
  }

  // Begun safepoints of this test never end.
  ~Safepoints() override {
    for (int i = 0; i < first_.begins + second_.begins; ++i)
      core::end_slow_ends();
  }

  [[nodiscard]] Safepoint& safepoint() { return *world_.safepoint(); }

  /// A barrier of all ranks.
  SafepointDecision pass_barrier(std::uint32_t wanted_elsewhere = 0) {
    return safepoint().decide(slots(), safepoint().wanted() | wanted_elsewhere);
  }

  [[nodiscard]] CollectiveSlots& slots() { return world_.shared_of_world().slots(); }

  [[nodiscard]] RankState& rank(std::int32_t number) { return world_.rank(number); }

  TestParticipant first_;
  TestParticipant second_;

 private:
  void on_worker_start(core::Worker& /*worker*/) override {}

  void on_worker_end(core::Worker& /*worker*/) override {}

  void on_all_asleep() override {}

  [[noreturn]] void do_end_job(const RankState* /*culprit*/,
                               int /*status*/,
                               const char* /*message*/) override {
    std::abort();
  }

  core::Scheduler scheduler_{{.worker_count = 2, .limits = {}, .cpus = {}}, *this};
  core::SharedJobStop job_stop_{scheduler_};
  ProcessWorld world_{scheduler_,
                      *this,
                      RankLayout({.rank_count = 4, .process_count = 1, .worker_count = 2}),
                      {.job_stop = &job_stop_},
                      TuningTable()};
};

TEST_F(Safepoints, BeginsForNothingIfNothingIsWanted) {
  EXPECT_EQ(pass_barrier(), SafepointDecision::none);
  EXPECT_EQ(first_.polls, 1);
  EXPECT_EQ(first_.begins + second_.begins, 0);
}

TEST_F(Safepoints, BeginsForTheParticipantThatWantsIt) {
  second_.wish = Wish::safepoint;
  EXPECT_EQ(pass_barrier(), SafepointDecision::at_end_of_call);
  EXPECT_EQ(first_.begins, 0);
  EXPECT_EQ(second_.begins, 1);
}

TEST_F(Safepoints, BeginsForTheFirstOneIfBothWantIt) {
  first_.wish = second_.wish = Wish::safepoint;
  EXPECT_EQ(pass_barrier(), SafepointDecision::at_end_of_call);
  EXPECT_EQ(first_.begins, 1);
  EXPECT_EQ(second_.begins, 0);
}

TEST_F(Safepoints, BeginsIfAnotherProcessWantsIt) {
  first_.wish = Wish::safepoint;
  const std::uint32_t wanted = safepoint().wanted();
  first_.wish = Wish::nothing;
  EXPECT_EQ(pass_barrier(wanted), SafepointDecision::at_end_of_call);
  EXPECT_EQ(first_.begins, 1);
}

TEST_F(Safepoints, ANoticeReachesAllAndBeginsNone) {
  second_.wish = Wish::notice;
  EXPECT_EQ(pass_barrier(), SafepointDecision::none);
  EXPECT_EQ(first_.notices, 1);
  EXPECT_EQ(second_.notices, 1);
  EXPECT_EQ(first_.begins + second_.begins, 0);
}

TEST_F(Safepoints, LaterBarriersOfTheSameCollectiveAskForNothing) {
  first_.wish = second_.wish = Wish::safepoint;
  (void)pass_barrier();
  EXPECT_EQ(safepoint().wanted(), 0U);
  EXPECT_EQ(pass_barrier(), SafepointDecision::none);
  EXPECT_EQ(first_.polls, 1);
  EXPECT_EQ(second_.begins, 0);
}

TEST_F(Safepoints, ARankWithThreadsMakesThoseGiveUpThatWantOne) {
  rank(0).calling_level = MPI_THREAD_MULTIPLE;
  first_.wish = Wish::safepoint;
  second_.wish = Wish::notice;
  EXPECT_EQ(pass_barrier(), SafepointDecision::none);
  EXPECT_EQ(first_.threaded_ranks, std::vector<std::int32_t>{0});
  EXPECT_TRUE(second_.threaded_ranks.empty());
  EXPECT_EQ(second_.notices, 1);
  EXPECT_EQ(first_.begins, 0);
}

TEST_F(Safepoints, CallsEndInTheSlowWayFromTheBeginOn) {
  EXPECT_FALSE(core::are_loans_sought());
  first_.wish = Wish::safepoint;
  (void)pass_barrier();
  EXPECT_TRUE(core::are_loans_sought());
}

TEST_F(Safepoints, ARankIsDueOnceForEachMark) {
  rank(1).is_safepoint_due = true;
  EXPECT_TRUE(safepoint().is_due(rank(1)));
  EXPECT_FALSE(safepoint().is_due(rank(1)));
}

TEST_F(Safepoints, TheProcessStaysInTheBarrierIfTheJobBeginsNone) {
  TestProcessParticipant process;
  safepoint().set_process_participant(process);
  EXPECT_EQ(pass_barrier(), SafepointDecision::in_barrier);
  EXPECT_EQ(process.slots, &slots());
  process.wants = false;
  EXPECT_EQ(pass_barrier(), SafepointDecision::none);
  process.slots = nullptr;
  first_.wish = Wish::safepoint;
  EXPECT_EQ(pass_barrier(), SafepointDecision::at_end_of_call);
  EXPECT_EQ(process.slots, nullptr);
}

}  // namespace
}  // namespace sorrel::mpi
