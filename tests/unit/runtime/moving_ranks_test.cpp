// Ranks that change their worker at random: where they are after which calls.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <utility>
#include <vector>

#include "mpi/match/rank_state.hpp"
#include "os/tls_donor.hpp"
#include "runtime/job.hpp"
#include "unit/runtime/rank_run.hpp"

namespace sorrel::runtime {
namespace {

constexpr int round_count = 200;
/// Moves of all ranks together, at least: some 400 on an idle machine; fewer if workers are late.
constexpr int move_count_min = 20;

const core::Worker* own_worker() {
  const mpi::RankState& self = *mpi::current_rank();
  EXPECT_EQ(core::Worker::current(), self.worker);
  EXPECT_EQ(self.fiber.worker, self.worker);
  return self.worker;
}

/// Calls `call` in every round, and counts the rounds in which a rank has changed its worker.
template <class Call>
int count_moves(Call&& call) {
  std::atomic<int> moves{0};
  const test::Shape shape = test::shuffled({.ranks = 12, .workers = 3});
  EXPECT_EQ(test::run_ranks(shape,
                            [&](int rank) {
                              for (int round = 0; round < round_count; ++round) {
                                const core::Worker* before = own_worker();
                                call(rank, round);
                                moves += own_worker() != before ? 1 : 0;
                              }
                            }),
            0);
  return moves.load();
}

TEST(MovingRanks, ChangeTheirWorkerInABarrierOfAll) {
  EXPECT_GT(count_moves([](int, int) { MPI_Barrier(MPI_COMM_WORLD); }), move_count_min);
}

TEST(MovingRanks, ChangeTheirWorkerInAReductionOfAll) {
  EXPECT_GT(count_moves([](int rank, int round) {
              int sum = 0;
              const int mine = rank + round;
              MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
              EXPECT_EQ(sum, 66 + 12 * round);
            }),
            move_count_min);
}

TEST(MovingRanks, StayInOtherCalls) {
  EXPECT_EQ(count_moves([](int rank, int) {
              const int peer = rank ^ 1;
              int in = -1;
              MPI_Sendrecv(&rank, 1, MPI_INT, peer, 0, &in, 1, MPI_INT, peer, 0, MPI_COMM_WORLD,
                           MPI_STATUS_IGNORE);
              EXPECT_EQ(in, peer);
            }),
            0);
}

TEST(MovingRanks, StayWhileACollectiveIsInProgressOrPersistent) {
  std::atomic<int> moves{0};
  const test::Shape shape = test::shuffled({.ranks = 12, .workers = 3});
  const auto body = [&](int) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    const core::Worker* before = own_worker();
    for (int round = 0; round < round_count; ++round)
      MPI_Barrier(MPI_COMM_WORLD);
    moves += own_worker() != before ? 1 : 0;
    MPI_Request_free(&request);
  };
  EXPECT_EQ(test::run_ranks(shape, body), 0);
  EXPECT_EQ(moves.load(), 0);
}

/// A message that a matched probe has set aside is in no table.
TEST(MovingRanks, StayWhileAMessageIsSetAside) {
  std::atomic<int> moves{0};
  const test::Shape shape = test::shuffled({.ranks = 12, .workers = 3});
  const auto body = [&](int rank) {
    const int next = (rank + 1) % 12;
    MPI_Send(&rank, 1, MPI_INT, next, 3, MPI_COMM_WORLD);
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Mprobe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    const core::Worker* before = own_worker();
    for (int round = 0; round < round_count; ++round)
      MPI_Barrier(MPI_COMM_WORLD);
    moves += own_worker() != before ? 1 : 0;
    int in = -1;
    MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    EXPECT_EQ(in, (rank + 11) % 12);
  };
  EXPECT_EQ(test::run_ranks(shape, body), 0);
  EXPECT_EQ(moves.load(), 0);
}

struct Moves {
  int count = 0;
  int from = -1;
  int to = -1;
};

void on_move(MPI_T_event_instance instance,
             MPI_T_event_registration /*registration*/,
             MPI_T_cb_safety /*safety*/,
             void* data) {
  auto& moves = *static_cast<Moves*>(data);
  EXPECT_EQ(MPI_T_event_read(instance, 0, &moves.from), MPI_SUCCESS);
  EXPECT_EQ(MPI_T_event_read(instance, 1, &moves.to), MPI_SUCCESS);
  ++moves.count;
}

TEST(MovingRanks, TellTheirTools) {
  std::atomic<int> moves{0};
  const test::Shape shape = test::shuffled({.ranks = 12, .workers = 3});
  const auto body = [&](int) {
    int provided = 0;
    int index = -1;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    EXPECT_EQ(MPI_T_event_get_index("sorrel_rank_move", &index), MPI_SUCCESS);
    MPI_T_event_registration registration = nullptr;
    MPI_T_event_handle_alloc(index, nullptr, MPI_INFO_NULL, &registration);
    Moves seen;
    MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &seen,
                                  on_move);
    for (int round = 0; round < round_count; ++round) {
      const core::Worker* before = own_worker();
      const int count = seen.count;
      MPI_Barrier(MPI_COMM_WORLD);
      const core::Worker* after = own_worker();
      EXPECT_EQ(seen.count, count + (after != before ? 1 : 0));
      if (after == before) continue;
      EXPECT_EQ(seen.from, static_cast<int>(before->index()));
      EXPECT_EQ(seen.to, static_cast<int>(after->index()));
    }
    moves += seen.count;
    EXPECT_EQ(MPI_T_event_handle_free(registration, nullptr, nullptr), MPI_SUCCESS);
    MPI_T_finalize();
  };
  EXPECT_EQ(test::run_ranks(shape, body), 0);
  EXPECT_GT(moves.load(), move_count_min);
}

