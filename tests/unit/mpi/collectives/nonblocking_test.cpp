// Nonblocking collectives, on simulated processes and nodes too; tests/mpi/collectives compares
// every function with its blocking form.
#include <gtest/gtest.h>
#include <numeric>
#include <vector>

#include "mpi/collectives/slots.hpp"
#include "mpi/comm/collective_shadows.hpp"
#include "mpi/match/operation.hpp"
#include "unit/runtime/rank_run.hpp"

namespace sorrel::mpi {
namespace {

using test::RankTest;

class Nonblocking : public RankTest {};

INSTANTIATE_TEST_SUITE_P(Shapes, Nonblocking, test::all_shapes(), test::name_of);
INSTANTIATE_TEST_SUITE_P(Nodes, Nonblocking, test::node_shapes(), test::name_of);

TEST_P(Nonblocking, ManyAtOnceGiveTheResultsOfTheirOwnOperands) {
  // More than shadows, so that some wait for others; short and long reductions.
  constexpr int outstanding = 3 * CollectiveShadows::shadow_count + 1;
  run([](int rank) {
    const int rank_sum = size() * (size() - 1) / 2;
    for (const int count : {1, 5000}) {
      const auto length = static_cast<std::size_t>(count);
      std::vector<std::vector<int>> out(outstanding), in(outstanding);
      std::vector<MPI_Request> requests(outstanding);
      for (int i = 0; i < outstanding; ++i) {
        const auto at = static_cast<std::size_t>(i);
        out[at].assign(length, rank + i);
        in[at].assign(length, -1);
        MPI_Iallreduce(out[at].data(), in[at].data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                       &requests[at]);
      }
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Waitall(outstanding, requests.data(), MPI_STATUSES_IGNORE);
      for (int i = 0; i < outstanding; ++i) {
        EXPECT_EQ(in[static_cast<std::size_t>(i)], std::vector<int>(length, rank_sum + size() * i));
      }
    }
  });
}

TEST_P(Nonblocking, AnOperationProceedsWhileTheRankWaitsForSomethingElse) {
  run([](int rank) {
    // The broadcast from rank 0 must reach the last rank before that one answers.
    int value = rank == 0 ? 7 : -1, answer = -1;
    MPI_Request request;
    MPI_Ibcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    const int last = size() - 1;
    if (rank == last) {
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      answer = value + 1;
      if (rank != 0) MPI_Send(&answer, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    } else if (rank == 0) {
      MPI_Recv(&answer, 1, MPI_INT, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank == 0 || rank == last) {
      EXPECT_EQ(answer, 8);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQ(value, 7);
  });
}

TEST_P(Nonblocking, APersistentOneKeepsItsContextAndUsesNewData) {
  run([](int rank) {
    int out = 0, in = -1;
    MPI_Request request;
    MPI_Allreduce_init(&out, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int round = 0; round < 5; ++round) {
      out = rank * round;
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      EXPECT_EQ(in, round * size() * (size() - 1) / 2);
    }
    MPI_Request_free(&request);
  });
}

TEST(NonblockingProgress, EveryRankOfAWorkerStartsBeforeAnyGoesOn) {
  int started = 0;
  test::run_ranks({.ranks = 16, .workers = 1}, [&](int rank) {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Request request;
    int sum = 0;
    ++started;
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    EXPECT_EQ(started, 16);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQ(sum, 120);
  });
}

TEST(NonblockingProgress, ALongReductionOverNodesEndsWhileRanksComputeInTurn) {
  constexpr int ranks = 16, count = 1 << 15;
  int turn = 0;
  test::run_ranks(test::on_nodes(ranks, 1, 4), [&](int rank) {
    const std::vector<double> out(count, rank);
    std::vector<double> in(count, -1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Request request;
    MPI_Iallreduce(out.data(), in.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    // At each turn, what was sent in the turn before has arrived.
    const double begin = MPI_Wtime();
    while (MPI_Wtime() < begin + 1e-3) {
    }
    if (++turn == ranks) {
      int is_complete = 0;
      MPI_Test(&request, &is_complete, MPI_STATUS_IGNORE);
      EXPECT_TRUE(is_complete);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQ(in, std::vector<double>(count, 120));
  });
}

TEST(NonblockingShadows, AreMadeAtTheFirstUseOnlyAndOneForEachLine) {
  test::run_ranks({.ranks = 3, .workers = 2}, [](int /*rank*/) {
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    Comm& comm = *object_of<Comm>(copy);
    MPI_Barrier(copy);
    EXPECT_EQ(comm.outstanding, nullptr);
    MPI_Request request;
    MPI_Ibarrier(copy, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(copy);
    CollectiveShadows& shadows = comm.shared->shadows();
    EXPECT_NE(shadows.shadows[0].load(), nullptr);
    EXPECT_EQ(shadows.shadows[1].load(), nullptr);
    const std::uint32_t context = comm.shared->context();
    EXPECT_EQ(shadows.shadows[0].load()->context(), context | 1U << context_bits);
    EXPECT_EQ(shadows.started_count(comm.rank).load(), 1U);
    MPI_Barrier(copy);
    MPI_Comm_free(&copy);
  });
}

TEST(NonblockingReports, NameTheCallAndTheRankThatHasNotStarted) {
  test::run_ranks({.ranks = 3, .workers = 1}, [](int rank) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank != 1) MPI_Ibarrier(MPI_COMM_WORLD, &request);
    if (rank == 0) {
      const Operation& operation = *object_of<Request>(request)->operation;
      OperationName name;
      operation.name(name);
      EXPECT_EQ(name.text(), "MPI_Ibarrier");
      EXPECT_EQ(operation.awaited_rank(), 1);
      MPI_Send(nullptr, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
    }
    if (rank == 1) {
      MPI_Recv(nullptr, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Ibarrier(MPI_COMM_WORLD, &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  });
}

}  // namespace
}  // namespace sorrel::mpi
