#include "level.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include <sorrel/graph.hpp>
#include <sorrel/graph/over_mpi.hpp>
#include <sorrel/grid/halo_tasks.hpp>

namespace {

constexpr double damping = 6.0 / 7;
constexpr std::int64_t cells_per_tile = 1 << 15;

[[noreturn]] void stop(const std::string& trouble) {
  std::fprintf(stderr, "multigrid: %s\n", trouble.c_str());
  MPI_Abort(MPI_COMM_WORLD, 2);
  std::abort();
}

// Cuts some layers off one end of a box; what is cut off is returned.
sorrel::Box<3> cut_off(sorrel::Box<3>& box,
                       std::size_t dimension,
                       bool is_high,
                       std::int64_t width) {
  sorrel::Box<3> part = box;
  width = std::min(width, box.extent(dimension));
  if (is_high)
    box.hi[dimension] = part.lo[dimension] = part.hi[dimension] - width;
  else
    box.lo[dimension] = part.hi[dimension] = part.lo[dimension] + width;
  return part;
}

sorrel::Box<3> block_of(MPI_Comm comm, const grid::Problem& problem, const grid::Cut& cut) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return grid::block_at(problem, cut.grid, grid::coords_of(rank, cut.grid, cut.brick));
}

}  // namespace

grid::Problem problem_of_level(std::int64_t n, std::int64_t grain) {
  grid::Problem problem;
  problem.extents = {n, n, n};
  problem.grain = grain;
  problem.element_bytes = sizeof(Cell);
  // Interpolation looks around corners.
  problem.stencil = grid::Stencil::box;
  problem.flops_per_cell = 20;
  problem.bytes_per_cell = 4 * sizeof(Cell);
  return problem;
}

Level::Level(MPI_Comm comm, std::int64_t n, std::int64_t grain, const grid::Cut& cut)
    : u(block_of(comm, problem_of_level(n, grain), cut).extents()),
      f(block_of(comm, problem_of_level(n, grain), cut).extents()),
      n_(n),
      problem_(problem_of_level(n, grain)),
      comm_(comm),
      cut_(cut),
      block_(block_of(comm, problem_, cut)),
      r_(block_.extents()) {
  const grid::ArrayView view = u.view();
  auto halo = grid::Halo::make(comm, problem_, cut, {&view, 1});
  if (!halo.has_value()) stop(halo.error());
  halo_ = std::move(halo).value();
}

void Level::fill_ghosts() {
  halo_->exchange();
  reflect_all();
}

void Level::reflect_all() {
  for (std::size_t d = 0; d < 3; ++d) {
    if (block_.lo[d] == 0) reflect(d, false);
    if (block_.hi[d] == n_) reflect(d, true);
  }
}

// Ghosts of the earlier dimensions are included, so edges and corners are right after the third.
void Level::reflect(std::size_t dimension, bool is_high) {
  const grid::Extents room{block_.extent(0) + 2, block_.extent(1) + 2, block_.extent(2) + 2};
  const std::int64_t inside = is_high ? block_.extent(dimension) : 1;
  const std::int64_t outside = is_high ? inside + 1 : 0;
  grid::Extents end = room;
  end[dimension] = 1;
  for (std::int64_t x = 0; x < end[0]; ++x)
    for (std::int64_t y = 0; y < end[1]; ++y)
      for (std::int64_t z = 0; z < end[2]; ++z) {
        std::array<std::int64_t, 3> to{x, y, z};
        std::array<std::int64_t, 3> from{x, y, z};
        to[dimension] = outside;
        from[dimension] = inside;
        u(to[0], to[1], to[2]) = -u(from[0], from[1], from[2]);
      }
}

double Level::compute_residual() {
  fill_ghosts();
  return residual_within(whole());
}

double Level::residual_within(const sorrel::Box<3>& cells) {
  const double per_h2 = 1 / (h() * h());
  double sum = 0;
  each_cell(cells, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    const Cell neighbours = u(x - 1, y, z) + u(x + 1, y, z) + u(x, y - 1, z) + u(x, y + 1, z) +
                            u(x, y, z - 1) + u(x, y, z + 1);
    const Cell residual = f(x, y, z) - (6.0 * u(x, y, z) - neighbours) * per_h2;
    r_(x, y, z) = residual;
    sum += std::norm(residual);
  });
  return sum;
}

void Level::relax_within(const sorrel::Box<3>& cells) {
  const double step = damping * h() * h() / 6;
  each_cell(cells, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    u(x, y, z) += step * r_(x, y, z);
  });
}

