// Which worker should poll messages? Ranks pass a message in a ring, each straight from its receive
// to the next send, while each has tasks of a given length. A task is not interrupted, so a message
// waits for the end of a task where computing workers also poll messages.
//
//   sorrel run -n 4 --wire ... [--comm-worker] relay MICROSECONDS-PER-TASK TASKS-PER-RANK STEPS
//       [RANKS-WITH-TASKS]
//
// Prints the seconds of a step.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <mpi.h>
#include <vector>

#include <sorrel/graph.hpp>
#include <sorrel/graph/over_mpi.hpp>

using namespace sorrel::graph;

namespace {

constexpr Index laps = 4;
constexpr std::size_t message_bytes = 64 << 10;

void compute_for(double microseconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double, std::micro>(microseconds);
  while (Clock::now() < end) {
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const double task_us = argc > 1 ? std::atof(argv[1]) : 20;
  const Index tasks = argc > 2 ? std::atol(argv[2]) : 10;
  const int steps = argc > 3 ? std::atoi(argv[3]) : 20;
  const int busy_ranks = argc > 4 ? std::atoi(argv[4]) : 1 << 30;
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::array<std::vector<std::byte>, laps> bytes;
  bytes.fill(std::vector<std::byte>(message_bytes));
  double seconds = 0;
  {
    sorrel::Graph g(over_mpi(MPI_COMM_WORLD));
    const auto message_with = [&](int peer) {
      return [&bytes, peer](const Key& key, int) {
        return Message{peer, static_cast<int>(key[0]), bytes[static_cast<std::size_t>(key[0])], {}};
      };
    };
    if (rank < busy_ranks) g.family("work", {tasks}).body([&] { compute_for(task_us); });
    auto receive = g.receive("receive", {laps}, message_with((rank + ranks - 1) % ranks));
    auto send = g.send("send", {laps}, message_with((rank + 1) % ranks));
    // Rank 0 begins each lap after the previous one has ended.
    send.after(receive, rank == 0 ? offset(-1) : same_tile);
    g.run();
    MPI_Barrier(MPI_COMM_WORLD);
    const double began = MPI_Wtime();
    g.run({.steps = steps});
    const double own = (MPI_Wtime() - began) / steps;
    MPI_Reduce(&own, &seconds, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  }
  if (rank == 0) std::printf("seconds %.9f\n", seconds);
  MPI_Finalize();
}
