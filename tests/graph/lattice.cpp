// A stencil on a lattice of four dimensions, over any grid of ranks, compared with a loop over the
// whole lattice.
//
// lattice PX PY PZ PT STEPS [periodic] [box]
//
// box: a box stencil, so that faces, edges and corners are exchanged.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mpi.h>
#include <string>
#include <vector>

#include <sorrel/graph.hpp>
#include <sorrel/graph/over_mpi.hpp>

using namespace sorrel::graph;
using Value = std::uint64_t;

namespace {

constexpr Key extents{5, 6, 4, 7};
constexpr int dimensions = 4;

/// The whole lattice; its ends are neighbours, or have the initial values outside.
class Whole {
 public:
  explicit Whole(bool is_periodic)
      : is_periodic_(is_periodic),
        values_(static_cast<std::size_t>(Space(extents, dimensions).count())) {
    for (const Key& cell : KeyBox{{}, extents})
      (*this)[cell] = start_value(cell);
  }

  Value operator()(Index i, Index j, Index k, Index l) const {
    Key cell{i, j, k, l};
    bool is_outside = false;
    for (std::size_t d = 0; d < cell.size(); ++d) {
      is_outside = is_outside || cell[d] < 0 || cell[d] >= extents[d];
      cell[d] = (cell[d] + extents[d]) % extents[d];
    }
    return is_outside && !is_periodic_ ? start_value({i, j, k, l}) : values_[place(cell)];
  }

  Value& operator[](const Key& cell) { return values_[place(cell)]; }

 private:
  static Value start_value(const Key& cell) {
    Value value = 0;
    for (const Index coordinate : cell)
      value = value * 1000003 + static_cast<Value>(coordinate + 2);
    return value;
  }

  static std::size_t place(const Key& cell) {
    return static_cast<std::size_t>(Space(extents, dimensions).index_of(cell));
  }

  bool is_periodic_;
  std::vector<Value> values_;
};

/// Each neighbour has a weight of its own.
template <class From>
Value stencil(const From& from, const Key& cell, bool is_box) {
  const auto [i, j, k, l] = cell;
  Value sum = 0;
  Value weight = 1;
  for (const auto& [a, b, c, d] : KeyBox{{-1, -1, -1, -1}, {2, 2, 2, 2}}) {
    weight += 2;
    const int across = (a != 0) + (b != 0) + (c != 0) + (d != 0);
    if (is_box || across <= 1) sum += weight * from(i + a, j + b, k + c, l + d);
  }
  return sum;
}

struct Options {
  Key ranks{};
  Index steps = 0;
  bool is_periodic = false;
  bool is_box = false;
};

/// Number of wrong cells of this rank.
int count_wrong(const Options& options) {
  const bool is_periodic = options.is_periodic;
  const bool is_box = options.is_box;
  const Tiling tiling(Space(extents, dimensions),
                      tiling_over(MPI_COMM_WORLD, {.ranks = options.ranks,
                                                   .is_periodic = {is_periodic, is_periodic,
                                                                   is_periodic, is_periodic},
                                                   .tile = {2, 3, 0, 4}}));
  Field<Value> now(tiling, "now");
  Field<Value> next(tiling, "next");
  const Whole first(is_periodic);
  now.fill(first);
  next.fill(first);
  {
    sorrel::Graph graph(over_mpi(MPI_COMM_WORLD));
    graph.over(tiling, "lattice")
        .reads(now, is_box ? box(1) : star(1))
        .writes(next)
        .run([=](const KeyBox& cells, auto from, auto to) {
          for (const auto& [i, j, k, l] : cells)
            to(i, j, k, l) = stencil(from, {i, j, k, l}, is_box);
        });
    graph.rotate(now, next);
    graph.run({.steps = options.steps});
  }
  Whole right(is_periodic);
  for (Index step = 0; step < options.steps; ++step) {
    Whole result(is_periodic);
    for (const Key& cell : KeyBox{{}, extents})
      result[cell] = stencil(right, cell, is_box);
    right = result;
  }
  int wrong = 0;
  for (const auto& [i, j, k, l] : tiling.block())
    wrong += now(i, j, k, l) != right(i, j, k, l) ? 1 : 0;
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 6) return 2;
  Options options;
  for (std::size_t d = 0; d < options.ranks.size(); ++d)
    options.ranks[d] = std::atol(argv[1 + d]);
  options.steps = std::atol(argv[5]);
  for (int i = 6; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "periodic") options.is_periodic = true;
    if (word == "box") options.is_box = true;
  }
  const int wrong = count_wrong(options);
  int rank = 0;
  int all_wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d wrong\n", all_wrong);
  MPI_Finalize();
  return all_wrong == 0 ? 0 : 1;
}
