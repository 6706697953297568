#include "grid/plan/node_torus.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "base/text.hpp"

namespace sorrel::grid {
namespace {

bool is_chosen_by_job(const Torus& torus) {
  return torus.extents.front() == 0;
}

// As near to a cube as the factors allow: the largest factor goes to the shortest dimension.
std::vector<int> balanced_extents(std::size_t dimension_count, int node_count) {
  std::vector<int> factors;
  for (int factor = 2; node_count > 1; ++factor) {
    for (; node_count % factor == 0; node_count /= factor)
      factors.push_back(factor);
    if (factor * factor > node_count && node_count > 1) {
      factors.push_back(node_count);
      break;
    }
  }
  std::vector<int> extents(dimension_count, 1);
  for (auto factor = factors.rbegin(); factor != factors.rend(); ++factor)
    *std::min_element(extents.begin(), extents.end()) *= *factor;
  std::sort(extents.rbegin(), extents.rend());
  return extents;
}

std::vector<int> extents_for(const Torus& torus, int node_count) {
  return is_chosen_by_job(torus) ? balanced_extents(torus.extents.size(), node_count)
                                 : torus.extents;
}

int rank_at(std::size_t dimension, int coordinate, const Cut& cut) {
  ProcessGrid coords{0, 0, 0};
  coords[dimension] = coordinate;
  return rank_of(coords, cut.grid, cut.brick);
}

// A rank is the sum of one number for each of its coordinates.
std::vector<int> rank_parts(std::size_t dimension, const Cut& cut) {
  std::vector<int> parts;
  for (int i = 0; i < cut.grid[dimension]; ++i)
    parts.push_back(rank_at(dimension, i, cut));
  return parts;
}

}  // namespace

Result<void> NodeTorus::check(const Torus& torus, int node_count) {
  int most = torus_node_count_max;
  if (!is_chosen_by_job(torus)) {
    most = 1;
    for (const int extent : torus.extents)
      most *= extent;
  }
  if (node_count <= most) return {};
  return Error{text_of("the ranks take %d nodes; the torus of the machine has at most %d",
                       node_count, most)};
}

NodeTorus::NodeTorus(const Torus& torus, int node_count, int node_ranks)
    : extents_(extents_for(torus, node_count)),
      wraps_(torus.wraps),
      node_ranks_(node_ranks),
      coordinates_(static_cast<std::size_t>(node_count)) {
  for (std::size_t node = 0; node < coordinates_.size(); ++node) {
    std::size_t rest = node;
    for (std::size_t d = extents_.size(); d-- > 0;) {
      const auto extent = static_cast<std::size_t>(extents_[d]);
      coordinates_[node][d] = static_cast<std::int32_t>(rest % extent);
      rest /= extent;
    }
  }
}

std::vector<int> NodeTorus::brick_sizes() const {
  std::vector<int> sizes;
  int size = node_ranks_;
  for (std::size_t d = extents_.size(); d-- > 1;) {
    if (extents_[d] == 1) continue;
    size *= extents_[d];
    sizes.push_back(size);
  }
  return sizes;
}

int NodeTorus::hops(int node, int other) const {
  const Coordinates& from = coordinates_[static_cast<std::size_t>(node)];
  const Coordinates& to = coordinates_[static_cast<std::size_t>(other)];
  int count = 0;
  for (std::size_t d = 0; d < extents_.size(); ++d) {
    const int direct = std::abs(from[d] - to[d]);
    count += wraps_ ? std::min(direct, extents_[d] - direct) : direct;
  }
  return count;
}

Hops NodeTorus::hops_across(const Cut& cut, std::size_t dimension, bool is_periodic) const {
  const std::vector<int> own = rank_parts(dimension, cut);
  const std::vector<int> second = rank_parts((dimension + 1) % 3, cut);
  const std::vector<int> third = rank_parts((dimension + 2) % 3, cut);
  std::int64_t pair_count = 0;
  std::int64_t hop_count = 0;
  int most = 0;
  const std::size_t pairs = is_periodic ? own.size() : own.size() - 1;
  for (std::size_t i = 0; i < pairs; ++i) {
    const int from = own[i];
    const int to = own[(i + 1) % own.size()];
    for (const int in_second : second) {
      for (const int in_third : third) {
        const int rest = in_second + in_third;
        const int node = (from + rest) / node_ranks_;
        const int other = (to + rest) / node_ranks_;
        if (node == other) continue;
        const int distance = hops(node, other);
        ++pair_count;
        hop_count += distance;
        most = std::max(most, distance);
      }
    }
  }
  if (pair_count == 0) return {};
  return {.mean = static_cast<double>(hop_count) / static_cast<double>(pair_count), .most = most};
}

PerDimension<Hops> NodeTorus::hops_of(const Cut& cut, const Problem& problem) const {
  PerDimension<Hops> hops{};
  for (std::size_t d = 0; d < hops.size(); ++d)
    if (cut.grid[d] > 1) hops[d] = hops_across(cut, d, problem.is_periodic[d]);
  return hops;
}

}  // namespace sorrel::grid
