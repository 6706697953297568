// Ranks that have left their first worker: their packets pass it, in order, whatever is on its way
// when they move.
#include <array>
#include <atomic>
#include <cstddef>
#include <gtest/gtest.h>
#include <vector>

#include "mpi/match/rank_state.hpp"
#include "unit/runtime/rank_run.hpp"

namespace sorrel::mpi {
namespace {

using test::RankTest;

class Relay : public RankTest {
 protected:
  /// Every process has several workers; ranks move in most barriers.
  void run_moving(const std::function<void(int rank)>& body) {
    std::atomic<int> away_count{0};
    run([&](int rank) {
      for (int i = 0; i < 20; ++i)
        barrier(away_count);
      body(rank);
      for (int i = 0; i < 5; ++i)
        barrier(away_count);
    });
    EXPECT_GT(away_count.load(), size());
  }

  /// `most` in the small shapes; the large one has more ranks that move in each round.
  static int rounds(int most) { return size() > 8 ? most * 2 / 5 : most; }

  static void barrier(std::atomic<int>& away_count) {
    MPI_Barrier(MPI_COMM_WORLD);
    const RankState& self = *current_rank();
    EXPECT_TRUE(is_on_worker_of(self));
    away_count += self.is_away ? 1 : 0;
  }
};

INSTANTIATE_TEST_SUITE_P(Shapes,
                         Relay,
                         testing::Values(test::shuffled({8, 2, 2}),
                                         test::shuffled({8, 2, 2, false}),
                                         test::shuffled({21, 3, 3}),
                                         test::shuffled({21, 3, 3, false})),
                         test::name_of);

/// Inline, eager, by copy, and by reference.
constexpr std::array<int, 5> lengths{1, 300, 2'000, 4'500, 40'000};

/// Messages of a pair, numbered; the length follows from the number.
struct Numbered {
  explicit Numbered(int number)
      : data(static_cast<std::size_t>(lengths[static_cast<std::size_t>(number) % lengths.size()]),
             number) {}

  [[nodiscard]] int count() const { return static_cast<int>(data.size()); }

  std::vector<int> data;
};

/// Sends, barrier, sends, barrier, receives: whatever waits on either side moves with its rank, or
/// passes its first worker.
TEST_P(Relay, KeepsTheOrderOfAPairAcrossMoves) {
  run_moving([](int rank) {
    constexpr int tag = 5;
    int sent = 0;
    int received = 0;
    for (int round = 0; round < rounds(40); ++round) {
      const int distance = size() / 2 + round % 2;
      const int to = (rank + distance) % size();
      const int from = (rank + size() - distance) % size();
      std::vector<Numbered> out;
      out.reserve(8);
      std::vector<MPI_Request> sends;
      std::vector<std::vector<int>> in;
      in.reserve(8);
      std::vector<MPI_Request> receives;
      const auto send_some = [&] {
        for (int i = 0; i < 4; ++i) {
          const Numbered& message = out.emplace_back(sent++);
          MPI_Isend(message.data.data(), message.count(), MPI_INT, to, tag, MPI_COMM_WORLD,
                    &sends.emplace_back());
        }
      };
      const auto receive_some = [&] {
        for (int i = 0; i < 4; ++i) {
          auto& buffer = in.emplace_back(lengths.back(), -1);
          MPI_Irecv(buffer.data(), lengths.back(), MPI_INT, from, tag, MPI_COMM_WORLD,
                    &receives.emplace_back());
        }
      };
      if ((round + rank) % 3 == 0) receive_some();
      send_some();
      MPI_Barrier(MPI_COMM_WORLD);
      send_some();
      if ((round + rank) % 3 == 1) receive_some();
      MPI_Barrier(MPI_COMM_WORLD);
      while (receives.size() < 8)
        receive_some();
      std::array<MPI_Status, 8> statuses;
      MPI_Waitall(8, receives.data(), statuses.data());
      for (std::size_t i = 0; i < 8; ++i) {
        const Numbered expected(received++);
        int count = 0;
        MPI_Get_count(&statuses[i], MPI_INT, &count);
        ASSERT_EQ(count, expected.count()) << "round " << round << ", message " << i;
        in[i].resize(static_cast<std::size_t>(count));
        ASSERT_EQ(in[i], expected.data) << "round " << round << ", message " << i;
      }
      MPI_Waitall(8, sends.data(), MPI_STATUSES_IGNORE);
    }
  });
}

/// Enough for the windows of 1 MiB to be used up, if credit were lost.
TEST_P(Relay, ReturnsTheCreditOfShortMessages) {
  run_moving([](int rank) {
    const int partner = (rank + size() / 2) % size();
    const bool is_paired = size() % 2 == 0 || rank < size() - 1;
    const int peer = size() % 2 == 0 ? partner : rank ^ 1;
    std::array<int, 800> data{};
    for (int round = 0; round < 20; ++round) {
      if (is_paired) {
        for (int i = 0; i < 20; ++i) {
          data[0] = i;
          MPI_Send(data.data(), 800, MPI_INT, peer, 1, MPI_COMM_WORLD);
        }
      }
      if (round % 2 == 0) MPI_Barrier(MPI_COMM_WORLD);
      for (int i = 0; is_paired && i < 20; ++i) {
        MPI_Recv(data.data(), 800, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        ASSERT_EQ(data[0], i);
      }
    }
  });
}

TEST_P(Relay, CancelsSendsOrCompletesThem) {
  run_moving([](int rank) {
    const int to = (rank + size() / 2) % size();
    const int from = (rank + size() - size() / 2) % size();
    for (int round = 0; round < rounds(30); ++round) {
      MPI_Request send = MPI_REQUEST_NULL;
      MPI_Issend(&round, 1, MPI_INT, to, round, MPI_COMM_WORLD, &send);
      if (round % 2 == 0) MPI_Barrier(MPI_COMM_WORLD);
      MPI_Cancel(&send);
      MPI_Status status;
      if (round % 3 != 0) MPI_Wait(&send, &status);
      int is_there = 0;
      int got = -1;
      MPI_Request receive = MPI_REQUEST_NULL;
      MPI_Irecv(&got, 1, MPI_INT, from, round, MPI_COMM_WORLD, &receive);
      MPI_Barrier(MPI_COMM_WORLD);
      if (round % 3 == 0) MPI_Wait(&send, &status);
      int is_cancelled = 0;
      MPI_Test_cancelled(&status, &is_cancelled);
      // What the sender knows decides what the receiver gets.
      int was_cancelled = -1;
      MPI_Sendrecv(&is_cancelled, 1, MPI_INT, to, 1000, &was_cancelled, 1, MPI_INT, from, 1000,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (was_cancelled != 0) {
        MPI_Cancel(&receive);
        MPI_Wait(&receive, &status);
        MPI_Test_cancelled(&status, &is_there);
        ASSERT_NE(is_there, 0);
      } else {
        MPI_Wait(&receive, MPI_STATUS_IGNORE);
        ASSERT_EQ(got, round);
      }
    }
  });
}

/// Ranks with a window stay where they are, and other processes find them there.
TEST_P(Relay, WindowsAreMadeWhereTheRanksAre) {
  run_moving([](int rank) {
    for (int round = 0; round < 5; ++round) {
      std::vector<int> memory(static_cast<std::size_t>(size()), -1);
      MPI_Win win = MPI_WIN_NULL;
      MPI_Win_create(memory.data(), size() * 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
      const core::Worker* worker = current_rank()->worker;
      MPI_Win_fence(0, win);
      const int value = 100 * round + rank;
      for (int to = 0; to < size(); ++to)
        MPI_Put(&value, 1, MPI_INT, to, rank, 1, MPI_INT, win);
      MPI_Win_fence(0, win);
      for (int from = 0; from < size(); ++from)
        ASSERT_EQ(memory[static_cast<std::size_t>(from)], 100 * round + from);
      MPI_Barrier(MPI_COMM_WORLD);
      ASSERT_EQ(current_rank()->worker, worker);
      const int next = (rank + size() / 2) % size();
      int sum = 0;
      const int one = 1;
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win);
      MPI_Get(&sum, 1, MPI_INT, next, 0, 1, MPI_INT, win);
      MPI_Accumulate(&one, 1, MPI_INT, next, 0, 1, MPI_INT, MPI_SUM, win);
      MPI_Win_unlock(next, win);
      ASSERT_EQ(sum, 100 * round);
      MPI_Barrier(MPI_COMM_WORLD);
      ASSERT_EQ(memory[0], 100 * round + 1);
      MPI_Win_free(&win);
      MPI_Barrier(MPI_COMM_WORLD);
    }
  });
}

/// Their last members need not be on the worker that knows them.
TEST_P(Relay, CommunicatorsOfSeveralProcessesEndAnywhere) {
  run_moving([](int rank) {
    for (int round = 0; round < rounds(30); ++round) {
      MPI_Comm part = MPI_COMM_NULL;
      MPI_Comm_split(MPI_COMM_WORLD, (rank + round) % 3, rank, &part);
      int sum = 0;
      int members = 0;
      MPI_Comm_size(part, &members);
      MPI_Allreduce(&round, &sum, 1, MPI_INT, MPI_SUM, part);
      ASSERT_EQ(sum, members * round);
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Allreduce(&round, &sum, 1, MPI_INT, MPI_SUM, part);
      ASSERT_EQ(sum, members * round);
      MPI_Comm_free(&part);
    }
  });
}

}  // namespace
}  // namespace sorrel::mpi
