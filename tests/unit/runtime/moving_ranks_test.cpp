// Ranks that change their worker at random: where they are after which calls.
#include <atomic>
#include <gtest/gtest.h>
#include <vector>

#include "mpi/match/rank_state.hpp"
#include "unit/runtime/rank_run.hpp"

namespace sorrel::runtime {
namespace {

constexpr int round_count = 200;

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
  EXPECT_GT(count_moves([](int, int) { MPI_Barrier(MPI_COMM_WORLD); }), round_count);
}

TEST(MovingRanks, ChangeTheirWorkerInAReductionOfAll) {
  EXPECT_GT(count_moves([](int rank, int round) {
              int sum = 0;
              const int mine = rank + round;
              MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
              EXPECT_EQ(sum, 66 + 12 * round);
            }),
            round_count);
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
  EXPECT_GT(moves.load(), round_count);
}

}  // namespace
}  // namespace sorrel::runtime
