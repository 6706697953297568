// How fast a processor updates cells: arithmetic, memory levels, the start of a row, the skin.
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "grid/measure/probes.hpp"
#include "grid/measure/sweep.hpp"

namespace sorrel::grid {
namespace {

/// Two arrays with ghosts, swept from one into the other and back.
class Swept {
 public:
  explicit Swept(const Extents& cells) : cells_(cells) {
    const Extents room{cells[0] + 2, cells[1] + 2, cells[2] + 2};
    const auto count = static_cast<std::size_t>(room[0] * room[1] * room[2]);
    for (std::size_t i = 0; i < 2; ++i) {
      data_[i].assign(count, 1.0);
      views_[i] = dense_view(data_[i].data(), room, sizeof(double), MemoryOrder::c);
    }
  }

  [[nodiscard]] double cell_count() const {
    return static_cast<double>(cells_[0] * cells_[1] * cells_[2]);
  }

  [[nodiscard]] double row_count() const { return static_cast<double>(cells_[0] * cells_[1]); }

  /// Cells of the faces across dimensions 0 and 1.
  [[nodiscard]] double skin_count() const {
    return cell_count() - static_cast<double>((cells_[0] - 2) * (cells_[1] - 2) * cells_[2]);
  }

  void whole() {
    update({.first = {1, 1, 1}, .extents = cells_});
    std::swap(views_[0], views_[1]);
  }

  /// The same update with the faces first.
  void faces_and_rest() {
    const auto [x, y, z] = cells_;
    update({.first = {1, 1, 1}, .extents = {1, y, z}});
    update({.first = {x, 1, 1}, .extents = {1, y, z}});
    update({.first = {2, 1, 1}, .extents = {x - 2, 1, z}});
    update({.first = {2, y, 1}, .extents = {x - 2, 1, z}});
    update({.first = {2, 2, 1}, .extents = {x - 2, y - 2, z}});
    std::swap(views_[0], views_[1]);
  }

  /// The same update with the two ends of each row first.
  void row_ends_and_rest() {
    const auto [x, y, z] = cells_;
    update({.first = {1, 1, 1}, .extents = {x, y, 1}});
    update({.first = {1, 1, z}, .extents = {x, y, 1}});
    update({.first = {1, 1, 2}, .extents = {x, y, z - 2}});
    std::swap(views_[0], views_[1]);
  }

 private:
  void update(const Box& box) { sweep(views_[0], views_[1], box); }

  Extents cells_;
  std::vector<double> data_[2];
  ArrayView views_[2];
};

constexpr std::int64_t row_cells = 256;

// A block of rows whose two arrays take so many bytes.
Extents block_of(std::int64_t set_bytes) {
  const std::int64_t rows = set_bytes / 2 / 8 / row_cells;
  std::int64_t side = 1;
  while ((side + 1) * (side + 1) <= rows)
    ++side;
  return {side, side, row_cells};
}

// Seconds of one sweep; small blocks are swept often enough for the clock to tell.
double sweep_s(const Party& party, const Extents& cells) {
  double seconds = 0;
  if (party.is_first_of_processor()) {
    Swept swept(cells);
    const int sweeps = std::max(1, static_cast<int>(1e6 / swept.cell_count()));
    seconds = least_seconds(7,
                            [&] {
                              for (int i = 0; i < sweeps; ++i)
                                swept.whole();
                            }) /
              sweeps;
  }
  return party.largest(seconds);
}

double cells_of(const Extents& block) {
  return static_cast<double>(block[0] * block[1] * block[2]);
}

// The same number of cells in short and in long rows.
double row_start_s(const Party& party) {
  constexpr Extents long_rows{16, 16, 256};
  constexpr Extents short_rows{64, 64, 16};
  const double difference = sweep_s(party, short_rows) - sweep_s(party, long_rows);
  return std::max(0.0, difference / (64 * 64 - 16 * 16));
}

// What it costs to update faces apart: those along the rows for each cell, those across for each
// row.
void probe_skin(const Party& party, Machine& machine) {
  double penalty = 0;
  double row_end_s = 0;
  if (party.is_first_of_processor()) {
    Swept swept({96, 96, 96});
    const double whole_s = least_seconds(9, [&] { swept.whole(); });
    const double split_s = least_seconds(9, [&] { swept.faces_and_rest(); });
    const double ends_s = least_seconds(9, [&] { swept.row_ends_and_rest(); });
    penalty = (split_s - whole_s) / whole_s * swept.cell_count() / swept.skin_count();
    row_end_s = (ends_s - whole_s) / 2 / swept.row_count();
  }
  machine.skin_penalty = party.largest(std::max(0.0, penalty));
  machine.row_end_s = party.largest(std::max(0.0, row_end_s));
}

}  // namespace

void probe_computing(const Party& party, Machine& machine) {
  constexpr Extents tiny{3, 3, row_cells};
  machine.flops_per_second = sweep_flops_per_cell * cells_of(tiny) / sweep_s(party, tiny);
  machine.row_start_s = row_start_s(party);
  probe_skin(party, machine);
  for (std::int64_t set = 1 << 20; set <= party.large_set_bytes; set *= 4) {
    const Extents block = block_of(set);
    const double rows_s = static_cast<double>(block[0] * block[1]) * machine.row_start_s;
    const double seconds = std::max(sweep_s(party, block) - rows_s, 1e-9);
    machine.memory.push_back(
        {.size_bytes = set, .bytes_per_second = sweep_bytes_per_cell * cells_of(block) / seconds});
  }
  machine.memory.back().size_bytes = 0;
}

}  // namespace sorrel::grid
