// A three-dimensional stencil by declared accesses, over any grid of ranks, compared with a loop
// over the whole grid. Two sweeps in each step: the result of one rotates, that of the other stays.
//
// stencil PX PY PZ STEPS [periodic] [box] [plain]
//
// box: a box stencil, so that edges and corners are exchanged, too. plain: the tiling does not
// state which ranks are near.
#include <array>
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

constexpr Key extents{13, 11, 24};

Value start_value(Index i, Index j, Index k) {
  return static_cast<Value>((i + 1) * 1000003 + (j + 1) * 10007 + (k + 1) * 101);
}

template <class U>
Value around(const U& u, Index i, Index j, Index k) {
  return u(i, j, k) + 2 * u(i - 1, j, k) + 3 * u(i + 1, j, k) + 5 * u(i, j - 1, k) +
         7 * u(i, j + 1, k) + 11 * u(i, j, k - 1) + 13 * u(i, j, k + 1);
}

template <class U>
Value all_around(const U& u, Index i, Index j, Index k) {
  Value sum = 0;
  Value weight = 1;
  for (Index x = i - 1; x <= i + 1; ++x)
    for (Index y = j - 1; y <= j + 1; ++y)
      for (Index z = k - 1; z <= k + 1; ++z)
        sum += (weight += 2) * u(x, y, z);
  return sum;
}

template <class Visit>
void for_cells(const KeyBox& cells, Visit&& visit) {
  for (Index i = cells.lo[0]; i < cells.hi[0]; ++i)
    for (Index j = cells.lo[1]; j < cells.hi[1]; ++j)
      for (Index k = cells.lo[2]; k < cells.hi[2]; ++k)
        visit(i, j, k);
}

/// The whole grid; its ends are neighbours, or have the initial values outside.
class Whole {
 public:
  explicit Whole(bool is_periodic) : is_periodic_(is_periodic), values_(size()) {
    for_cells({{}, extents},
              [&](Index i, Index j, Index k) { (*this)[{i, j, k}] = start_value(i, j, k); });
  }

  Value operator()(Index i, Index j, Index k) const {
    Key key{i, j, k};
    bool is_outside = false;
    for (std::size_t d = 0; d < 3; ++d) {
      is_outside = is_outside || key[d] < 0 || key[d] >= extents[d];
      key[d] = (key[d] + extents[d]) % extents[d];
    }
    return is_outside && !is_periodic_ ? start_value(i, j, k) : values_[place(key)];
  }

  Value& operator[](const Key& key) { return values_[place(key)]; }

 private:
  static std::size_t size() {
    return static_cast<std::size_t>(extents[0] * extents[1] * extents[2]);
  }

  static std::size_t place(const Key& key) {
    return static_cast<std::size_t>((key[0] * extents[1] + key[1]) * extents[2] + key[2]);
  }

  bool is_periodic_;
  std::vector<Value> values_;
};

template <class Stencil>
Whole by_loop(Index steps, bool is_periodic, Stencil stencil) {
  Whole u(is_periodic);
  for (Index s = 0; s < steps; ++s) {
    Whole v(is_periodic);
    Whole w(is_periodic);
    for_cells({{}, extents},
              [&](Index i, Index j, Index k) { w[{i, j, k}] = stencil(u, i, j, k); });
    for_cells({{}, extents},
              [&](Index i, Index j, Index k) { v[{i, j, k}] = stencil(w, i, j, k); });
    u = v;
  }
  return u;
}

struct Options {
  Key ranks{};
  Index steps = 0;
  bool is_periodic = false;
  bool says_who_is_near = true;
};

/// Number of wrong cells of this rank.
template <class Stencil>
int count_wrong(const Options& options, const Footprint& footprint, Stencil stencil) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool is_periodic = options.is_periodic;
  const TilingOptions said{.ranks = options.ranks,
                           .rank = rank,
                           .is_periodic = {is_periodic, is_periodic, is_periodic},
                           .tile = {3, 4, 8},
                           .skin = {1, 0, 2}};
  const Tiling tiling({extents[0], extents[1], extents[2]},
                      options.says_who_is_near ? tiling_over(MPI_COMM_WORLD, said) : said);
  Field<Value> u(tiling, "u");
  Field<Value> v(tiling, "v");
  Field<Value> w(tiling, "w");
  const Whole first(is_periodic);
  for (Field<Value>* field : {&u, &v, &w})
    field->fill(first);
  {
    sorrel::Graph g(over_mpi(MPI_COMM_WORLD));
    const auto smooth = [=](const KeyBox& cells, auto from, auto to) {
      for_cells(cells, [&](Index i, Index j, Index k) { to(i, j, k) = stencil(from, i, j, k); });
    };
    g.over(tiling, "there").reads(u, footprint).writes(w).run(smooth);
    g.over(tiling, "on").reads(w, footprint).writes(v).run(smooth);
    g.rotate(u, v);
    // An odd number first, so that the fields have rotated when the graph runs again.
    const Index part = options.steps / 2 | 1;
    g.run({.steps = part});
    g.run({.steps = options.steps - part});
  }
  const Whole right = by_loop(options.steps, is_periodic, stencil);
  int wrong = 0;
  for_cells(tiling.block(), [&](Index i, Index j, Index k) {
    if (u(i, j, k) != right(i, j, k)) ++wrong;
  });
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 5) return 2;
  Options options{{std::atol(argv[1]), std::atol(argv[2]), std::atol(argv[3])}, std::atol(argv[4])};
  bool is_box = false;
  for (int i = 5; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "periodic") options.is_periodic = true;
    if (word == "box") is_box = true;
    if (word == "plain") options.says_who_is_near = false;
  }
  const auto along = [](const auto& u, Index i, Index j, Index k) { return around(u, i, j, k); };
  const auto all = [](const auto& u, Index i, Index j, Index k) { return all_around(u, i, j, k); };
  const int wrong =
      is_box ? count_wrong(options, box(1), all) : count_wrong(options, star(1), along);
  int rank = 0;
  int all_wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d wrong\n", all_wrong);
  MPI_Finalize();
  return all_wrong == 0 ? 0 : 1;
}
