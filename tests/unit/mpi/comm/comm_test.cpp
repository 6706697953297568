#include <cstddef>
#include <vector>

#include "unit/runtime/rank_run.hpp"

namespace sorrel::mpi {
namespace {

using test::RankTest;

class Communicators : public RankTest {};

INSTANTIATE_TEST_SUITE_P(Shapes, Communicators, test::all_shapes(), test::name_of);
INSTANTIATE_TEST_SUITE_P(Nodes, Communicators, test::node_shapes(), test::name_of);

int rank_in(MPI_Comm comm) {
  int rank = -1;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int sum_over(MPI_Comm comm, int value) {
  int sum = 0;
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
  return sum;
}

TEST_P(Communicators, AreMadeAndFreedByThousands) {
  // Between processes a round takes some hundred times as long.
  const int rounds = GetParam().processes > 1 ? 24 : 100;
  run([rounds](int rank) {
    for (int round = 0; round < rounds; ++round) {
      MPI_Comm copy;
      MPI_Comm part;
      MPI_Comm_dup(MPI_COMM_WORLD, &copy);
      MPI_Comm_split(copy, (rank + round) % 3, -rank, &part);
      EXPECT_EQ(sum_over(copy, 1), size());
      // Freed at once: other members may still be in the allreduce.
      MPI_Comm_free(&copy);
      int members = 0;
      MPI_Comm_size(part, &members);
      EXPECT_EQ(sum_over(part, 1), members);
      MPI_Comm_free(&part);
    }
  });
}

TEST_P(Communicators, OfAGroupAreMadeByItsMembersAlone) {
  run([](int rank) {
    MPI_Group world;
    MPI_Group odd_or_even;
    std::vector<int> members;
    for (int i = rank % 2; i < size(); i += 2)
      members.push_back(i);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, static_cast<int>(members.size()), members.data(), &odd_or_even);
    for (int round = 0; round < 10; ++round) {
      MPI_Comm comm;
      MPI_Comm_create_group(MPI_COMM_WORLD, odd_or_even, round, &comm);
      EXPECT_EQ(rank_in(comm), rank / 2);
      EXPECT_EQ(sum_over(comm, 1), static_cast<int>(members.size()));
      MPI_Comm_free(&comm);
      MPI_Comm_create(MPI_COMM_WORLD, odd_or_even, &comm);
      EXPECT_EQ(sum_over(comm, 1), static_cast<int>(members.size()));
      MPI_Comm_free(&comm);
    }
    MPI_Group_free(&odd_or_even);
    MPI_Group_free(&world);
  });
}

TEST_P(Communicators, AreUsedTogetherWithoutMeeting) {
  run([](int rank) {
    constexpr int count = 8;
    MPI_Comm comms[count];
    for (int i = 0; i < count; ++i)
      MPI_Comm_split(MPI_COMM_WORLD, rank * (i + 1) / 3 % 4, rank, &comms[i]);
    for (int round = 0; round < 40; ++round) {
      const MPI_Comm comm = comms[round * 5 % count];
      int members = 0;
      MPI_Comm_size(comm, &members);
      EXPECT_EQ(sum_over(comm, round), members * round);
    }
    for (MPI_Comm& comm : comms)
      MPI_Comm_free(&comm);
  });
}

TEST_P(Communicators, LiveUntilTheirMessagesHaveArrived) {
  run([](int rank) {
    for (int round = 0; round < 30; ++round) {
      MPI_Comm comm;
      MPI_Request requests[2];
      int value = -1;
      const int partner = size() - 1 - rank;
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
      MPI_Irecv(&value, 1, MPI_INT, partner, 0, comm, &requests[0]);
      MPI_Issend(&rank, 1, MPI_INT, partner, 0, comm, &requests[1]);
      MPI_Comm_free(&comm);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      EXPECT_EQ(value, partner);
    }
  });
}

}  // namespace
}  // namespace sorrel::mpi
