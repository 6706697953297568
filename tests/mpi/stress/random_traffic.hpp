//! Random messages and collectives over random communicators, with all results checked.
//!
//! A seed decides all of it. Every rank knows the whole plan and executes its own part at its own
//! speed. No globals, so that ranks which share a program's globals can run it, too.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../check.h"

namespace random_traffic {

struct Shared {
  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<int> members;  // world ranks
};

/// A message of the plan.
struct Message {
  int from, to, tag, bytes;
  std::uint64_t key;
};

inline constexpr int bytes_max = 150000;

inline int random_bytes(std::uint64_t* dice) {
  static constexpr int kinds[] = {0, 1, 16, 300, 512, 513, 2000, 16384, 16385, 60000, bytes_max};
  const int kind = kinds[random_below(dice, 11)];
  return kind < 100 ? kind : kind - random_below(dice, 3);
}

inline Shared split_at_random(const Shared& parent, std::uint64_t* dice) {
  const int color_count = 1 + random_below(dice, 3);
  const std::uint64_t salt = random_next(dice);
  const auto draw = [&](int rank, std::uint64_t what) {
    std::uint64_t state = salt + static_cast<std::uint64_t>(rank) * 1315423911u + what;
    return static_cast<int>(random_next(&state) >> 40);
  };
  Shared made;
  const int me = rank_in(MPI_COMM_WORLD);
  const int color = draw(me, 0) % color_count;
  MPI_Comm_split(parent.comm, color, draw(me, 1) % 7, &made.comm);
  std::vector<std::pair<int, int>> order;
  for (std::size_t i = 0; i < parent.members.size(); ++i) {
    if (draw(parent.members[i], 0) % color_count == color)
      order.emplace_back(draw(parent.members[i], 1) % 7, static_cast<int>(i));
  }
  std::sort(order.begin(), order.end());
  for (const auto& [key, i] : order)
    made.members.push_back(parent.members[static_cast<std::size_t>(i)]);
  CHECK_EQUAL(size_of(made.comm), made.members.size());
  CHECK_EQUAL(made.members[static_cast<std::size_t>(rank_in(made.comm))], me);
  return made;
}

/// The messages of one round among `size` ranks. All ranks draw the same list.
inline std::vector<Message> plan_messages(int size, std::uint64_t* dice) {
  std::vector<Message> plan(
      static_cast<std::size_t>(1 + random_below(dice, 4 * std::min(size, 40))));
  const bool is_crowded = random_below(dice, 4) == 0;
  const int favourite = random_below(dice, size);
  for (Message& message : plan) {
    message.from = random_below(dice, size);
    message.to = is_crowded ? favourite : random_below(dice, size);
    message.tag = random_below(dice, 4);
    message.bytes = random_bytes(dice);
    message.key = random_next(dice);
  }
  return plan;
}

/// Starts the send of a message in a random mode; a blocking mode only if no receive can depend on
/// the return.
inline MPI_Request start_send(const Message& message,
                              const std::vector<unsigned char>& data,
                              MPI_Comm comm,
                              std::uint64_t* own_dice) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int how = random_below(own_dice, 4);
  if (how == 0 && message.bytes <= 16384) {
    MPI_Send(data.data(), message.bytes, MPI_BYTE, message.to, message.tag, comm);
  } else if (how == 1) {
    MPI_Issend(data.data(), message.bytes, MPI_BYTE, message.to, message.tag, comm, &request);
  } else {
    MPI_Isend(data.data(), message.bytes, MPI_BYTE, message.to, message.tag, comm, &request);
  }
  return request;
}

