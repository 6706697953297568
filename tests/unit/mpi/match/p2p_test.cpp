#include <cstddef>
#include <cstdint>
#include <vector>

#include "unit/mpi/match/message_pattern.hpp"
#include "unit/mpi/match/pair_traffic.hpp"
#include "unit/runtime/rank_run.hpp"

namespace sorrel::mpi {
namespace {

using test::Bytes;
using test::pattern;
using test::RankTest;

// Both sides of every limit: inline, copy, by reference.
constexpr int sizes[] = {0, 1, 512, 513, 16384, 16385, 100000};

class PointToPoint : public RankTest {
 protected:
  /// The mirror image: on another worker wherever there is one.
  static int partner_of(int rank) { return size() - 1 - rank; }
};

INSTANTIATE_TEST_SUITE_P(Shapes, PointToPoint, test::all_shapes(), test::name_of);

TEST_P(PointToPoint, DeliversExpectedMessagesOfEverySize) {
  run([](int rank) { test::exchange_expected(rank, partner_of(rank), sizes); });
}

TEST_P(PointToPoint, DeliversUnexpectedMessagesOfEverySizeAndMode) {
  run([](int rank) {
    for (const int bytes : sizes) {
      const int partner = partner_of(rank);
      Bytes in(static_cast<std::size_t>(bytes) + 1);
      const Bytes out = pattern(rank, bytes);
      MPI_Request requests[2];
      MPI_Isend(out.data(), bytes, MPI_BYTE, partner, 1, MPI_COMM_WORLD, &requests[0]);
      MPI_Issend(out.data(), bytes, MPI_BYTE, partner, 2, MPI_COMM_WORLD, &requests[1]);
      MPI_Probe(partner, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (const int tag : {2, 1}) {
        MPI_Recv(in.data(), bytes, MPI_BYTE, partner, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EXPECT_EQ(in, pattern(partner, bytes));
        in.assign(in.size(), 0);
      }
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
  });
}

TEST_P(PointToPoint, LetsBothSidesSendFirst) {
  run([](int rank) { test::send_before_receiving(rank, partner_of(rank)); });
}

TEST_P(PointToPoint, KeepsTheOrderOfAPairWhateverTheSizes) {
  run([](int rank) { test::keep_order(rank, partner_of(rank), 200, 10); });
}

TEST_P(PointToPoint, KeepsAFloodThatFillsTheMailboxes) {
  run([](int rank) {
    // Every rank floods its right neighbour and reads only afterwards: mailboxes fill up, remote
    // calls are deferred.
    constexpr int count = 3000;
    const int right = (rank + 1) % size();
    const int left = (rank + size() - 1) % size();
    for (int i = 0; i < count; ++i)
      MPI_Send(&i, 1, MPI_INT, right, 3, MPI_COMM_WORLD);
    for (int i = 0; i < count; ++i) {
      int got = -1;
      MPI_Recv(&got, 1, MPI_INT, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      ASSERT_EQ(got, i);
    }
  });
}

TEST_P(PointToPoint, MixesAFloodOfReferencesWithShortMessages) {
  run([](int rank) {
    constexpr int count = 1500;
    std::vector<MPI_Request> requests(2 * count);
    std::vector<int> out(count), in(count);
    for (std::size_t i = 0; i < count; ++i) {
      out[i] = static_cast<int>(i) + rank;
      MPI_Issend(&out[i], 1, MPI_INT, partner_of(rank), 1, MPI_COMM_WORLD, &requests[i]);
    }
    for (std::size_t i = 0; i < count; ++i)
      MPI_Irecv(&in[i], 1, MPI_INT, partner_of(rank), 1, MPI_COMM_WORLD, &requests[count + i]);
    MPI_Waitall(2 * count, requests.data(), MPI_STATUSES_IGNORE);
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_EQ(in[i], static_cast<int>(i) + partner_of(rank));
  });
}

TEST_P(PointToPoint, SetsAMatchedMessageAside) {
  run([](int rank) {
    for (const int bytes : sizes) {
      const Bytes out = pattern(rank, bytes);
      Bytes in(static_cast<std::size_t>(bytes) + 1);
      MPI_Request requests[2];
      MPI_Message message;
      MPI_Isend(out.data(), bytes, MPI_BYTE, partner_of(rank), 4, MPI_COMM_WORLD, &requests[0]);
      MPI_Mprobe(MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Imrecv(in.data(), bytes, MPI_BYTE, &message, &requests[1]);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      EXPECT_EQ(in, pattern(partner_of(rank), bytes));
      MPI_Barrier(MPI_COMM_WORLD);
    }
  });
}

TEST_P(PointToPoint, StartsPersistentRequestsAgainAndAgain) {
  run([](int rank) {
    int out = 0;
    int in = 0;
    MPI_Request requests[4];
    Bytes big_out(30000), big_in(30000);
    MPI_Send_init(&out, 1, MPI_INT, partner_of(rank), 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(&in, 1, MPI_INT, partner_of(rank), 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Send_init(big_out.data(), 30000, MPI_BYTE, partner_of(rank), 1, MPI_COMM_WORLD,
                  &requests[2]);
    MPI_Recv_init(big_in.data(), 30000, MPI_BYTE, partner_of(rank), 1, MPI_COMM_WORLD,
                  &requests[3]);
    for (int round = 0; round < 30; ++round) {
      out = round * 100 + rank;
      big_out.assign(big_out.size(), static_cast<unsigned char>(round + rank));
      MPI_Startall(4, requests);
      MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
      EXPECT_EQ(in, round * 100 + partner_of(rank));
      EXPECT_EQ(big_in.back(), static_cast<unsigned char>(round + partner_of(rank)));
    }
    for (MPI_Request& request : requests)
      MPI_Request_free(&request);
  });
}

TEST_P(PointToPoint, LetsFreedRequestsFinish) {
  run([](int rank) {
    for (const int bytes : sizes) {
      const Bytes out = pattern(rank, bytes);
      Bytes in(static_cast<std::size_t>(bytes) + 1);
      MPI_Request request;
      MPI_Isend(out.data(), bytes, MPI_BYTE, partner_of(rank), 0, MPI_COMM_WORLD, &request);
      MPI_Request_free(&request);
      MPI_Recv(in.data(), bytes, MPI_BYTE, partner_of(rank), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      EXPECT_EQ(in, pattern(partner_of(rank), bytes));
      MPI_Barrier(MPI_COMM_WORLD);
    }
  });
}

TEST_P(PointToPoint, ExchangesUnderOneRequest) {
  run([](int rank) {
    for (const int bytes : sizes) {
      for (int stride = 0; stride < 4; ++stride) {
        const int to = (rank + stride) % size();
        const int from = (rank + 4 * size() - stride) % size();
        const Bytes out = pattern(rank, bytes);
        Bytes in(static_cast<std::size_t>(bytes) + 1);
        MPI_Request request;
        MPI_Isendrecv(out.data(), bytes, MPI_BYTE, to, 0, in.data(), bytes, MPI_BYTE, from, 0,
                      MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        EXPECT_EQ(in, pattern(from, bytes));
      }
    }
  });
}

TEST_P(PointToPoint, BuffersSendsUntilTheyAreWanted) {
  run([](int rank) {
    Bytes attached(200000);
    void* detached = nullptr;
    int detached_bytes = 0;
    const Bytes out = pattern(rank, 20000);
    Bytes in(20001);
    MPI_Buffer_attach(attached.data(), 200000);
    for (int i = 0; i < 5; ++i)
      MPI_Bsend(out.data(), 20000, MPI_BYTE, partner_of(rank), i, MPI_COMM_WORLD);
    for (int i = 4; i >= 0; --i) {
      MPI_Recv(in.data(), 20000, MPI_BYTE, partner_of(rank), i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      EXPECT_EQ(in, pattern(partner_of(rank), 20000));
    }
    MPI_Buffer_detach(&detached, &detached_bytes);
    EXPECT_EQ(detached, attached.data());
  });
}

TEST_P(PointToPoint, ScattersDataWithHolesAtTheReceiver) {
  run([](int rank) {
    for (const int count : {1, 20, 5000}) {
      MPI_Datatype every_other;
      MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &every_other);
      MPI_Type_commit(&every_other);
      const auto length = static_cast<std::size_t>(2 * count);
      std::vector<int> out(length, rank), in(length, -1);
      MPI_Sendrecv(out.data(), count, every_other, partner_of(rank), 0, in.data(), count,
                   every_other, partner_of(rank), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (std::size_t i = 0; i < length; ++i)
        ASSERT_EQ(in[i], i % 2 == 0 ? partner_of(rank) : -1);
      MPI_Type_free(&every_other);
    }
  });
}

TEST_P(PointToPoint, TestsWithoutWaiting) {
  run([](int rank) {
    // Polling ranks yield the processor to other ranks: otherwise those on one worker would never
    // end.
    int out = rank;
    int in = -1;
    int flag = 0;
    MPI_Request receive;
    MPI_Irecv(&in, 1, MPI_INT, partner_of(rank), 0, MPI_COMM_WORLD, &receive);
    if (rank % 2 == 0) MPI_Send(&out, 1, MPI_INT, partner_of(rank), 0, MPI_COMM_WORLD);
    if (partner_of(rank) % 2 == 0) {
      while (flag == 0)
        MPI_Test(&receive, &flag, MPI_STATUS_IGNORE);
    }
    if (rank % 2 != 0) MPI_Send(&out, 1, MPI_INT, partner_of(rank), 0, MPI_COMM_WORLD);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    EXPECT_EQ(in, partner_of(rank));
  });
}

TEST_P(PointToPoint, CancelsASendOrDeliversIt) {
  run([](int rank) { test::race_cancels_with_receives(rank, partner_of(rank), sizes, 210); });
}

TEST_P(PointToPoint, CancelsAReceiveOnce) {
  run([](int rank) {
    int in = -1;
    int cancelled = 0;
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    EXPECT_EQ(cancelled, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Sendrecv_replace(&rank, 1, MPI_INT, partner_of(rank), 0, partner_of(rank), 0,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT_EQ(in, -1);
  });
}

}  // namespace
}  // namespace sorrel::mpi
