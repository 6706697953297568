//! joins - a task between families of which each task of one precedes many of the other.
//!
//! Pure. An edge with `every` in some dimensions, between families of n tasks each, is n * n
//! dependencies; through one task between, which follows the n and precedes the n, it is 2 n.
#pragma once

#include "graph/dag/dag.hpp"

namespace sorrel::graph {

/// A graph with families of joins in place of the edges of `dag` that would cost most. Messages get
/// none: a message that depends on a message waits for no task. Joins follow the other families.
[[nodiscard]] Dag with_joins(const Dag& dag);

}  // namespace sorrel::graph
