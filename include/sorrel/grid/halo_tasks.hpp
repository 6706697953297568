//! HaloTasks - the exchange of ghosts as tasks of a graph, which fills every wait with other tasks.
//!
//!   sorrel::Graph g(sorrel::graph::over_mpi(comm));
//!   auto halo = HaloTasks::add(g, {.problem = p, .cut = cut, .rank = rank, .fields = fields});
//!   auto inner = g.family("inner", {slabs}).run(...);  // reads no ghosts
//!   auto skin = g.family("skin", {1}).run(...);        // reads ghosts
//!   halo.value().fill_before(skin);
//!   g.run({.steps = 10});
//!
//! Packing, sending, receiving and unpacking are families of their own, one for each dimension: a
//! face is sent when its cells are ready, and tasks that need the ghosts of one side wait for that
//! side only. The cells that are sent, their order and the ghosts that are filled are those of a
//! Halo (halo.hpp) for the same problem and cut. A program links Sorrel::graph in addition to
//! Sorrel::grid.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <sorrel/graph/graph.hpp>
#include <sorrel/grid/array_view.hpp>
#include <sorrel/grid/plan.hpp>
#include <sorrel/result.hpp>

namespace sorrel::grid {

/// The exchange of one rank in each step.
struct TaskedHalo {
  Problem problem;  ///< the grid, its stencil, and the width of the halo
  /// Process grid, brick and pack.
  Cut cut;
  /// This rank, by the numbers of the graph's messenger.
  int rank = 0;
  /// Views of the block with its ghosts, as for a Halo; none beyond the grid. Their memory must
  /// outlive the graph, the views need not.
  std::span<const ArrayView> fields;
  /// Views for the second, fourth, ... step of each run(), in programs that write the result of
  /// a step to another array; empty: one array for all steps.
  std::span<const ArrayView> fields_of_odd_steps = {};
  /// First of six tags; distinct for each exchange of a graph, and equal on all ranks.
  int first_tag = 0;
  /// Prefix of the names of the families.
  std::string name = "halo";
};

/// The exchange of ghosts as families of a task graph, which fills every wait with other tasks.
class HaloTasks {
 public:
  /// Adds the exchange to a graph; it starts at the begin of each step. Never suspends.
  ///
  /// @param graph of all ranks of the cut; messages need a messenger
  /// @param halo what is exchanged; equal on all ranks but for rank and fields
  /// @return the exchange, or one line that says which argument is wrong: those of Halo::make(),
  /// and tags out of range
  [[nodiscard]] static Result<HaloTasks> add(graph::Graph& graph, const TaskedHalo& halo);

  /// Tasks depend on all ghosts.
  ///
  /// @param readers a family of the same graph
  /// @param when whether they depend on the ghosts of the same step or of the one before
  void fill_before(graph::Family readers, graph::When when = {}) const;

  /// Tasks depend on the ghosts of one dimension.
  ///
  /// @param readers a family of the same graph
  /// @param dimension 0 to 2
  /// @param when whether they depend on the ghosts of the same step or of the one before
  void fill_before(graph::Family readers, int dimension, graph::When when = {}) const;

  /// Tasks depend on the sends of their cells, which they may then overwrite.
  ///
  /// @param writers a family of the same graph
  /// @param when whether they depend on the sends of the same step or of the one before
  void leave_before(graph::Family writers, graph::When when = {}) const;

  /// The exchange depends on all tasks of a family.
  ///
  /// @param writers a family of the same graph
  /// @param when whether the exchange depends on the same step or on the one before
  void start_after(const graph::Family& writers, graph::When when = {});

 private:
  /// The families of one dimension, by their accesses to the fields; a family may be in several
  /// lists.
  struct Exchange {
    int dimension = 0;
    std::vector<graph::Family> first;  ///< run before all other accesses to the fields
    std::vector<graph::Family> reads;  ///< read cells that are sent
    std::vector<graph::Family> fills;  ///< fill ghosts
    /// Whether ghosts of other dimensions are sent along.
    bool is_wide = false;
  };

  struct Sides;

  HaloTasks() = default;

  void exchange_own(graph::Graph& graph, const Sides& sides, const std::string& name);
  void exchange_messages(graph::Graph& graph, const Sides& sides, const std::string& name);
  void keep_order(const Problem& problem);

  std::vector<Exchange> exchanges_;
};

}  // namespace sorrel::grid
