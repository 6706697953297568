#include "gather.hpp"

#include <vector>

namespace {

/// Every rank's number of doubles, and where they begin, when blocks follow each other by rank.
struct Layout {
  std::vector<int> counts;
  std::vector<int> places;
  int total = 0;
};

sorrel::Box<3> block_of_rank(const Level& level, int rank) {
  const grid::Cut& cut = level.cut();
  return grid::block_at(level.problem(), cut.grid, grid::coords_of(rank, cut.grid, cut.brick));
}

Layout layout_of(MPI_Comm comm, const Level& level) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  Layout layout;
  for (int rank = 0; rank < size; ++rank) {
    const grid::Extents extents = block_of_rank(level, rank).extents();
    layout.counts.push_back(static_cast<int>(2 * extents[0] * extents[1] * extents[2]));
    layout.places.push_back(layout.total);
    layout.total += layout.counts.back();
  }
  return layout;
}

// visit(cell of the whole grid's field), in the order of the messages.
template <class Visit>
void each_cell_by_rank(MPI_Comm comm, const Level& level, Field& whole, Visit&& visit) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  for (int rank = 0; rank < size; ++rank) {
    // The field has one ghost before the first cell.
    for (const auto& [x, y, z] : block_of_rank(level, rank))
      visit(whole(x + 1, y + 1, z + 1));
  }
}

}  // namespace

void gather_right_side(MPI_Comm comm, Level& level, Level* whole) {
  const Layout layout = layout_of(comm, level);
  std::vector<Cell> mine;
  level.each_cell(
      [&](std::int64_t x, std::int64_t y, std::int64_t z) { mine.push_back(level.f(x, y, z)); });
  std::vector<Cell> all(whole == nullptr ? 0 : static_cast<std::size_t>(layout.total) / 2);
  MPI_Gatherv(mine.data(), static_cast<int>(2 * mine.size()), MPI_DOUBLE, all.data(),
              layout.counts.data(), layout.places.data(), MPI_DOUBLE, 0, comm);
  if (whole == nullptr) return;
  auto next = all.begin();
  each_cell_by_rank(comm, level, whole->f, [&](Cell& cell) { cell = *next++; });
  whole->u.clear();
}

void scatter_solution(MPI_Comm comm, Level* whole, Level& level) {
  const Layout layout = layout_of(comm, level);
  std::vector<Cell> all;
  if (whole != nullptr)
    each_cell_by_rank(comm, level, whole->u, [&](Cell& cell) { all.push_back(cell); });
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  std::vector<Cell> mine(static_cast<std::size_t>(layout.counts[static_cast<std::size_t>(rank)]) /
                         2);
  MPI_Scatterv(all.data(), layout.counts.data(), layout.places.data(), MPI_DOUBLE, mine.data(),
               static_cast<int>(2 * mine.size()), MPI_DOUBLE, 0, comm);
  auto next = mine.begin();
  level.each_cell(
      [&](std::int64_t x, std::int64_t y, std::int64_t z) { level.u(x, y, z) = *next++; });
}
