#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include <sorrel/grid/halo.hpp>
#include <sorrel/grid/verify.hpp>

#include "base/prng.hpp"
#include "grid/plan/face.hpp"
#include "grid/plan/process_grids.hpp"
#include "unit/grid/random_problem.hpp"
#include "unit/grid/simple_machine.hpp"
#include "unit/runtime/rank_run.hpp"

namespace sorrel::grid {
namespace {

constexpr double untouched = -1;

// What the plain reference holds at a cell of the whole grid.
double value_at(const Extents& cell, std::size_t field) {
  return static_cast<double>(((cell[0] * 1000 + cell[1]) * 1000 + cell[2]) * 10) +
         static_cast<double>(field);
}

// One rank's fields: elements of some doubles, of which the first holds the value, in arrays that
// may have a gap after each element.
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
// (wrapped), how many dimensions it is a ghost in, and whether it lies in the grid at all.
template <class Visit>
void each_cell(const Problem& problem, const Block& block, Visit&& visit) {
  const Extents room = padded(problem, block.extents);
  for (std::int64_t x = 0; x < room[0]; ++x)
    for (std::int64_t y = 0; y < room[1]; ++y)
      for (std::int64_t z = 0; z < room[2]; ++z) {
        const Extents at{x, y, z};
        Extents cell;
        int ghost_count = 0;
        bool is_inside = true;
        for (std::size_t d = 0; d < 3; ++d) {
          const std::int64_t ghosts = (room[d] - block.extents[d]) / 2;
          cell[d] = block.first[d] + at[d] - ghosts;
          if (at[d] < ghosts || at[d] >= ghosts + block.extents[d]) ++ghost_count;
          if (cell[d] >= 0 && cell[d] < problem.extents[d]) continue;
          is_inside = is_inside && problem.is_periodic[d];
          cell[d] = (cell[d] + problem.extents[d]) % problem.extents[d];
        }
        visit(at, cell, ghost_count, is_inside);
      }
}

void fill(const Problem& problem, const Block& block, Fields& fields) {
  each_cell(problem, block, [&](const Extents& at, const Extents& cell, int ghost_count, bool) {
    for (std::size_t f = 0; f < fields.views().size(); ++f)
      fields.set(f, at, ghost_count == 0 ? value_at(cell, f) : untouched);
  });
}

// Counts the cells that do not hold what the reference says.
int wrong_cells(const Problem& problem, const Block& block, const Fields& fields) {
  int wrong = 0;
  each_cell(problem, block,
            [&](const Extents& at, const Extents& cell, int ghost_count, bool is_inside) {
              // A star does without edges and corners.
              if (ghost_count > 1 && problem.stencil == Stencil::star) return;
              for (std::size_t f = 0; f < fields.views().size(); ++f)
                if (fields.get(f, at) != (is_inside ? value_at(cell, f) : untouched)) ++wrong;
            });
  return wrong;
}

struct Setting {
  Problem problem;
  Candidate cut;
  std::int64_t gap_bytes = 0;
};

Setting random_setting(Prng& prng, int rank_count) {
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
    // As a plan would: only faces that are one run.
    setting.cut.pack[d] = packs[prng.below(faces[d].direct_bytes > 0 ? 5 : 4)];
  }
  setting.gap_bytes = prng.below(3) == 0 ? 8 : 0;
  return setting;
}

class Halos : public test::RankTest {};

TEST_P(Halos, FillGhostsAsThePlainReferenceHasThem) {
  SCOPED_TRACE("SORREL_SEED=" + std::to_string(test_seed()));
  run([](int rank) {
    Prng prng(test_seed());
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < 40; ++round) {
      const Setting setting = random_setting(prng, size);
      const Problem& problem = setting.problem;
      Block block;
      if (rank < setting.cut.rank_count())
        block = block_at(problem, setting.cut.grid,
                         coords_of(rank, setting.cut.grid, setting.cut.brick));
      Fields fields(problem, padded(problem, block.extents), setting.gap_bytes);
      fill(problem, block, fields);
      Result<Halo> made = Halo::make(MPI_COMM_WORLD, problem, setting.cut, fields.views());
      ASSERT_TRUE(made.ok()) << made.trouble();
      Halo halo = std::move(made).value();
      if (round % 2 == 0) {
        halo.exchange();
      } else {
        halo.begin();
        halo.poll();
        halo.finish();
      }
      if (rank >= setting.cut.rank_count()) continue;
      EXPECT_EQ(wrong_cells(problem, block, fields), 0)
          << text_of(problem) << ", grid " << name_of(setting.cut.grid, problem) << ", rank "
          << rank << ", packs " << name_of(setting.cut.pack[0]) << " "
          << name_of(setting.cut.pack[1]) << " " << name_of(setting.cut.pack[2]);
    }
  });
}