inline void finish(std::vector<MPI_Request>& requests, std::uint64_t* own_dice) {
  const int count = static_cast<int>(requests.size());
  const int how = random_below(own_dice, 4);
  if (how == 0) {
    MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
  } else if (how == 1) {
    for (int flag = 0; flag == 0;)
      MPI_Testall(count, requests.data(), &flag, MPI_STATUSES_IGNORE);
  } else if (how == 2) {
    for (int index = 0; index != MPI_UNDEFINED;)
      MPI_Waitany(count, requests.data(), &index, MPI_STATUS_IGNORE);
  } else {
    std::vector<int> indices(requests.size() + 1);
    for (int done = 0; done != MPI_UNDEFINED;)
      MPI_Waitsome(count, requests.data(), &done, indices.data(), MPI_STATUSES_IGNORE);
  }
}

inline void check_arrived(const Message& message, const std::vector<unsigned char>& data) {
  CHECK_PATTERN(data.data(), static_cast<std::size_t>(message.bytes), message.key);
}

/// Exact receives, posted before, between or after the sends.
inline void exchange_exactly(const Shared& shared,
                             const std::vector<Message>& plan,
                             std::uint64_t* own_dice) {
  const int own = rank_in(shared.comm);
  std::vector<std::vector<unsigned char>> buffers;
  std::vector<MPI_Request> requests;
  std::vector<const Message*> received;
  buffers.reserve(2 * plan.size());
  const auto post_receives = [&] {
    for (const Message& message : plan) {
      if (message.to != own) continue;
      buffers.emplace_back(static_cast<std::size_t>(message.bytes) + 1);
      requests.emplace_back();
      MPI_Irecv(buffers.back().data(), message.bytes, MPI_BYTE, message.from, message.tag,
                shared.comm, &requests.back());
      received.push_back(&message);
    }
  };
  const bool is_early = random_below(own_dice, 2) == 0;
  if (is_early) post_receives();
  for (const Message& message : plan) {
    if (message.from != own) continue;
    buffers.emplace_back(static_cast<std::size_t>(message.bytes) + 1);
    pattern_fill(buffers.back().data(), static_cast<std::size_t>(message.bytes), message.key);
    requests.push_back(start_send(message, buffers.back(), shared.comm, own_dice));
  }
  const std::size_t first_received = is_early ? 0 : buffers.size();
  if (!is_early) post_receives();
  finish(requests, own_dice);
  for (std::size_t i = 0; i < received.size(); ++i)
    check_arrived(*received[i], buffers[first_received + i]);
}

/// Receives any message, with wildcards and probes; each message must be the oldest of its pair and
/// tag.
inline void exchange_by_wildcard(const Shared& shared,
                                 const std::vector<Message>& plan,
                                 std::uint64_t* own_dice) {
  const int own = rank_in(shared.comm);
  std::vector<std::vector<unsigned char>> sent;
  std::vector<MPI_Request> requests;
  std::vector<const Message*> expected;
  sent.reserve(plan.size());
  for (const Message& message : plan) {
    if (message.to == own) expected.push_back(&message);
    if (message.from != own) continue;
    sent.emplace_back(static_cast<std::size_t>(message.bytes) + 1);
    pattern_fill(sent.back().data(), static_cast<std::size_t>(message.bytes), message.key);
    requests.push_back(start_send(message, sent.back(), shared.comm, own_dice));
  }
  std::vector<unsigned char> buffer(bytes_max + 1);
  while (!expected.empty()) {
    MPI_Status status;
    MPI_Message handle;
    int bytes = 0, flag = 0;
    const int how = random_below(own_dice, 4);
    const int tag = how < 2 ? MPI_ANY_TAG
                            : expected[static_cast<std::size_t>(random_below(
                                           own_dice, static_cast<int>(expected.size())))]
                                  ->tag;
    if (how % 2 == 0) {
      MPI_Recv(buffer.data(), bytes_max, MPI_BYTE, MPI_ANY_SOURCE, tag, shared.comm, &status);
    } else {
      while (!flag)
        MPI_Improbe(MPI_ANY_SOURCE, tag, shared.comm, &flag, &handle, &status);
      MPI_Mrecv(buffer.data(), bytes_max, MPI_BYTE, &handle, &status);
    }
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    const auto found = std::find_if(expected.begin(), expected.end(), [&](const Message* message) {
      return message->from == status.MPI_SOURCE && (message->tag == status.MPI_TAG);
    });
    CHECK(found != expected.end());
    CHECK_EQUAL(bytes, (*found)->bytes);
    check_arrived(**found, buffer);
    expected.erase(found);
  }
  finish(requests, own_dice);
}

