// Speed of a processor's cell updates: arithmetic, memory levels, the start of a row, the skin.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "grid/measure/large_pages.hpp"
#include "grid/measure/probes.hpp"
#include "grid/measure/sweep.hpp"

namespace sorrel::grid {
namespace {

Extents with_ghosts(const Extents& cells) {
  return {cells[0] + 2, cells[1] + 2, cells[2] + 2};
}

double cells_of(const Extents& block) {
  return static_cast<double>(block[0] * block[1] * block[2]);
}

double rows_of(const Extents& block) {
  return static_cast<double>(block[0] * block[1]);
}

double ghosts_of(const Extents& block) {
  return cells_of(with_ghosts(block)) - cells_of(block);
}

/// Two arrays with ghosts; sweeps from one into the other and back.
class Swept {
 public:
  explicit Swept(const Extents& cells, int color = 0) : Swept(std::vector{cells}, color) {}

  /// One allocation for blocks of several shapes; the first is active.
  explicit Swept(const std::vector<Extents>& shapes, int color = 0) {
    double cell_count = 0;
    for (const Extents& cells : shapes)
      cell_count = std::max(cell_count, cells_of(with_ghosts(cells)));
    const auto bytes = sizeof(double) * static_cast<std::size_t>(cell_count);
    for (std::size_t i = 0; i < 2; ++i) {
      memory_[i] = LargePages(bytes, 2 * color + static_cast<int>(i));
      std::memset(memory_[i].bytes().data(), 0, bytes);
    }
    shape(shapes.front());
  }

  void shape(const Extents& cells) {
    cells_ = cells;
    for (std::size_t i = 0; i < 2; ++i)
      views_[i] =
          dense_view(memory_[i].bytes().data(), with_ghosts(cells), sizeof(double), MemoryOrder::c);
  }

  [[nodiscard]] double cell_count() const { return cells_of(cells_); }

  [[nodiscard]] double row_count() const { return rows_of(cells_); }

  /// Number of cells in the faces across dimensions 0 and 1.
  [[nodiscard]] double skin_count() const {
    return cell_count() - static_cast<double>((cells_[0] - 2) * (cells_[1] - 2) * cells_[2]);
  }

  void whole() {
    update(Box<3>::at({1, 1, 1}, cells_));
    std::swap(views_[0], views_[1]);
  }

  /// The update of whole() with the faces first.
  void faces_and_rest() {
    const auto [x, y, z] = cells_;
    update(Box<3>::at({1, 1, 1}, {1, y, z}));
    update(Box<3>::at({x, 1, 1}, {1, y, z}));
    update(Box<3>::at({2, 1, 1}, {x - 2, 1, z}));
    update(Box<3>::at({2, y, 1}, {x - 2, 1, z}));
    update(Box<3>::at({2, 2, 1}, {x - 2, y - 2, z}));
    std::swap(views_[0], views_[1]);
  }

  /// The update of whole() with the two ends of each row first.
  void row_ends_and_rest() {
    const auto [x, y, z] = cells_;
    update(Box<3>::at({1, 1, 1}, {x, y, 1}));
    update(Box<3>::at({1, 1, z}, {x, y, 1}));
    update(Box<3>::at({1, 1, 2}, {x, y, z - 2}));
    std::swap(views_[0], views_[1]);
  }

 private:
  void update(const Box<3>& box) { sweep(views_[0], views_[1], box); }

