#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

#include "mpi/collectives/slots.hpp"
#include "unit/runtime/rank_run.hpp"

namespace sorrel::mpi {
namespace {

using test::RankTest;

class Collectives : public RankTest {};

INSTANTIATE_TEST_SUITE_P(Shapes, Collectives, test::all_shapes(), test::name_of);
INSTANTIATE_TEST_SUITE_P(Nodes, Collectives, test::node_shapes(), test::name_of);

// In the slots, staged, and straight from buffer to buffer; a long reduction has several segments.
constexpr int counts[] = {0, 1, 4, 100, 1025, 20000};

std::vector<int> ramp(int first, int count) {
  std::vector<int> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), first);
  return values;
}

TEST(CollectiveSlots, TheCheckFindsAMemberThatIsStillInABarrier) {
  test::run_ranks({.ranks = 2, .workers = 1}, [](int rank) {
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Barrier(copy);
    if (rank == 0) {
      const Comm& comm = *object_of<Comm>(copy);
      const CollectiveSlots& slots = comm.shared->slots();
      slots.check_invariants();
      comm.barrier_node->arrived_member_count = 1;
      EXPECT_DEATH(slots.check_invariants(), "1 of 2 members");
      comm.barrier_node->arrived_member_count = 0;
    }
    MPI_Comm_free(&copy);
  });
}

TEST_P(Collectives, BroadcastFromEveryRoot) {
  run([](int rank) {
    for (const int count : counts) {
      for (int root = 0; root < size(); ++root) {
        std::vector<int> values = rank == root ? ramp(root, count) : ramp(-1, count);
        MPI_Bcast(values.data(), count, MPI_INT, root, MPI_COMM_WORLD);
        EXPECT_EQ(values, ramp(root, count));
      }
    }
  });
}

