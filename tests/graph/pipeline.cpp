// Graphs in ranks: a ring of ranks with a line of cells each, whose ends are exchanged in every
// step. The sum of neighbours is compared with one rank's loop. Tasks of several ranks and their
// messages mix.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mpi.h>
#include <span>
#include <vector>

#include <sorrel/graph.hpp>
#include <sorrel/graph/over_mpi.hpp>

using namespace sorrel::graph;
using Value = std::uint64_t;

namespace {

constexpr Index cells = 12;

std::span<std::byte> bytes_of(Value& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

std::vector<Value> by_loop(Index all, Index steps) {
  std::vector<Value> now(static_cast<std::size_t>(all));
  std::vector<Value> next(now.size());
  for (std::size_t i = 0; i < now.size(); ++i)
    now[i] = i * i + 1;
  for (Index s = 0; s < steps; ++s) {
    for (std::size_t i = 0; i < now.size(); ++i)
      next[i] = now[(i + now.size() - 1) % now.size()] + 3 * now[i] + 5 * now[(i + 1) % now.size()];
    now.swap(next);
  }
  return now;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Index steps = argc > 1 ? std::atol(argv[1]) : 100;
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::array<int, 2> peers{(rank + ranks - 1) % ranks, (rank + 1) % ranks};

  // Values of even and of odd steps, with a ghost at each end.
  std::array<std::vector<Value>, 2> line;
  line.fill(std::vector<Value>(cells + 2));
  for (Index i = -1; i <= cells; ++i) {
    const Index all = ranks * cells;
    const auto place = static_cast<Value>((rank * cells + i + all) % all);
    line[0][static_cast<std::size_t>(i + 1)] = place * place + 1;
  }
  {
    sorrel::Graph g(over_mpi(MPI_COMM_WORLD));
    auto cell = g.family("cell", {cells}).body([&](const Task& task) {
      const auto i = static_cast<std::size_t>(task.key[0] + 1);
      const std::vector<Value>& now = line[task.step % 2];
      line[(task.step + 1) % 2][i] = now[i - 1] + 3 * now[i] + 5 * now[i + 1];
    });
    // What leaves at one end arrives at the other end of the neighbour. A step's values are those
    // that the next one reads.
    const auto message = [&](int end, int tag, std::size_t place) {
      return [&, end, tag, place](const Key&, int slot) {
        return Message{peers[static_cast<std::size_t>(end)], tag,
                       bytes_of(line[static_cast<std::size_t>(1 - slot)][place])};
      };
    };
    cell.after(cell, along_axes(1, 1), previous_step);
    for (const int end : {0, 1}) {
      const Index last = end == 0 ? 0 : cells - 1;
      auto send =
          g.send(end == 0 ? "send low" : "send high", {1}, message(end, end, end == 0 ? 1 : cells));
      auto receive = g.receive(end == 0 ? "receive low" : "receive high", {1},
                               message(end, 1 - end, end == 0 ? 0 : cells + 1));
      send.after(cell, at(last));
      // The ghost has been read.
      receive.after(cell, at(last), previous_step);
      cell.after(receive, at(dim(0) - last), previous_step);
    }
    const Report report = g.run({.steps = steps});
    if (report.tasks != steps * (cells + 4)) return 2;
  }
  const std::vector<Value> right = by_loop(ranks * cells, steps);
  int wrong = 0;
  for (std::size_t i = 0; i < cells; ++i)
    if (line[static_cast<std::size_t>(steps % 2)][i + 1] !=
        right[static_cast<std::size_t>(rank) * cells + i])
      ++wrong;
  int all_wrong = 0;
  MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d wrong\n", all_wrong);
  MPI_Finalize();
  return all_wrong == 0 ? 0 : 1;
}
