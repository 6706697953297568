#include "mpi/comm/topology/reorder.hpp"

#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>

#include <sorrel/grid/plan.hpp>

#include "mpi/comm/world.hpp"

namespace sorrel::mpi {
namespace {

// The problem that the hint describes, if it has as many extents as the grid has dimensions and
// every rank gets cells.
std::optional<grid::Problem> read_hint(std::string_view text, const CartTopology& cart) {
  grid::Problem problem;
  for (int d = 0; d < cart.dimension_count(); ++d) {
    const auto index = static_cast<std::size_t>(d);
    const char* const end = text.data() + text.size();
    const auto [next, error] = std::from_chars(text.data(), end, problem.extents[index]);
    const bool is_last = d + 1 == cart.dimension_count();
    if (error != std::errc() || (next == end) != is_last || (!is_last && *next != ','))
      return std::nullopt;
    if (problem.extents[index] < cart.extent(d)) return std::nullopt;
    problem.is_periodic[index] = cart.is_periodic(d);
    text.remove_prefix(static_cast<std::size_t>(next - text.data()) + (is_last ? 0 : 1));
  }
  if (!grid::check(problem)) return std::nullopt;
  return problem;
}

// Ranks of each worker, if the communicator's ranks fill them evenly and in order; else 0.
int ranks_per_worker(const Comm& comm) {
  // Ranks that are spawned are in no block.
  if (comm.shared->world().may_spawn()) return 0;
  const auto worker_of = [&](int rank) {
    return comm.shared->world().layout().endpoint_of(comm.shared->group()->world_rank(rank));
  };
  int count = 1;
  while (count < comm.size() && worker_of(count) == worker_of(0))
    ++count;
  for (int rank = count; rank < comm.size(); ++rank) {
    const bool is_first = rank % count == 0;
    if ((worker_of(rank) != worker_of(rank - 1)) != is_first) return 0;
  }
  return count;
}

}  // namespace

int reordered_rank(const Comm& comm, const CartTopology& cart) {
  const std::string* hint = comm.info == nullptr ? nullptr : comm.info->find(grid_extents_hint);
  if (hint == nullptr || cart.dimension_count() < 1 ||
      cart.dimension_count() > grid::dimension_count_max)
    return comm.rank;
  const auto problem = read_hint(*hint, cart);
  const int group = ranks_per_worker(comm);
  if (!problem || group == 0) return comm.rank;
  grid::ProcessGrid grid{1, 1, 1};
  for (int d = 0; d < cart.dimension_count(); ++d)
    grid[static_cast<std::size_t>(d)] = cart.extent(d);
  const grid::ProcessGrid brick = grid::brick_of_least_surface(*problem, grid, group);
  // The grid as its own brick is the row-major order of a Cartesian communicator.
  return grid::rank_of(grid::coords_of(comm.rank, grid, brick), grid, grid);
}

}  // namespace sorrel::mpi