inline void collective(const Shared& shared, std::uint64_t* dice) {
  const int size = static_cast<int>(shared.members.size());
  const int own = rank_in(shared.comm);
  const int root = random_below(dice, size);
  const int count = 1 + random_below(dice, 900);
  const int kind = random_below(dice, 6);
  std::vector<int> out(static_cast<std::size_t>(count)), in(out.size());
  for (int i = 0; i < count; ++i)
    out[static_cast<std::size_t>(i)] = own * 3 + i;
  const int rank_sum = 3 * size * (size - 1) / 2;
  if (kind == 0) MPI_Barrier(shared.comm);
  if (kind == 1) {
    in = out;
    MPI_Bcast(in.data(), count, MPI_INT, root, shared.comm);
    CHECK_EQUAL(in.back(), root * 3 + count - 1);
  }
  if (kind == 2) {
    MPI_Allreduce(out.data(), in.data(), count, MPI_INT, MPI_SUM, shared.comm);
    CHECK_EQUAL(in.back(), rank_sum + size * (count - 1));
  }
  if (kind == 3) {
    MPI_Reduce(out.data(), in.data(), count, MPI_INT, MPI_SUM, root, shared.comm);
    if (own == root) CHECK_EQUAL(in.back(), rank_sum + size * (count - 1));
  }
  if (kind == 4) {
    std::vector<int> all(static_cast<std::size_t>(size));
    MPI_Allgather(out.data(), 1, MPI_INT, all.data(), 1, MPI_INT, shared.comm);
    for (int i = 0; i < size; ++i)
      CHECK_EQUAL(all[static_cast<std::size_t>(i)], 3 * i);
  }
  if (kind == 5) {
    MPI_Scan(out.data(), in.data(), count, MPI_INT, MPI_SUM, shared.comm);
    CHECK_EQUAL(in.back(), 3 * own * (own + 1) / 2 + (own + 1) * (count - 1));
  }
}

/// `rounds` rounds on one communicator. All its members draw the same from `dice`; the events
/// inside a part are drawn from dice of the part's own.
inline void play(
    const Shared& shared, int rounds, std::uint64_t dice, std::uint64_t* own_dice, int depth) {
  const int size = static_cast<int>(shared.members.size());
  for (int round = 0; round < rounds; ++round) {
    const int what = random_below(&dice, 8);
    if (what == 0 && depth < 4) {
      Shared part = split_at_random(shared, &dice);
      const std::uint64_t part_dice =
          random_next(&dice) + static_cast<std::uint64_t>(part.members[0]);
      const int part_rounds = 1 + random_below(&dice, 8);
      play(part, part_rounds, part_dice, own_dice, depth + 1);
      MPI_Comm_free(&part.comm);
    } else if (what < 4) {
      exchange_exactly(shared, plan_messages(size, &dice), own_dice);
    } else if (what == 4) {
      exchange_by_wildcard(shared, plan_messages(size, &dice), own_dice);
      // A wildcard of this round must not take what is sent next.
      MPI_Barrier(shared.comm);
    } else {
      collective(shared, &dice);
    }
  }
}

/// Called by every rank between MPI_Init and MPI_Finalize.
inline void run(int rounds, std::uint64_t seed) {
  std::uint64_t own_dice = seed * 77 + static_cast<std::uint64_t>(rank_in(MPI_COMM_WORLD));
  Shared world{MPI_COMM_WORLD, {}};
  for (int i = 0; i < size_of(MPI_COMM_WORLD); ++i)
    world.members.push_back(i);
  play(world, rounds, seed, &own_dice, 0);
}

}  // namespace random_traffic