  Extents cells_;
  LargePages memory_[2];
  ArrayView views_[2];
};

constexpr std::int64_t smallest_plane_bytes = 8 << 10;
constexpr std::int64_t usual_plane_bytes = 128 << 10;
constexpr std::int64_t row_cells = 128;

// A block with planes of about `plane_bytes`, ghosts included, whose two arrays take `set_bytes`.
Extents block_of(std::int64_t plane_bytes, std::int64_t set_bytes) {
  const std::int64_t rows = std::max<std::int64_t>(plane_bytes / 8 / (row_cells + 2) - 2, 1);
  const std::int64_t planes = set_bytes / 2 / 8 / (row_cells + 2) / (rows + 2) - 2;
  return {std::max<std::int64_t>(planes, 1), rows, row_cells};
}

// A number of equal blocks, swept one after the other.
struct Batch {
  Extents cells;
  int block_count;
};

// Seconds of a sweep of each batch, on all processors at once. The batches alternate, so that a
// slow phase of a processor affects all of them. Small batches are swept repeatedly, because of the
// clock's resolution.
std::vector<double> sweeps_s(const ProbeContext& context,
                             const std::vector<Batch>& batches,
                             int repeat_count) {
  std::vector<double> least_s(batches.size(), 0);
  if (context.is_first_of_processor()) {
    std::vector<std::vector<Swept>> blocks(batches.size());
    for (std::size_t i = 0; i < batches.size(); ++i)
      for (int color = 0; color < batches[i].block_count; ++color)
        blocks[i].emplace_back(batches[i].cells, color);
    least_s.assign(batches.size(), 1e9);
    for (int repeat = 0; repeat < repeat_count; ++repeat) {
      for (std::size_t i = 0; i < batches.size(); ++i) {
        const double cell_count = cells_of(batches[i].cells) * batches[i].block_count;
        const int sweeps = std::max(1, static_cast<int>(2e5 / cell_count));
        const double seconds = least_seconds_together(context, 1, [&] {
          for (int sweep = 0; sweep < sweeps; ++sweep)
            for (Swept& block : blocks[i])
              block.whole();
        });
        least_s[i] = std::min(least_s[i], seconds / sweeps);
      }
    }
  }
  for (double& seconds : least_s)
    seconds = context.largest(seconds);
  return least_s;
}

constexpr int turn_count = 25;
constexpr Extents tiny{3, 3, 256};

// Equal numbers of cells in short and in long rows, in planes of one size.
double row_start_s(const ProbeContext& context) {
  constexpr Extents long_rows{64, 16, 64};
  constexpr Extents short_rows{64, 64, 16};
  const auto seconds = sweeps_s(context, {{short_rows, 1}, {long_rows, 1}}, turn_count);
  return std::max(0.0, (seconds[0] - seconds[1]) / (rows_of(short_rows) - rows_of(long_rows)));
}

// Equal numbers of cells in thin blocks, with many ghosts, and in thick ones: so many that memory
// limits the speed, if it ever does. A ghost is only read, a cell is also written: a ghost that
// seems to take longer than a cell is a measurement error.
double ghost_share(const ProbeContext& context, double row_start_s) {
  constexpr Extents thin{8, 32, 64};
  constexpr Extents thick{64, 32, 64};
  const int thick_count =
      static_cast<int>(std::clamp<std::int64_t>(context.large_set_bytes >> 24, 1, 16));
  const int thin_count = thick_count * 8;
  const double cells = thick_count * cells_of(thick);
  const auto seconds = sweeps_s(context, {{thin, thin_count}, {thick, thick_count}}, turn_count);
  const double thin_ghosts = thin_count * ghosts_of(thin) / cells;
  const double thick_ghosts = thick_count * ghosts_of(thick) / cells;
  // thin / thick = (1 + share * thin_ghosts) / (1 + share * thick_ghosts), without the rows, whose
  // number is the same.
  const double rows_s = thick_count * rows_of(thick) * row_start_s;
  if (seconds[1] <= rows_s) return 0;
  const double ratio = (seconds[0] - rows_s) / (seconds[1] - rows_s);
  return std::clamp((ratio - 1) / (thin_ghosts - ratio * thick_ghosts), 0.0, 1.0);
}

// ---- memory
// ----------------------------------------------------------------------------------------

// Seconds per cell in blocks of one set, with planes of several sizes; the blocks alternate in one
// allocation. Times of ghosts and of row starts are subtracted.
std::vector<double> cell_seconds(const ProbeContext& context,
                                 const std::vector<Extents>& blocks,
                                 const Machine& machine) {
  std::vector<double> least_s(blocks.size(), 0);
  if (context.is_first_of_processor()) {
    Swept swept(blocks);
    least_s.assign(blocks.size(), 1e9);
    const int rounds = cells_of(blocks[0]) > 2e6 ? 6 : turn_count;
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t i = 0; i < blocks.size(); ++i) {
        swept.shape(blocks[i]);
        const int sweeps = std::max(1, static_cast<int>(2e5 / cells_of(blocks[i])));
        const double seconds = least_seconds_together(context, 1,
                                                      [&] {
                                                        for (int sweep = 0; sweep < sweeps; ++sweep)
                                                          swept.whole();
                                                      }) /
                               sweeps;
        least_s[i] = std::min(least_s[i], seconds);
      }
    }
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const double seconds = context.largest(least_s[i]) - rows_of(blocks[i]) * machine.row_start_s;
    least_s[i] = std::max(seconds, 1e-9) /
                 (cells_of(blocks[i]) + machine.ghost_share * ghosts_of(blocks[i]));
  }
  return least_s;
}

// Measured times of equally fast blocks differ by this share.
double slowdown_of(double ratio) {
  constexpr double scatter = 0.03;
  return ratio < 1 + scatter ? 1 : std::min(ratio, 1e3);
}