void Level::smooth(int sweeps) {
  if (sweep_ != nullptr) {
    sweep_->run({.steps = sweeps});
    return;
  }
  for (int i = 0; i < sweeps; ++i) {
    compute_residual();
    relax_within(whole());
  }
}

// ---- a sweep as a graph
// ----------------------------------------------------------------------------------------

void Level::exchange_by(Exchange exchange) {
  sweep_.reset();
  if (exchange == Exchange::before) return;
  sweep_ = std::make_unique<sorrel::Graph>(sorrel::graph::over_mpi(comm_));
  inner_.clear();
  skin_.clear();
  sorrel::Box<3> rest = whole();
  for (std::size_t d = 0; d < 3; ++d)
    for (const bool is_high : {false, true})
      skin_.push_back(cut_off(rest, d, is_high, 1));
  const std::int64_t layer = std::max<std::int64_t>(1, rest.extent(1) * rest.extent(2));
  const std::int64_t width = std::max<std::int64_t>(1, cells_per_tile / layer);
  while (rest.extent(0) > 0)
    inner_.push_back(cut_off(rest, 0, false, width));
  make_sweep(*sweep_);
}

// The inner residual needs no ghosts and is computed while they are in flight; the skin's residual
// needs them. No cell is relaxed before all residuals are computed and the block's faces have left.
void Level::make_sweep(sorrel::Graph& graph) {
  using sorrel::graph::everything;
  using sorrel::graph::Index;
  int rank = 0;
  MPI_Comm_rank(comm_, &rank);
  const grid::ArrayView view = u.view();
  const auto halo = grid::HaloTasks::add(
      graph, {.problem = problem_, .cut = cut_, .rank = rank, .fields = {&view, 1}});
  if (!halo.has_value()) stop(halo.error());

  auto inner = graph.family("residual within", {static_cast<Index>(inner_.size())});
  inner.body([this](Index i) { (void)residual_within(inner_[static_cast<std::size_t>(i)]); });
  auto reflect = graph.family("reflect", {1});
  reflect.body([this] { reflect_all(); });
  halo.value().fill_before(reflect);
  // Faces include ghosts that it writes.
  halo.value().leave_before(reflect);
  auto skin = graph.family("residual of the skin", {static_cast<Index>(skin_.size())});
  skin.body([this](Index i) { (void)residual_within(skin_[static_cast<std::size_t>(i)]); });
  skin.after(reflect, everything);

  const auto relax = [&](const char* name, const std::vector<sorrel::Box<3>>& parts) {
    auto family = graph.family(name, {static_cast<Index>(parts.size())});
    family.body([this, &parts](Index i) { relax_within(parts[static_cast<std::size_t>(i)]); });
    family.after(inner, everything).after(skin, everything);
    halo.value().leave_before(family);
  };
  relax("relax within", inner_);
  relax("relax the skin", skin_);
}

void Level::restrict_to(Level& coarse) {
  compute_residual();
  coarse.u.clear();
  coarse.each_cell([&](std::int64_t x, std::int64_t y, std::int64_t z) {
    Cell sum{};
    for (const std::int64_t i : {2 * x - 1, 2 * x})
      for (const std::int64_t j : {2 * y - 1, 2 * y})
        for (const std::int64_t k : {2 * z - 1, 2 * z})
          sum += r_(i, j, k);
    coarse.f(x, y, z) = sum / 8.0;
  });
}

void Level::correct_by(Level& coarse) {
  coarse.fill_ghosts();
  each_cell([&](std::int64_t x, std::int64_t y, std::int64_t z) {
    // In each dimension three quarters of the cell above, one quarter of that one's neighbour.
    const std::int64_t near[3] = {(x + 1) / 2, (y + 1) / 2, (z + 1) / 2};
    const std::int64_t far[3] = {near[0] + (x % 2 == 0 ? 1 : -1), near[1] + (y % 2 == 0 ? 1 : -1),
                                 near[2] + (z % 2 == 0 ? 1 : -1)};
    Cell sum{};
    for (int corner = 0; corner < 8; ++corner) {
      double weight = 1;
      std::int64_t at[3];
      for (int d = 0; d < 3; ++d) {
        const bool is_far = (corner >> d & 1) != 0;
        at[d] = is_far ? far[d] : near[d];
        weight *= is_far ? 0.25 : 0.75;
      }
      sum += weight * coarse.u(at[0], at[1], at[2]);
    }
    u(x, y, z) += sum;
  });
}
