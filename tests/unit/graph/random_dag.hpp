//! Random families and edges of every kind, for tests.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <set>
#include <string>

#include "base/prng.hpp"
#include "graph/dag/dag.hpp"

namespace sorrel::graph {

inline int family(Dag& dag, const char* name, Space space) {
  return dag.add_family({name, space, FamilyKind::task});
}

inline std::uint64_t seed() {
  const char* text = std::getenv("SORREL_SEED");
  const std::uint64_t seed = text != nullptr ? std::strtoull(text, nullptr, 0) : 20261120;
  std::printf("SORREL_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

inline Axis random_axis(Prng& random, int dimensions, std::set<int>& used) {
  const int dimension = static_cast<int>(random.below(static_cast<std::uint64_t>(dimensions)));
  switch (random.below(4)) {
    case 0:
      return every;
    case 1:
      return static_cast<Index>(random.below(3));
    default:
      if (!used.insert(dimension).second) return every;
      return dim(dimension) + (static_cast<Index>(random.below(5)) - 2);
  }
}

/// A few families of a few tasks with edges of any kind, cycles included.
inline Dag random_dag(Prng& random) {
  Dag dag;
  const auto extent = [&] { return static_cast<Index>(random.below(4)) + 1; };
  const int family_count = static_cast<int>(random.below(3)) + 1;
  for (int f = 0; f < family_count; ++f) {
    const std::string name(1, static_cast<char>('a' + f));
    switch (random.below(4)) {
      case 0:
        family(dag, name.c_str(), {extent()});
        break;
      case 1:
        family(dag, name.c_str(), {extent(), extent()});
        break;
      case 2:
        family(dag, name.c_str(), {extent(), extent(), extent()});
        break;
      default:
        family(dag, name.c_str(), {2, 1, extent(), 2});
    }
  }
  const int edge_count = static_cast<int>(random.below(4)) + 1;
  for (int e = 0; e < edge_count; ++e) {
    Edge edge;
    edge.from = static_cast<int>(random.below(static_cast<std::uint64_t>(family_count)));
    edge.to = static_cast<int>(random.below(static_cast<std::uint64_t>(family_count)));
    edge.crosses_step = random.below(3) == 0;
    std::set<int> used;
    for (Axis& axis : edge.relation.axes)
      axis = random_axis(random, dag.family(edge.to).space.dimension_count(), used);
    EXPECT_EQ(dag.add_edge(edge), "");
  }
  return dag;
}

}  // namespace sorrel::graph