core::Scheduler& scheduler() {
  return mpi::current_rank()->world->scheduler();
}

/// As when the governor takes cores away and gives them back, often.
TEST(MovingRanks, MoveWhileWorkersShareThreads) {
  EXPECT_GT(count_moves([](int rank, int round) {
              if (rank == 0 && round % 7 == 0)
                scheduler().set_width(1 + static_cast<std::uint32_t>(round / 7 % 3));
              int sum = 0;
              MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
              EXPECT_EQ(sum, 66);
            }),
            move_count_min);
}

/// Ranks with control blocks of their own, as a measured job needs them.
class BodyWithBlocks final : public RankBody {
 public:
  explicit BodyWithBlocks(std::function<void()> function) : function_(std::move(function)) {}

  bool prepare(mpi::RankState& rank, const char** /*error*/) override {
    // Ranks that move keep their blocks, which outlive this object.
    auto* donor = new os::TlsDonor;
    const auto set_worker = [](void* worker) {
      core::Worker::set_current(static_cast<core::Worker*>(worker));
    };
    EXPECT_TRUE(donor->start(0, set_worker, rank.worker));
    rank.fiber.thread_pointer = donor->thread_pointer();
    return true;
  }

  int run(mpi::RankState& /*rank*/) override {
    MPI_Init(nullptr, nullptr);
    function_();
    MPI_Finalize();
    return 0;
  }

  void flush(mpi::RankState& /*rank*/) override {}

 private:
  std::function<void()> function_;
};

/// The numbers of ranks on each of three workers.
std::array<int, 3> ranks_of_workers() {
  std::array<int, 3> counts{};
  counts.at(mpi::current_rank()->worker->index()) = 1;
  MPI_Allreduce(MPI_IN_PLACE, counts.data(), 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return counts;
}

void compute(std::chrono::microseconds duration) {
  const auto end = std::chrono::steady_clock::now() + duration;
  while (std::chrono::steady_clock::now() < end) {
  }
}

/// Computes with `width` threads until the ranks are where `is_even` wants them: in 60 s at most.
template <class IsEven>
bool comes_true(std::uint32_t width, IsEven&& is_even) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  if (mpi::current_rank()->world_rank == 0) scheduler().set_width(width);
  for (;;) {
    compute(std::chrono::microseconds(200));
    if (is_even(ranks_of_workers())) return true;
    int is_over = std::chrono::steady_clock::now() > end ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &is_over, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (is_over != 0) return false;
  }
}

/// 12 equal ranks on 3 workers. Two threads run the first two workers and the third one: then 8 and
/// 4 ranks become 6 and 6, and when there are three threads again, at most 5 on each.
TEST(MovingRanks, FollowTheNumberOfThreads) {
  Config config = test::config_of({.ranks = 12, .workers = 3});
  config.balance = launch::Balance::measured;
  BodyWithBlocks body([] {
    EXPECT_EQ(ranks_of_workers(), (std::array{4, 4, 4}));
    EXPECT_TRUE(comes_true(2, [](const std::array<int, 3>& counts) { return counts[2] == 6; }));
    EXPECT_TRUE(comes_true(3, [](const std::array<int, 3>& counts) {
      return *std::ranges::max_element(counts) <= 5;
    }));
  });
  Job job(config, body);
  EXPECT_EQ(job.run(), 0);
}

}  // namespace
}  // namespace sorrel::runtime
