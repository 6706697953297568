//! The division of a mesh into chunks: for each element, the rank that computes it.
//!
//! Every chunk gets at least one element. The same mesh and count give the same cut in each run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mesh.hpp"

namespace fem {

enum class CutMethod { metis, bisection };

/// Whether the program was built with METIS.
bool has_metis();

struct Cut {
  std::vector<std::int32_t> rank_of;  ///< by element
  std::string method;                 ///< for the report
};

/// METIS divides the graph of elements that share a face (Karypis & Kumar 1998, k-way). Bisection
/// divides at the median of the longest extent, again and again (Berger & Bokhari 1987). METIS
/// leaves chunks empty where there are few elements; bisection replaces it there. Throws if there
/// are fewer elements than ranks.
Cut cut(const Mesh& mesh, int rank_count, CutMethod method);

}  // namespace fem