TEST_P(Halos, WorkOverACommunicatorOfTheUsersOwn) {
  run([](int rank) {
    // Ranks in reverse order.
    MPI_Comm reversed = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    int place = 0;
    int size = 0;
    MPI_Comm_rank(reversed, &place);
    MPI_Comm_size(reversed, &size);
    Problem problem;
    problem.extents = {std::max(40, 2 * size), 6, 1};
    problem.is_periodic = {true, false, false};
    Candidate cut;
    cut.grid = cut.brick = {size, 1, 1};
    const Block block = block_at(problem, cut.grid, {place, 0, 0});
    Fields fields(problem, padded(problem, block.extents), 0);
    fill(problem, block, fields);
    Result<Halo> halo = Halo::make(reversed, problem, cut, fields.views());
    ASSERT_TRUE(halo.ok()) << halo.trouble();
    Halo ready = std::move(halo).value();
    MPI_Comm_free(&reversed);
    ready.exchange();
    EXPECT_EQ(wrong_cells(problem, block, fields), 0);
  });
}

INSTANTIATE_TEST_SUITE_P(Shapes, Halos, test::all_shapes(), test::name_of);

TEST(Halo, RefusesWhatDoesNotFit) {
  test::run_ranks({.ranks = 2, .workers = 1}, [](int) {
    Problem problem;
    problem.extents = {8, 8, 1};
    Candidate cut;
    cut.grid = cut.brick = {2, 1, 1};
    std::vector<double> data(100);
    const auto trouble = [&](const Extents& extents) {
      const ArrayView view = dense_view(data.data(), extents, 8, MemoryOrder::c);
      return Halo::make(MPI_COMM_WORLD, problem, cut, {&view, 1}).trouble();
    };
    EXPECT_EQ(trouble({4, 10, 1}),
              "field 0 has 4 cells in dimension 0; it must be the block with its ghosts, 6");
    cut.grid = cut.brick = {4, 1, 1};
    EXPECT_EQ(trouble({4, 10, 1}), "the cut needs 4 ranks, the communicator has 2");
    cut.grid = cut.brick = {2, 1, 1};
    problem.halo_width = 5;
    EXPECT_EQ(trouble({14, 18, 1}),
              "the halo of 5 cells is wider than the smallest block in dimension 0, 4; cut it into "
              "fewer than 2 parts");
    problem.halo_width = 1;
    problem.field_count = 2;
    EXPECT_EQ(trouble({6, 10, 1}), "1 fields are given, the problem has 2");
  });
}

TEST(Verify, TimesTheFirstCandidatesAndTellsTheRegret) {
  test::run_ranks({.ranks = 8, .workers = 2}, [](int) {
    Problem problem;
    problem.extents = {16, 16, 16};
    problem.element_bytes = 16;
    const Plan plan = Plan::choose(simple_machine(), problem, 8).value();
    const Result<Verification> verified = verify(MPI_COMM_WORLD, plan, 3, {.seconds = 0.005});
    ASSERT_TRUE(verified.ok()) << verified.trouble();
    EXPECT_EQ(verified.value().timed.size(), 3U);
    EXPECT_GE(verified.value().regret, 0);
    EXPECT_NE(verified.value().table(problem).find("regret"), std::string::npos);
  });
}

}  // namespace
}  // namespace sorrel::grid
