// Graphs that cannot continue, selected by name: a peer that never sends, a peer that does not
// exist, a task that throws.
#include <array>
#include <cstddef>
#include <cstdio>
#include <mpi.h>
#include <stdexcept>
#include <string>

#include <sorrel/graph.hpp>
#include <sorrel/graph/over_mpi.hpp>

using namespace sorrel::graph;

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string fault = argc > 1 ? argv[1] : "";
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::array<std::byte, 8> bytes{};
  {
    sorrel::Graph g(over_mpi(MPI_COMM_WORLD));
    auto use = g.family("use", {1}).body([&] {
      if (fault == "throw" && rank == 0) throw std::runtime_error("no more");
    });
    if (fault != "throw" && rank == 0) {
      const int peer = fault == "silent peer" ? 1 : 7;
      auto receive =
          g.receive("receive", {1}, [&, peer](const Key&, int) { return Message{peer, 5, bytes}; });
      use.after(receive);
    }
    try {
      g.run();
    } catch (const std::runtime_error& error) {
      std::printf("%s: %s\n", g.failed_task().c_str(), error.what());
    }
  }
  MPI_Finalize();
}
