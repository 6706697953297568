// How fast a processor updates cells: arithmetic, memory levels, the start of a row, the skin.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "grid/measure/large_pages.hpp"
#include "grid/measure/probes.hpp"
#include "grid/measure/sweep.hpp"

namespace sorrel::grid {
namespace {

/// Two arrays with ghosts, swept from one into the other and back.
class Swept {
 public:
  explicit Swept(const Extents& cells, int color = 0) : cells_(cells) {
    const Extents room{cells[0] + 2, cells[1] + 2, cells[2] + 2};
    const auto bytes = sizeof(double) * static_cast<std::size_t>(room[0] * room[1] * room[2]);
    for (std::size_t i = 0; i < 2; ++i) {
      memory_[i] = LargePages(bytes, 2 * color + static_cast<int>(i));
      std::memset(memory_[i].bytes().data(), 0, bytes);
      views_[i] = dense_view(memory_[i].bytes().data(), room, sizeof(double), MemoryOrder::c);
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
  LargePages memory_[2];
  ArrayView views_[2];
};

constexpr std::int64_t small_plane_bytes = 8 << 10;

// A block with planes of about so many bytes, ghosts included, whose two arrays take so many. Rows
// are about as long as a plane is high, and none is short.
Extents block_of(std::int64_t plane_bytes, std::int64_t set_bytes) {
  std::int64_t row = 64;
  while ((row + 2) * (row + 2) * 8 * 3 / 2 < plane_bytes)
    row *= 2;
  const std::int64_t rows = std::max<std::int64_t>(plane_bytes / 8 / (row + 2) - 2, 1);
  const std::int64_t planes = set_bytes / 2 / 8 / (row + 2) / (rows + 2) - 2;
  return {std::max<std::int64_t>(planes, 1), rows, row};
}

double cells_of(const Extents& block) {
  return static_cast<double>(block[0] * block[1] * block[2]);
}

double rows_of(const Extents& block) {
  return static_cast<double>(block[0] * block[1]);
}

double ghosts_of(const Extents& block) {
  return cells_of({block[0] + 2, block[1] + 2, block[2] + 2}) - cells_of(block);
}

// Seconds of one sweep, on all processors at once, of so many equal blocks one after the other; few
// cells are swept often enough for the clock to tell.
double sweep_s(const Party& party,
               const Extents& cells,
               int repeat_count = 9,
               int block_count = 1) {
  double seconds = 0;
  if (party.is_first_of_processor()) {
    std::vector<Swept> blocks;
    for (int i = 0; i < block_count; ++i)
      blocks.emplace_back(cells, i);
    const double cell_count = cells_of(cells) * block_count;
    const int sweeps = std::max(1, static_cast<int>(1e6 / cell_count));
    seconds = least_seconds_together(party, repeat_count,
                                     [&] {
                                       for (int i = 0; i < sweeps; ++i)
                                         for (Swept& block : blocks)
                                           block.whole();
                                     }) /
              sweeps;
  }
  return party.largest(seconds);
}

// The same number of cells in short and in long rows, in planes of the same size.
double row_start_s(const Party& party) {
  constexpr Extents long_rows{64, 16, 64};
  constexpr Extents short_rows{64, 64, 16};
  const double difference = sweep_s(party, short_rows) - sweep_s(party, long_rows);
  return std::max(0.0, difference / (rows_of(short_rows) - rows_of(long_rows)));
}

// The same number of cells in thin blocks, which have many ghosts, and in thick ones.
double ghost_share(const Party& party, double row_start_s) {
  constexpr Extents thin{8, 32, 64};
  constexpr Extents thick{64, 32, 64};
  constexpr int thick_count = 4;
  constexpr int thin_count = thick_count * 8;
  const double cells = thick_count * cells_of(thick);
  const double thin_s = sweep_s(party, thin, 15, thin_count);
  const double thick_s = sweep_s(party, thick, 15, thick_count);
  const double thin_ghosts = thin_count * ghosts_of(thin) / cells;
  const double thick_ghosts = thick_count * ghosts_of(thick) / cells;
  // thin_s / thick_s = (1 + share * thin_ghosts) / (1 + share * thick_ghosts), without the rows,
  // which are as many.
  const double rows_s = thick_count * rows_of(thick) * row_start_s;
  const double ratio = (thin_s - rows_s) / (thick_s - rows_s);
  return std::clamp((ratio - 1) / (thin_ghosts - ratio * thick_ghosts), 0.0, 3.0);
}

// ---- memory
// ----------------------------------------------------------------------------------------

void probe_memory(const Party& party, Machine& machine) {
  for (std::int64_t set = 1 << 20; set <= party.large_set_bytes; set *= set < 1 << 24 ? 4 : 2) {
    const Extents block = block_of(small_plane_bytes, set);
    const double seconds = sweep_s(party, block) - rows_of(block) * machine.row_start_s;
    const double bytes =
        sweep_bytes_per_cell * (cells_of(block) + machine.ghost_share * ghosts_of(block));
    machine.memory.push_back(
        {.size_bytes = set, .bytes_per_second = bytes / std::max(seconds, 1e-9)});
  }
  for (const std::int64_t set :
       {std::int64_t{1} << 20, std::int64_t{1} << 24, machine.memory.back().size_bytes}) {
    const auto level =
        std::find_if(machine.memory.begin(), machine.memory.end(),
                     [&](const MemoryLevel& candidate) { return candidate.size_bytes == set; });
    const bool is_new = machine.planes.empty() || machine.planes.back().set_bytes < set;
    if (level == machine.memory.end() || !is_new) continue;
    for (std::int64_t plane = small_plane_bytes; plane * 16 <= set && plane <= 4 << 20;
         plane *= 2) {
      const Extents block = block_of(plane, set);
      const double streamed_s = sweep_bytes_per_cell *
                                (cells_of(block) + machine.ghost_share * ghosts_of(block)) /
                                level->bytes_per_second;
      const double rows_s = rows_of(block) * machine.row_start_s;
      const double slowdown = (sweep_s(party, block, set > 1 << 24 ? 5 : 25) - rows_s) / streamed_s;
      machine.planes.push_back(
          {.plane_bytes = plane, .set_bytes = set, .slowdown = std::clamp(slowdown, 0.5, 1e3)});
    }
  }
  // Larger planes make nothing faster: where they seem to, the smaller ones' time was disturbed.
  for (std::size_t i = machine.planes.size(); i-- > 1;)
    if (machine.planes[i - 1].set_bytes == machine.planes[i].set_bytes)
      machine.planes[i - 1].slowdown =
          std::min(machine.planes[i - 1].slowdown, machine.planes[i].slowdown);
  machine.memory.back().size_bytes = 0;
}

// ---- the skin
// --------------------------------------------------------------------------------------

/// Seconds of an update in one go, with the faces first, with the rows' ends first.
struct SkinTimes {
  double whole_s = 1e9;
  double faces_s = 1e9;
  double ends_s = 1e9;
};

SkinTimes time_skin(const Party& party, Swept& swept) {
  SkinTimes times;
  for (int i = 0; i < 12; ++i) {
    const auto keep_least = [&](double& least, auto&& body) {
      least = std::min(least, least_seconds_together(party, 1, body));
    };
    keep_least(times.whole_s, [&] { swept.whole(); });
    keep_least(times.faces_s, [&] { swept.faces_and_rest(); });
    keep_least(times.ends_s, [&] { swept.row_ends_and_rest(); });
  }
  return times;
}

// What it costs to update faces apart: those along the rows for each cell, those across for each
// row. The mean of blocks that a cache holds and of such that it does not.
void probe_skin(const Party& party, Machine& machine) {
  double penalty = 0;
  double row_end_s = 0;
  if (party.is_first_of_processor()) {
    for (const std::int64_t side : {40, 64, 128}) {
      Swept swept({side, side, side});
      const SkinTimes times = time_skin(party, swept);
      penalty += std::max(0.0, times.faces_s - times.whole_s) / times.whole_s * swept.cell_count() /
                 swept.skin_count() / 3;
      row_end_s += std::max(0.0, times.ends_s - times.whole_s) / 2 / swept.row_count() / 3;
    }
  }
  machine.skin_penalty = party.largest(penalty);
  machine.row_end_s = party.largest(row_end_s);
}

}  // namespace

void probe_computing(const Party& party, Machine& machine) {
  constexpr Extents tiny{3, 3, 256};
  machine.flops_per_second = sweep_flops_per_cell * cells_of(tiny) / sweep_s(party, tiny);
  machine.row_start_s = row_start_s(party);
  machine.ghost_share = ghost_share(party, machine.row_start_s);
  probe_skin(party, machine);
  probe_memory(party, machine);
}

}  // namespace sorrel::grid
