//! ghosts - which ghosts a run finds filled, and which it leaves filled.
//!
//! Pure. Several graphs may use one field: a run may read, around their cells, values that another
//! graph has written and not exchanged. Buffers are named by the fields that have them before the
//! run.
#pragma once

#include <optional>
#include <vector>

#include <sorrel/graph/tiling.hpp>

#include "graph/dag/accesses.hpp"

namespace sorrel::graph {

/// Whether ghosts filled as far as `filled` suffice for a sweep that reads as far as `read`.
[[nodiscard]] bool covers(const Footprint& filled, const Footprint& read);

/// The smallest footprint that covers both.
[[nodiscard]] Footprint union_of(const Footprint& one, const Footprint& other);

/// How far the ghosts of each buffer must be filled before a run of `steps` steps: those that are
/// read before the run has filled them. Radius 0: not at all.
[[nodiscard]] std::vector<Footprint> ghosts_needed(const std::vector<Accesses>& sweeps,
                                                   const Buffers& buffers,
                                                   Index steps);

/// How far the ghosts of each buffer have the values of their cells after `steps` steps. None: the
/// run has not written the buffer.
[[nodiscard]] std::vector<std::optional<Footprint>> ghosts_left(const std::vector<Accesses>& sweeps,
                                                                const Derived& derived,
                                                                const Buffers& buffers,
                                                                Index steps);

}  // namespace sorrel::graph
