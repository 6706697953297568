//! Reference for exchanges of ghosts: random problems, cuts and views, and the expected value of
//! every cell and ghost.
#pragma once

#include <cstring>
#include <vector>

#include <sorrel/grid/array_view.hpp>
#include <sorrel/grid/plan.hpp>

#include "base/prng.hpp"
#include "grid/plan/face.hpp"
#include "grid/plan/process_grids.hpp"
#include "unit/grid/random_problem.hpp"

namespace sorrel::grid {

inline constexpr double untouched = -1;

// The reference value of a cell of the whole grid, in a step.
inline double value_at(const Extents& cell, std::size_t field, std::int64_t step = 0) {
  return static_cast<double>(((cell[0] * 1000 + cell[1]) * 1000 + cell[2]) * 1000 + 10 * step) +
         static_cast<double>(field);
}

// One rank's fields: elements of some doubles, the first of which has the value, in arrays that may
// have a gap after each element.
class Fields {
 public:
  Fields(const Problem& problem, const Extents& room, std::int64_t gap_bytes) {
    const auto cells = static_cast<std::size_t>(cell_count(room));
    const std::int64_t spacing = problem.element_bytes + gap_bytes;
    for (int i = 0; i < problem.field_count; ++i) {
      memory_.emplace_back(cells * static_cast<std::size_t>(spacing));
      views_.push_back(dense_view(memory_.back().data(), room, spacing, problem.order));
      views_.back().element_bytes = problem.element_bytes;
    }
  }

  [[nodiscard]] const std::vector<ArrayView>& views() const { return views_; }

  void set(std::size_t field, const Extents& at, double value) {
    std::memcpy(views_[field].at(at), &value, sizeof value);
  }

  [[nodiscard]] double get(std::size_t field, const Extents& at) const {
    double value = 0;
    std::memcpy(&value, views_[field].at(at), sizeof value);
    return value;
  }

 private:
  std::vector<std::vector<std::byte>> memory_;
  std::vector<ArrayView> views_;
};

// Visits every cell of a block with its ghosts: its index in the array, the cell of the whole grid
// (wrapped), the number of dimensions in which it is a ghost, and whether it is in the grid.
template <class Visit>
void each_cell(const Problem& problem, const Box<3>& block, Visit&& visit) {
  const Extents room = padded(problem, block.extents());
  for (std::int64_t x = 0; x < room[0]; ++x)
    for (std::int64_t y = 0; y < room[1]; ++y)
      for (std::int64_t z = 0; z < room[2]; ++z) {
        const Extents at{x, y, z};
        Extents cell;
        int ghost_count = 0;
        bool is_inside = true;
        for (std::size_t d = 0; d < 3; ++d) {
          const std::int64_t ghosts = (room[d] - block.extent(d)) / 2;
          cell[d] = block.lo[d] + at[d] - ghosts;
          if (at[d] < ghosts || at[d] >= ghosts + block.extent(d)) ++ghost_count;
          if (cell[d] >= 0 && cell[d] < problem.extents[d]) continue;
          is_inside = is_inside && problem.is_periodic[d];
          cell[d] = (cell[d] + problem.extents[d]) % problem.extents[d];
        }
        visit(at, cell, ghost_count, is_inside);
      }
}

inline void fill(const Problem& problem, const Box<3>& block, Fields& fields) {
  each_cell(problem, block, [&](const Extents& at, const Extents& cell, int ghost_count, bool) {
    for (std::size_t f = 0; f < fields.views().size(); ++f)
      fields.set(f, at, ghost_count == 0 ? value_at(cell, f) : untouched);
  });
}

// The block's own cells, in a later step.
inline void update(const Problem& problem, const Box<3>& block, Fields& fields, std::int64_t step) {
  each_cell(problem, block, [&](const Extents& at, const Extents& cell, int ghost_count, bool) {
    for (std::size_t f = 0; f < fields.views().size() && ghost_count == 0; ++f)
      fields.set(f, at, value_at(cell, f, step));
  });
}

// Number of cells that differ from the reference.
inline int wrong_cells(const Problem& problem,
                       const Box<3>& block,
                       const Fields& fields,
                       std::int64_t step = 0) {
  int wrong = 0;
  each_cell(problem, block,
            [&](const Extents& at, const Extents& cell, int ghost_count, bool is_inside) {
              // A star stencil needs no edges and corners.
              if (ghost_count > 1 && problem.stencil == Stencil::star) return;
              for (std::size_t f = 0; f < fields.views().size(); ++f)
                if (fields.get(f, at) != (is_inside ? value_at(cell, f, step) : untouched)) ++wrong;
            });
  return wrong;
}

struct Setting {
  Problem problem;
  Cut cut;
  std::int64_t gap_bytes = 0;
};

inline Setting random_setting(Prng& prng, int rank_count) {
  Setting setting;
  setting.problem = random_problem(prng);
  setting.problem.element_bytes = std::int64_t{8} << prng.below(2);
  const int used = usable_ranks(
      setting.problem, static_cast<int>(1 + prng.below(static_cast<std::uint64_t>(rank_count))));
  const auto grids = process_grids(setting.problem, used);
  setting.cut.grid = grids[prng.below(grids.size())];
  setting.cut.brick = prng.below(2) == 0 ? setting.cut.grid : ProcessGrid{1, 1, 1};
  const auto faces = faces_of(setting.problem, setting.cut.grid);
  for (std::size_t d = 0; d < 3; ++d) {
    const Pack packs[] = {Pack::none, Pack::rows, Pack::blocked, Pack::datatype, Pack::direct};
    // As in a plan: only for faces that are one run.
    setting.cut.pack[d] = packs[prng.below(faces[d].direct_bytes > 0 ? 5 : 4)];
  }
  setting.gap_bytes = prng.below(3) == 0 ? 8 : 0;
  return setting;
}

// Description of a setting, for messages.
inline std::string text_of(const Setting& setting, int rank) {
  return text_of(setting.problem) + ", grid " + name_of(setting.cut.grid, setting.problem) +
         ", rank " + std::to_string(rank) + ", packs " + name_of(setting.cut.pack[0]) + " " +
         name_of(setting.cut.pack[1]) + " " + name_of(setting.cut.pack[2]);
}

}  // namespace sorrel::grid
