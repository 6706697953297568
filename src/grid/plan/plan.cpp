#include <algorithm>
#include <cstddef>
#include <tuple>

#include <sorrel/grid/plan.hpp>

#include "base/text.hpp"
#include "grid/plan/cost_model.hpp"
#include "grid/plan/face.hpp"
#include "grid/plan/grid_search.hpp"
#include "grid/plan/process_grids.hpp"

namespace sorrel::grid {
namespace {

int cut_count(const ProcessGrid& grid) {
  return static_cast<int>(std::count_if(grid.begin(), grid.end(), [](int n) { return n > 1; }));
}

// Fastest first. Of equals, the simpler: no overlap, then fewer dimensions cut, then the order of
// the grids.
bool comes_before(const Cut& left, const Cut& right) {
  const auto key = [](const Cut& cut) {
    return std::tuple(cut.time.step_s(), cut.overlap.kind, cut_count(cut.grid), cut.grid);
  };
  return key(left) < key(right);
}

// From the fastest plan and those that tie with it, chooses the one that would be the fastest if
// copies took 50 % longer. Copies depend on the contents of caches, and are the least certain of
// all terms.
void put_choice_first(std::vector<Cut>& sorted) {
  const double most_s = (1 + prediction_tie) * sorted.front().time.step_s();
  const auto end = std::find_if(sorted.begin(), sorted.end(),
                                [&](const Cut& cut) { return cut.time.step_s() > most_s; });
  const auto careful_s = [](const Cut& cut) { return cut.time.step_s() + cut.time.pack_s / 2; };
  const auto choice = std::min_element(sorted.begin(), end, [&](const Cut& left, const Cut& right) {
    return careful_s(left) < careful_s(right);
  });
  std::rotate(sorted.begin(), choice, choice + 1);
}

std::string too_large(const Problem& problem, int rank_count, std::int64_t least_bytes) {
  return text_of(
      "a block takes at least %lld bytes on %d ranks, the limit is %lld; allow more or "
      "use more ranks",
      static_cast<long long>(least_bytes), rank_count,
      static_cast<long long>(problem.memory_limit_bytes));
}

}  // namespace

Result<Plan> Plan::choose(const Machine& machine, const Problem& problem, int rank_count) {
  if (rank_count < 1 || rank_count > rank_count_max)
    return Error{text_of("%d ranks; it must be from 1 to %d", rank_count, rank_count_max)};
  if (const Result<void> good = check(problem); !good) return Error{good.error()};
  if (const Result<void> good = check(machine); !good) return Error{good.error()};

  const int used_count = usable_ranks(problem, rank_count);
  if (const auto& torus = machine.links.back().torus) {
    const int node_count = node_use(machine, used_count).node_count;
    if (const Result<void> good = NodeTorus::check(*torus, node_count); !good)
      return Error{good.error()};
  }
  const CostModel model(machine, problem, used_count);
  GridSearch search(model);
  Plan plan;
  plan.problem_ = problem;
  plan.rank_count_ = rank_count;
  std::int64_t least_bytes = 0;
  for (const ProcessGrid& grid : process_grids(problem, used_count)) {
    const std::int64_t bytes = padded_bytes(problem, largest_block(problem, grid));
    if (least_bytes == 0 || bytes < least_bytes) least_bytes = bytes;
    if (problem.memory_limit_bytes > 0 && bytes > problem.memory_limit_bytes) continue;
    search.evaluate(grid, plan.cuts_);
  }
  if (plan.cuts_.empty()) return Error{too_large(problem, used_count, least_bytes)};
  std::sort(plan.cuts_.begin(), plan.cuts_.end(), comes_before);
  put_choice_first(plan.cuts_);
  plan.evaluated_count_ = search.evaluated_count();
  return plan;
}

ProcessGrid Plan::coords(int rank) const {
  return coords_of(rank, grid(), best().brick);
}

int Plan::rank(const ProcessGrid& coords) const {
  return rank_of(coords, grid(), best().brick);
}

Box<3> Plan::block(int rank) const {
  return block_at(problem_, grid(), coords(rank));
}

const Cut& Plan::balanced() const {
  // MPI_Dims_create: its spread, its order of the extents, its smaller sum (mpi/comm/topology).
  const auto key = [](const Cut& cut) {
    const auto [low, high] = std::minmax_element(cut.grid.begin(), cut.grid.end());
    const bool is_in_order = std::is_sorted(cut.grid.rbegin(), cut.grid.rend());
    return std::tuple(cut.overlap.kind, !is_in_order, *high - *low,
                      cut.grid[0] + cut.grid[1] + cut.grid[2]);
  };
  return *std::min_element(cuts_.begin(), cuts_.end(), [&](const Cut& left, const Cut& right) {
    return key(left) < key(right);
  });
}

}  // namespace sorrel::grid
