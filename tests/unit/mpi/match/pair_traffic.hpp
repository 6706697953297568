//! Messages between two ranks, for tests of several transports: each rank calls the function with
//! the rank of its partner.
#pragma once

#include <cstddef>
#include <gtest/gtest.h>
#include <mpi.h>
#include <span>
#include <vector>

#include "unit/mpi/match/message_pattern.hpp"

namespace sorrel::test {

/// Above the numbers of all rounds.
inline constexpr int rounds_tag = 100000;

/// Called by every rank: a message of each size, whose receive is posted before it.
inline void exchange_expected(int rank, int partner, std::span<const int> sizes) {
  for (const int bytes : sizes) {
    Bytes in(static_cast<std::size_t>(bytes) + 1);
    const Bytes out = pattern(rank, bytes);
    MPI_Request requests[2];
    MPI_Irecv(in.data(), bytes, MPI_BYTE, partner, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(out.data(), bytes, MPI_BYTE, partner, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    EXPECT_EQ(in, pattern(partner, bytes));
  }
}

/// Blocking sends of sizes that programs expect to be buffered.
inline void send_before_receiving(int rank, int partner) {
  constexpr int bytes = 16384;
  const Bytes out = pattern(rank, bytes);
  Bytes in(bytes + 1);
  for (int round = 0; round < 10; ++round) {
    MPI_Send(out.data(), bytes, MPI_BYTE, partner, round, MPI_COMM_WORLD);
    MPI_Recv(in.data(), bytes, MPI_BYTE, partner, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT_EQ(in, pattern(partner, bytes));
  }
}

/// So many messages at once, short ones that grow by step_bytes and long ones in between, received
/// in order.
inline void keep_order(int rank, int partner, int count, int step_bytes) {
  constexpr int long_bytes = 20000;
  const auto message = [=](int sender, int i) {
    return pattern(sender * 1000 + i, i % 3 == 0 ? long_bytes : i * step_bytes);
  };
  std::vector<Bytes> sent;
  std::vector<MPI_Request> requests(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    sent.push_back(message(rank, i));
  for (std::size_t i = 0; i < sent.size(); ++i) {
    MPI_Isend(sent[i].data(), static_cast<int>(sent[i].size()), MPI_BYTE, partner, 0,
              MPI_COMM_WORLD, &requests[i]);
  }
  for (int i = 0; i < count; ++i) {
    Bytes in(long_bytes + 1);
    MPI_Status status;
    int bytes = 0;
    MPI_Recv(in.data(), long_bytes + 1, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
             &status);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    in.resize(static_cast<std::size_t>(bytes));
    ASSERT_EQ(in, message(partner, i)) << "message " << i;
  }
  MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
}

inline bool was_cancelled(const MPI_Status& status) {
  int flag = -1;
  MPI_Test_cancelled(&status, &flag);
  return flag == 1;
}

/// Synchronous sends that are cancelled about when their receive is posted, of all sizes in turn:
/// either the send is cancelled and nothing arrives, or it is sent and arrives completely.
inline void race_cancels_with_receives(int rank,
                                       int partner,
                                       std::span<const int> sizes,
                                       int rounds) {
  const auto pause = [](int turns) {
    int flag = 0;
    for (int i = 0; i < turns; ++i)
      MPI_Iprobe(MPI_ANY_SOURCE, rounds_tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  };
  for (int round = 0; round < rounds; ++round) {
    const int bytes = sizes[static_cast<std::size_t>(round) % sizes.size()];
    const Bytes out = pattern(rank + round, bytes);
    Bytes in(out.size());
    MPI_Request send, receive;
    MPI_Status status;
    const bool posts_first = round % 5 == 4;
    const auto post = [&] {
      MPI_Irecv(in.data(), bytes, MPI_BYTE, partner, round, MPI_COMM_WORLD, &receive);
    };
    if (posts_first) post();
    MPI_Issend(out.data(), bytes, MPI_BYTE, partner, round, MPI_COMM_WORLD, &send);
    pause((rank + round) % 4);
    MPI_Cancel(&send);
    pause(round % 3);
    if (!posts_first) post();
    MPI_Wait(&send, &status);
    const int is_sent = was_cancelled(status) ? 0 : 1;
    int arrives = -1;
    MPI_Sendrecv(&is_sent, 1, MPI_INT, partner, rounds_tag, &arrives, 1, MPI_INT, partner,
                 rounds_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (arrives == 0) MPI_Cancel(&receive);
    MPI_Wait(&receive, &status);
    ASSERT_EQ(was_cancelled(status), arrives == 0) << "round " << round;
    if (arrives == 1) {
      ASSERT_EQ(in, pattern(partner + round, bytes)) << "round " << round;
    }
  }
}

}  // namespace sorrel::test
