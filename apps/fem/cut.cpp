#include "cut.hpp"

#include <algorithm>
#include <numeric>
#include <span>

#ifdef FEM_HAS_METIS
#include <metis.h>
#endif

namespace fem {

namespace {

void bisect(const std::vector<Vector>& centres,
            std::span<std::int32_t> elements,
            int first_rank,
            int rank_count,
            std::vector<std::int32_t>& rank_of) {
  if (rank_count == 1) {
    for (const std::int32_t e : elements)
      rank_of[e] = first_rank;
    return;
  }
  Vector low = centres[elements.front()], high = low;
  for (const std::int32_t e : elements) {
    for (int d = 0; d < 3; ++d) {
      low[d] = std::min(low[d], centres[e][d]);
      high[d] = std::max(high[d], centres[e][d]);
    }
  }
  int longest = 0;
  for (int d = 1; d < 3; ++d) {
    if (high[d] - low[d] > high[longest] - low[longest]) longest = d;
  }
  const int left_ranks = rank_count / 2;
  const std::size_t left = elements.size() * left_ranks / rank_count;
  std::nth_element(elements.begin(), elements.begin() + static_cast<std::ptrdiff_t>(left),
                   elements.end(), [&](std::int32_t a, std::int32_t b) {
                     return std::pair(centres[a][longest], a) < std::pair(centres[b][longest], b);
                   });
  bisect(centres, elements.first(left), first_rank, left_ranks, rank_of);
  bisect(centres, elements.subspan(left), first_rank + left_ranks, rank_count - left_ranks,
         rank_of);
}

Cut cut_by_bisection(const Mesh& mesh, int rank_count, const std::string& why) {
  std::vector<Vector> centres(mesh.elements.size());
  for (std::size_t e = 0; e < centres.size(); ++e)
    centres[e] = mesh.centre(e);
  std::vector<std::int32_t> elements(mesh.elements.size());
  std::iota(elements.begin(), elements.end(), 0);
  Cut result{std::vector<std::int32_t>(elements.size()), "bisection" + why};
  bisect(centres, elements, 0, rank_count, result.rank_of);
  return result;
}

#ifdef FEM_HAS_METIS
/// False if a chunk is empty.
bool cut_by_metis(const Mesh& mesh, int rank_count, std::vector<std::int32_t>& rank_of) {
  auto element_count = static_cast<idx_t>(mesh.elements.size());
  auto node_count = static_cast<idx_t>(mesh.nodes.size());
  std::vector<idx_t> starts(mesh.elements.size() + 1), nodes, parts(mesh.elements.size()),
      node_parts(mesh.nodes.size());
  for (const auto& element : mesh.elements)
    nodes.insert(nodes.end(), element.begin(), element.end());
  for (std::size_t e = 0; e < starts.size(); ++e)
    starts[e] = static_cast<idx_t>(4 * e);
  idx_t options[METIS_NOPTIONS], shared_nodes = 3, part_count = rank_count, edges_cut = 0;
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  if (METIS_PartMeshDual(&element_count, &node_count, starts.data(), nodes.data(), nullptr, nullptr,
                         &shared_nodes, &part_count, nullptr, options, &edges_cut, parts.data(),
                         node_parts.data()) != METIS_OK)
    throw Error("METIS failed");
  rank_of.assign(parts.begin(), parts.end());
  std::vector<bool> is_used(rank_count);
  for (const std::int32_t rank : rank_of)
    is_used[rank] = true;
  return std::find(is_used.begin(), is_used.end(), false) == is_used.end();
}
#endif

}  // namespace

bool has_metis() {
#ifdef FEM_HAS_METIS
  return true;
#else
  return false;
#endif
}

Cut cut(const Mesh& mesh, int rank_count, CutMethod method) {
  if (mesh.elements.size() < static_cast<std::size_t>(rank_count))
    throw Error("mesh: " + std::to_string(mesh.elements.size()) + " elements for " +
                std::to_string(rank_count) + " ranks; each rank needs one");
  if (rank_count == 1) return {std::vector<std::int32_t>(mesh.elements.size()), "no cut"};
  if (method == CutMethod::bisection) return cut_by_bisection(mesh, rank_count, "");
#ifdef FEM_HAS_METIS
  Cut result{{}, "METIS k-way"};
  if (cut_by_metis(mesh, rank_count, result.rank_of)) return result;
  return cut_by_bisection(mesh, rank_count, " (METIS left a chunk empty)");
#else
  return cut_by_bisection(mesh, rank_count, " (METIS is not built in)");
#endif
}

}  // namespace fem
