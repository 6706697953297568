// Messages between the processes of a job, over a transport that delays and rejects packets at
// random.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "mpi/net/eager_windows.hpp"
#include "unit/mpi/match/message_pattern.hpp"
#include "unit/mpi/match/pair_traffic.hpp"
#include "unit/runtime/rank_run.hpp"

namespace sorrel::mpi {
namespace {

using test::Bytes;
using test::pattern;
using test::RankTest;

// Both sides of every limit: a packet, what programs expect to be buffered, many packets.
constexpr int sizes[] = {0, 1, 512, 4096, 4097, 16384, 16385, 300000};

class BetweenProcesses : public RankTest {
 protected:
  /// The mirror image: in another process, except for the middle rank.
  static int partner_of(int rank) { return size() - 1 - rank; }
};

INSTANTIATE_TEST_SUITE_P(Shapes, BetweenProcesses, test::process_shapes(), test::name_of);

/// Leaves when the test sets `is_free`.
struct HeldBack : PendingSend {
  bool is_free = false;
};

TEST(SendQueue, TheCheckFindsAPendingSendThatTheQueueDoesNotEndWith) {
  test::run_ranks({.ranks = 2, .workers = 1, .processes = 2}, [](int rank) {
    if (rank != 0) return;
    const RankState& self = *current_rank();
    SendQueue& queue = *self.worker_state->send_queue;
    HeldBack sends[3] = {};
    for (HeldBack& held : sends) {
      held.send = [](PendingSend& one, SendQueue&, Endpoint) {
        return static_cast<HeldBack&>(one).is_free;
      };
    }
    queue.send({.process = 1, .worker = 0}, sends[0]);
    queue.send({.process = 1, .worker = 0}, sends[1]);
    queue.check_invariants();
    sends[1].next = &sends[2];
    EXPECT_DEATH(queue.check_invariants(), "check failed: last == destination.last");
    sends[1].next = nullptr;
    for (HeldBack& held : sends)
      held.is_free = true;
    queue.drain();
    queue.check_invariants();
  });
}

TEST(EagerWindows, TakeBackNoMoreCreditThanTheyHaveGranted) {
  if (SORREL_ASSERT_LEVEL == 0) GTEST_SKIP();
  test::run_ranks({.ranks = 2, .workers = 1, .processes = 2}, [](int rank) {
    if (rank != 0) return;
    EagerWindows& windows = *current_rank()->worker_state->eager_windows;
    const Endpoint other{.process = 1, .worker = 0};
    windows.take(other, 128);
    EXPECT_DEATH(windows.add(other, 256), "more credit than messages were sent");
    windows.add(other, 128);
  });
}

TEST_P(BetweenProcesses, DeliverExpectedMessagesOfEverySize) {
  run([](int rank) { test::exchange_expected(rank, partner_of(rank), sizes); });
}

TEST_P(BetweenProcesses, DeliverUnexpectedMessagesOfEverySizeAndMode) {
  run([](int rank) {
    for (const int bytes : sizes) {
      const int partner = partner_of(rank);
      Bytes in(static_cast<std::size_t>(bytes) + 1);
      const Bytes out = pattern(rank, bytes);
      Bytes attached(static_cast<std::size_t>(bytes) + MPI_BSEND_OVERHEAD);
      MPI_Request requests[2];
      MPI_Buffer_attach(attached.data(), static_cast<int>(attached.size()));
      MPI_Isend(out.data(), bytes, MPI_BYTE, partner, 1, MPI_COMM_WORLD, &requests[0]);
      MPI_Bsend(out.data(), bytes, MPI_BYTE, partner, 3, MPI_COMM_WORLD);
      MPI_Issend(out.data(), bytes, MPI_BYTE, partner, 2, MPI_COMM_WORLD, &requests[1]);
      MPI_Status status;
      MPI_Probe(partner, 2, MPI_COMM_WORLD, &status);
      int probed = -1;
      MPI_Get_count(&status, MPI_BYTE, &probed);
      EXPECT_EQ(probed, bytes);
      for (const int tag : {2, 3, 1}) {
        MPI_Recv(in.data(), bytes, MPI_BYTE, partner, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EXPECT_EQ(in, pattern(partner, bytes)) << bytes << " bytes, tag " << tag;
        in.assign(in.size(), 0);
      }
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      void* buffer = nullptr;
      int buffer_bytes = 0;
      MPI_Buffer_detach(&buffer, &buffer_bytes);
    }
  });
}

// A hint of the communicator: received data is not kept in caches, and is correct in one run at any
// address and with gaps.
TEST_P(BetweenProcesses, DeliverMessagesThatAreReadLate) {
  run([](int rank) {
    MPI_Info hints = MPI_INFO_NULL;
    MPI_Info_create(&hints);
    MPI_Info_set(hints, "sorrel_read_late", "true");
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, hints, &comm);
    MPI_Info_free(&hints);
    const int partner = partner_of(rank);
    for (const int bytes : sizes) {
      MPI_Datatype every_second = MPI_DATATYPE_NULL;
      MPI_Type_vector(bytes, 1, 2, MPI_BYTE, &every_second);
      MPI_Type_commit(&every_second);
      const Bytes out = pattern(rank, bytes), expected = pattern(partner, bytes);
      const auto count = static_cast<std::size_t>(bytes);
      Bytes in(count + 8), with_gaps(2 * count + 1);
      const Bytes untouched = in;
      MPI_Request requests[4];
      MPI_Irecv(in.data() + 3, bytes, MPI_BYTE, partner, 1, comm, &requests[0]);
      MPI_Irecv(with_gaps.data(), 1, every_second, partner, 2, comm, &requests[1]);
      for (const int tag : {1, 2})
        MPI_Isend(out.data(), bytes, MPI_BYTE, partner, tag, comm, &requests[1 + tag]);
      MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
      EXPECT_TRUE(std::equal(expected.begin(), expected.begin() + bytes, in.begin() + 3)) << bytes;
      EXPECT_TRUE(std::equal(in.begin(), in.begin() + 3, untouched.begin()));
      EXPECT_TRUE(std::equal(in.begin() + 3 + bytes, in.end(), untouched.begin() + 3 + bytes));
      for (std::size_t i = 0; i < count; ++i)
        ASSERT_EQ(with_gaps[2 * i], expected[i]) << bytes << " bytes, at " << i;
      MPI_Type_free(&every_second);
    }
    MPI_Comm_free(&comm);
  });
}

TEST_P(BetweenProcesses, LetBothSidesSendFirst) {
  run([](int rank) {
    if (rank != partner_of(rank)) test::send_before_receiving(rank, partner_of(rank));
  });
}

TEST_P(BetweenProcesses, KeepTheOrderOfAPairWhateverTheSizes) {
  run([](int rank) { test::keep_order(rank, partner_of(rank), 120, 60); });
}

TEST_P(BetweenProcesses, KeepAFloodThatExceedsTheWindows) {
  run([](int rank) {
    // Long enough to exhaust the credit for eager messages many times; read only afterwards.
    constexpr int count = 1500;
    const Bytes out = pattern(rank, 3000);
    const int partner = partner_of(rank);
    if (rank == partner) return;
    for (int i = 0; i < count; ++i)
      MPI_Send(out.data(), i % 2 == 0 ? 3000 : 4, MPI_BYTE, partner, i % 5, MPI_COMM_WORLD);
    for (int i = 0; i < count; ++i) {
      MPI_Status status;
      Bytes in(3001);
      MPI_Recv(in.data(), 3000, MPI_BYTE, partner, i % 5, MPI_COMM_WORLD, &status);
      int bytes = -1;
      MPI_Get_count(&status, MPI_BYTE, &bytes);
      ASSERT_EQ(bytes, i % 2 == 0 ? 3000 : 4);
    }
  });
}

TEST_P(BetweenProcesses, TruncateAtTheReceiverAndLetTheSenderGoOn) {
  run([](int rank) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (const int bytes : {100, 5000, 100000}) {
      const Bytes out = pattern(rank, bytes);
      Bytes in(static_cast<std::size_t>(bytes) + 1, 0xee);
      MPI_Request send;
      MPI_Isend(out.data(), bytes, MPI_BYTE, partner_of(rank), 0, MPI_COMM_WORLD, &send);
      EXPECT_EQ(MPI_Recv(in.data(), bytes / 2, MPI_BYTE, partner_of(rank), 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE),
                MPI_ERR_TRUNCATE);
      MPI_Wait(&send, MPI_STATUS_IGNORE);
      const Bytes expected = pattern(partner_of(rank), bytes);
      for (std::size_t i = 0; i < in.size(); ++i)
        ASSERT_EQ(in[i], i < static_cast<std::size_t>(bytes / 2) ? expected[i] : 0xee);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  });
}

TEST_P(BetweenProcesses, SendAndReceiveTypesWithGaps) {
  run([](int rank) {
    MPI_Datatype every_other;
    MPI_Type_create_resized(MPI_INT, 0, 8, &every_other);
    MPI_Type_commit(&every_other);
    for (const int count : {1, 500, 3000, 40000}) {
      std::vector<int> out(static_cast<std::size_t>(2 * count)), in(out.size(), -1);
      for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = rank * 100000 + static_cast<int>(i);
      MPI_Sendrecv(out.data(), count, every_other, partner_of(rank), 1, in.data(), count,
                   every_other, partner_of(rank), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (std::size_t i = 0; i < in.size(); ++i) {
        const int expected = i % 2 == 0 ? partner_of(rank) * 100000 + static_cast<int>(i) : -1;
        ASSERT_EQ(in[i], expected);
      }
    }
    MPI_Type_free(&every_other);
  });
}

TEST_P(BetweenProcesses, SetMessagesAsideForMatchedReceives) {
  run([](int rank) {
    for (const int bytes : sizes) {
      const Bytes out = pattern(rank, bytes);
      Bytes in(static_cast<std::size_t>(bytes) + 1);
      MPI_Request send;
      MPI_Message message;
      MPI_Isend(out.data(), bytes, MPI_BYTE, partner_of(rank), 4, MPI_COMM_WORLD, &send);
      MPI_Mprobe(partner_of(rank), 4, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
      MPI_Mrecv(in.data(), bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
      MPI_Wait(&send, MPI_STATUS_IGNORE);
      EXPECT_EQ(in, pattern(partner_of(rank), bytes));
    }
  });
}

TEST_P(BetweenProcesses, CancelASendOrDeliverIt) {
  run([](int rank) { test::race_cancels_with_receives(rank, partner_of(rank), sizes, 120); });
}

TEST_P(BetweenProcesses, MakeCommunicatorsWithTheirOwnMessages) {
  run([](int rank) {
    for (int round = 0; round < 5; ++round) {
      MPI_Comm copy, half, reversed;
      MPI_Comm_dup(MPI_COMM_WORLD, &copy);
      MPI_Comm_split(copy, rank % 2, rank, &half);
      MPI_Comm_split(copy, 0, -rank, &reversed);
      int sum = 0;
      int own = -1;
      MPI_Comm_rank(reversed, &own);
      EXPECT_EQ(own, size() - 1 - rank);
      MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, half);
      int expected = 0;
      for (int i = rank % 2; i < size(); i += 2)
        expected += i;
      EXPECT_EQ(sum, expected);
      MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, reversed);
      EXPECT_EQ(sum, size() * (size() - 1) / 2);
      MPI_Group everybody, others;
      MPI_Comm_group(MPI_COMM_WORLD, &everybody);
      const int left_out[] = {0};
      MPI_Group_excl(everybody, 1, left_out, &others);
      if (rank != 0) {
        MPI_Comm without_zero;
        MPI_Comm_create_group(MPI_COMM_WORLD, others, 5, &without_zero);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, without_zero);
        EXPECT_EQ(sum, size() * (size() - 1) / 2);
        MPI_Comm_free(&without_zero);
      }
      MPI_Comm created;
      MPI_Comm_create(MPI_COMM_WORLD, others, &created);
      EXPECT_EQ(created == MPI_COMM_NULL, rank == 0);
      if (created != MPI_COMM_NULL) MPI_Comm_free(&created);
      MPI_Group_free(&everybody);
      MPI_Group_free(&others);
      MPI_Comm_free(&reversed);
      MPI_Comm_free(&half);
      MPI_Comm_free(&copy);
    }
  });
}

}  // namespace
}  // namespace sorrel::mpi