// The best planes of a set give the speed of memory, the other planes their slowdown: large planes
// do not stay in a near cache, and small ones interrupt streaming too often.
void probe_memory(const ProbeContext& context, Machine& machine) {
  for (std::int64_t set = 1 << 20; set <= context.large_set_bytes; set *= set < 1 << 24 ? 4 : 2) {
    const bool is_last = set * 2 > context.large_set_bytes;
    std::vector<std::int64_t> planes{std::min(usual_plane_bytes, set / 16)};
    if (set == 1 << 20 || set == 1 << 24 || is_last) {
      planes = {smallest_plane_bytes};
      while (planes.back() * 32 <= set && planes.back() < 4 << 20)
        planes.push_back(2 * planes.back());
    }
    std::vector<Extents> blocks;
    for (const std::int64_t plane : planes)
      blocks.push_back(block_of(plane, set));
    const std::vector<double> cell_s = cell_seconds(context, blocks, machine);
    const double least_s = *std::min_element(cell_s.begin(), cell_s.end());
    machine.memory.push_back(
        {.size_bytes = set, .bytes_per_second = sweep_bytes_per_cell / least_s});
    for (std::size_t i = 0; i < planes.size() && planes.size() > 1; ++i)
      machine.planes.push_back({.plane_bytes = planes[i],
                                .set_bytes = set,
                                .slowdown = slowdown_of(cell_s[i] / least_s)});
  }
  machine.memory.back().size_bytes = 0;
}

// ---- the skin
// --------------------------------------------------------------------------------------

/// Seconds of an update in one pass, with the faces first, and with the rows' ends first.
struct SkinTimes {
  double whole_s = 1e9;
  double faces_s = 1e9;
  double ends_s = 1e9;
};

SkinTimes time_skin(const ProbeContext& context, Swept& swept) {
  SkinTimes times;
  const int count = std::clamp(static_cast<int>(2e7 / swept.cell_count()), 10, 100);
  for (int i = 0; i < count; ++i) {
    const auto keep_least = [&](double& least, auto&& body) {
      least = std::min(least, least_seconds_together(context, 1, body));
    };
    keep_least(times.whole_s, [&] { swept.whole(); });
    keep_least(times.faces_s, [&] { swept.faces_and_rest(); });
    keep_least(times.ends_s, [&] { swept.row_ends_and_rest(); });
  }
  return times;
}

double middle_of(std::array<double, 3> values) {
  std::sort(values.begin(), values.end());
  return values[1];
}

// Cost of updating faces separately: of those along the rows per cell, of those across per row. The
// median of blocks that fit a near cache, of blocks that fit a far one, and of blocks that fit
// none.
void probe_skin(const ProbeContext& context, Machine& machine) {
  std::array<double, 3> penalties{};
  std::array<double, 3> row_ends_s{};
  if (context.is_first_of_processor()) {
    constexpr std::array<std::int64_t, 3> sides{40, 64, 128};
    for (std::size_t i = 0; i < sides.size(); ++i) {
      Swept swept(Extents{sides[i], sides[i], sides[i]});
      const SkinTimes times = time_skin(context, swept);
      penalties[i] = std::max(0.0, times.faces_s - times.whole_s) / times.whole_s *
                     swept.cell_count() / swept.skin_count();
      row_ends_s[i] = std::max(0.0, times.ends_s - times.whole_s) / 2 / swept.row_count();
    }
  }
  machine.skin_penalty = context.largest(middle_of(penalties));
  machine.row_end_s = context.largest(middle_of(row_ends_s));
}

}  // namespace

std::vector<double> time_same_work(const ProbeContext& context) {
  std::vector<double> seconds;
  if (!context.is_first_of_processor()) return seconds;
  Swept swept(tiny);
  const int sweeps = static_cast<int>(2e5 / swept.cell_count());
  for (int turn = 0; turn < turn_count; ++turn)
    seconds.push_back(least_seconds_together(context, 1, [&] {
      for (int sweep = 0; sweep < sweeps; ++sweep)
        swept.whole();
    }));
  return seconds;
}

void probe_computing(const ProbeContext& context, Machine& machine) {
  machine.flops_per_second =
      sweep_flops_per_cell * cells_of(tiny) / sweeps_s(context, {{tiny, 1}}, turn_count)[0];
  machine.row_start_s = row_start_s(context);
  machine.ghost_share = ghost_share(context, machine.row_start_s);
  probe_skin(context, machine);
  probe_memory(context, machine);
}

}  // namespace sorrel::grid