TEST_P(Collectives, ReduceToEveryRank) {
  run([](int rank) {
    const int rank_sum = size() * (size() - 1) / 2;
    for (const int count : counts) {
      const std::vector<int> out = ramp(rank, count);
      std::vector<int> in(out.size()), expected(out.size());
      for (std::size_t i = 0; i < expected.size(); ++i)
        expected[i] = rank_sum + size() * static_cast<int>(i);
      MPI_Allreduce(out.data(), in.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      EXPECT_EQ(in, expected);
      for (int root = 0; root < size(); root += 3) {
        in = out;
        MPI_Reduce(rank == root ? MPI_IN_PLACE : out.data(), in.data(), count, MPI_INT, MPI_SUM,
                   root, MPI_COMM_WORLD);
        if (rank == root) {
          EXPECT_EQ(in, expected);
        }
      }
    }
  });
}

TEST_P(Collectives, ScanInTheOrderOfRanks) {
  run([](int rank) {
    for (const int count : counts) {
      const std::vector<int> out = ramp(rank, count);
      std::vector<int> in(out.size());
      MPI_Scan(out.data(), in.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      for (std::size_t i = 0; i < in.size(); ++i)
        ASSERT_EQ(in[i], rank * (rank + 1) / 2 + (rank + 1) * static_cast<int>(i));
      in = out;
      MPI_Exscan(MPI_IN_PLACE, in.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      for (std::size_t i = 0; i < in.size() && rank > 0; ++i)
        ASSERT_EQ(in[i], rank * (rank - 1) / 2 + rank * static_cast<int>(i));
    }
  });
}

TEST_P(Collectives, ReduceScatterInPlace) {
  run([](int rank) {
    std::vector<int> values = ramp(rank, 3 * size());
    MPI_Reduce_scatter_block(MPI_IN_PLACE, values.data(), 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(values[static_cast<std::size_t>(i)],
                size() * (size() - 1) / 2 + size() * (3 * rank + i));
  });
}

TEST_P(Collectives, MoveBlocksBetweenAllRanks) {
  run([](int rank) {
    const auto ranks = static_cast<std::size_t>(size());
    for (const int count : {1, 100, 600}) {
      const auto block = static_cast<std::size_t>(count);
      std::vector<int> out(ranks * block), in(ranks * block, -1);
      for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = rank * 1000000 + static_cast<int>(i);
      MPI_Alltoall(out.data(), count, MPI_INT, in.data(), count, MPI_INT, MPI_COMM_WORLD);
      for (std::size_t i = 0; i < in.size(); ++i) {
        ASSERT_EQ(in[i], static_cast<int>(i / block) * 1000000 + rank * count +
                             static_cast<int>(i % block));
      }
      MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out.data(), count, MPI_INT, MPI_COMM_WORLD);
      EXPECT_EQ(out, in);
      MPI_Allgather(&out[0], count, MPI_INT, in.data(), count, MPI_INT, MPI_COMM_WORLD);
      for (std::size_t from = 0; from < ranks; ++from)
        ASSERT_EQ(in[from * block], static_cast<int>(from) * count);
    }
  });
}

TEST_P(Collectives, GatherAndScatterAtEveryRoot) {
  run([](int rank) {
    for (int root = 0; root < size(); ++root) {
      std::vector<int> all(static_cast<std::size_t>(size()));
      const int own = 10 * rank + root;
      int back = -1;
      MPI_Gather(&own, 1, MPI_INT, all.data(), 1, MPI_INT, root, MPI_COMM_WORLD);
      MPI_Scatter(all.data(), 1, MPI_INT, &back, 1, MPI_INT, root, MPI_COMM_WORLD);
      EXPECT_EQ(back, own);
    }
  });
}

TEST_P(Collectives, FollowEachOtherWithoutABreak) {
  // Equally many messages for any number of ranks. Processes that outnumber the cores wait
  // for their turn in each call.
  const int rounds = GetParam().processes > 2 ? std::max(3, 100 / size()) : 1000 / size();
  run([rounds](int rank) {
    // Slots, staging buffers and published pointers in turn, without pauses.
    for (int round = 0; round < rounds; ++round) {
      int sum = 0;
      int value = round;
      MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      EXPECT_EQ(sum, size() * (size() - 1) / 2);
      MPI_Bcast(&value, 1, MPI_INT, round % size(), MPI_COMM_WORLD);
      EXPECT_EQ(value, round);
      MPI_Barrier(MPI_COMM_WORLD);
      double operands[4] = {1.0, 2.0, 3.0, static_cast<double>(rank)};
      MPI_Allreduce(MPI_IN_PLACE, operands, 4, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      EXPECT_EQ(operands[3], size() - 1);
      std::vector<int> all(static_cast<std::size_t>(size()));
      MPI_Allgather(&rank, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD);
      EXPECT_EQ(all, ramp(0, size()));
    }
  });
}

TEST_P(Collectives, MayChangeTheirOperandsAtOnce) {
  // A vector that is combined on arrival; two workers read each other's totals.
  constexpr int count = 100;
  const int rounds = GetParam().processes > 2 ? 10 : GetParam().processes == 2 ? 50 : 200;
  run([rounds](int rank) {
    const int ranks = size();
    std::vector<int> values(count), all(count), total(count);
    for (int round = 0; round < rounds; ++round) {
      const int root = round % ranks;
      std::ranges::fill(values, rank + round);
      MPI_Reduce(values.data(), total.data(), count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
      std::ranges::fill(values, rank - round);
      MPI_Allreduce(values.data(), all.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      std::ranges::fill(values, -1);
      const int rank_sum = ranks * (ranks - 1) / 2;
      if (rank == root) {
        ASSERT_EQ(total, std::vector<int>(count, rank_sum + ranks * round));
      }
      ASSERT_EQ(all, std::vector<int>(count, rank_sum - ranks * round));
    }
  });
}

TEST(Collectives, GoOnWhenTheMailboxBetweenTwoWorkersIsFull) {
  // More messages than a mailbox has slots, then a contribution, before the receiver takes any.
  constexpr int message_count = 400;
  std::atomic<bool> has_contributed{false};
  test::run_ranks({.ranks = 2, .workers = 2}, [&](int rank) {
    std::vector<MPI_Request> requests(message_count);
    std::vector<int> numbers = ramp(0, message_count), received(message_count);
    long sum = 0;
    const long own = rank + 1;
    MPI_Request reduction;
    if (rank == 0) {
      for (std::size_t i = 0; i < message_count; ++i)
        MPI_Isend(&numbers[i], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[i]);
    } else {
      // In turns of one thread the contribution comes later.
      for (int i = 0; i < 1000 && !has_contributed; ++i)
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      for (std::size_t i = 0; i < message_count; ++i)
        MPI_Irecv(&received[i], 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Iallreduce(&own, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &reduction);
    has_contributed = true;
    MPI_Wait(&reduction, MPI_STATUS_IGNORE);
    MPI_Waitall(message_count, requests.data(), MPI_STATUSES_IGNORE);
    EXPECT_EQ(sum, 3);
    if (rank == 1) {
      EXPECT_EQ(received, numbers);
    }
  });
}

/// Sums of all ranks over `comm`, each begun by a member of an inner node of the tree only when all
/// nodes below it have reported.
void check_sums_with_children_first(MPI_Comm comm) {
  int rank = 0, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Barrier(comm);
  const BarrierNode& barrier_node = *object_of<Comm>(comm)->barrier_node;
  for (long round = 0; round < 6; ++round) {
    int is_there = 0;
    while (barrier_node.arrived_child_count != barrier_node.children.size()) {
      MPI_Iprobe(MPI_ANY_SOURCE, 0, comm, &is_there, MPI_STATUS_IGNORE);
      std::this_thread::yield();
    }
    const long own = round * 1000 + rank;
    long sum = -1;
    MPI_Allreduce(&own, &sum, 1, MPI_LONG, MPI_SUM, comm);
    ASSERT_EQ(sum, size * (round * 1000) + static_cast<long>(size) * (size - 1) / 2);
  }
}

TEST(Collectives, CombineTheOperandsOfInnerNodesThatComeLast) {
  // Worker 1 is the parent of workers 9 to 16, and worker 2 that of 17 to 24. With one rank each a
  // node reports its member's operand; with two it stores them; in a communicator of every third
  // rank some nodes have one member and some have none.
  for (const test::Shape& shape :
       {test::Shape{10, 10}, {17, 17}, {18, 17}, {40, 20}, {66, 33}, {34, 17, 2}}) {
    test::run_ranks(shape, [](int rank) {
      MPI_Comm same, reversed, third;
      MPI_Comm_dup(MPI_COMM_WORLD, &same);
      check_sums_with_children_first(same);
      MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
      check_sums_with_children_first(reversed);
      MPI_Comm_split(MPI_COMM_WORLD, rank % 3, rank, &third);
      check_sums_with_children_first(third);
      MPI_Comm_free(&third);
      MPI_Comm_free(&reversed);
      MPI_Comm_free(&same);
    });
  }
}

TEST_P(Collectives, GrowTheirStagingBuffersBetweenUses) {
  run([](int rank) {
    for (int count = 1; count <= 128; count *= 2) {
      const std::vector<int> own = ramp(rank * count, count);
      std::vector<int> all(static_cast<std::size_t>(count * size()));
      for (int round = 0; round < 3; ++round) {
        MPI_Allgather(own.data(), count, MPI_INT, all.data(), count, MPI_INT, MPI_COMM_WORLD);
        ASSERT_EQ(all, ramp(0, count * size()));
      }
    }
  });
}

std::uint64_t bits_of(double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// The order of the ranks in a communicator: as in MPI_COMM_WORLD, or its two halves in turn, so
/// that neighbours are on different workers.
enum class RankOrder : bool { same, halves_in_turn };

/// The bits of sums that depend on their order, for a number of ranks and workers.
std::vector<std::uint64_t> awkward_sums(const test::Shape& shape,
                                        RankOrder order = RankOrder::same) {
  std::vector<std::uint64_t> sums;
  test::run_ranks(shape, [&](int world_rank) {
    const int half = (shape.ranks + 1) / 2;
    const int turn = world_rank < half ? 2 * world_rank : 2 * (world_rank - half) + 1;
    const int key = order == RankOrder::same ? world_rank : turn;
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, 0, key, &comm);
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    EXPECT_EQ(rank, key);
    for (const int count : {1, 3, 300, 2000}) {
      std::vector<double> values(static_cast<std::size_t>(count));
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] =
            1.0 / (1.0 + static_cast<double>((rank * 7919 + static_cast<int>(i) * 31) % 1009));
      MPI_Allreduce(MPI_IN_PLACE, values.data(), count, MPI_DOUBLE, MPI_SUM, comm);
      if (world_rank == 0) sums.push_back(bits_of(values.back()));
    }
    MPI_Comm_free(&comm);
  });
  return sums;
}

TEST(Reductions, HaveTheSameBitsForEveryNumberOfWorkers) {
  for (const int ranks : {2, 7, 65, 200}) {
    const auto expected = awkward_sums({ranks, 1});
    EXPECT_EQ(expected.size(), 4U);
    for (const int workers : {2, 3, 5})
      EXPECT_EQ(awkward_sums({ranks, workers}), expected) << ranks << " ranks, " << workers;
    for (const int processes : {2, 3, 7}) {
      if (processes > ranks) continue;
      EXPECT_EQ(awkward_sums({ranks, 1, processes}), expected) << processes << " processes";
      EXPECT_EQ(awkward_sums({ranks, 2, processes}), expected) << processes << " processes of 2";
    }
  }
}

TEST(Reductions, HaveTheSameBitsIfNeighboursAreOnDifferentWorkers) {
  // Two workers send each other all operands of 100 ranks; those of 300 are too many for a record.
  for (const int ranks : {5, 100, 300}) {
    const auto expected = awkward_sums({ranks, 1}, RankOrder::same);
    EXPECT_EQ(awkward_sums({ranks, 1}, RankOrder::halves_in_turn), expected);
    EXPECT_EQ(awkward_sums({ranks, 2}, RankOrder::halves_in_turn), expected);
  }
}

}  // namespace
}  // namespace sorrel::mpi
