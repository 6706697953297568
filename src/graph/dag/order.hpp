//! order - checks that the tasks of a step have an order: no task depends on itself.
//!
//! Pure. Families that are in no cycle of families need one pass over the edges. For families in a
//! cycle, the check searches a lexicographic order of keys that agrees with all offsets
//! (wavefronts, panels, recurrences); only where none exists it sorts the tasks.
#pragma once

#include <string>

#include "graph/dag/dag.hpp"

namespace sorrel::graph {

/// Returns "" if there is an order, else one line with the tasks of a cycle.
[[nodiscard]] std::string find_order_error(const Dag& dag);

/// As find_order_error(), by a topological sort of all tasks: slow, and the oracle of tests.
[[nodiscard]] std::string find_cycle_of_tasks(const Dag& dag);

}  // namespace sorrel::graph
