//! order - whether the tasks of a step can be put in an order: no task comes before itself.
//!
//! Pure. Families that do not come before themselves need one look at the edges. Among those that
//! do, a lexicographic order of the keys that fits all of their offsets is looked for (wavefronts,
//! panels, recurrences); only where none fits are the tasks themselves sorted.
#pragma once

#include <string>

#include "graph/dag/dag.hpp"

namespace sorrel::graph {

/// "" if there is an order; else one line with the tasks of a cycle.
[[nodiscard]] std::string trouble_with_order(const Dag& dag);

/// The same by sorting all tasks: the slow way, and the oracle of tests.
[[nodiscard]] std::string trouble_with_order_of_tasks(const Dag& dag);

}  // namespace sorrel::graph
