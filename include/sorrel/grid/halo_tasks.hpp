//! HaloTasks - the exchange of ghosts as tasks of a graph, which fills every wait with other tasks.
//!
//!   sorrel::Graph g(sorrel::graph::over_mpi(comm));
//!   auto halo = HaloTasks::add(g, {.problem = problem, .cut = cut, .rank = rank, .fields =
//!   fields}); auto inner = g.family("inner", {slabs}).run(...);  // touches no ghosts auto skin =
//!   g.family("skin", {1}).run(...);        // does halo.value().fill_before(skin); g.run({.steps =
//!   10});
//!
//! Packing, sending, receiving and unpacking are families of their own, a dimension each: a face
//! leaves when its cells are there, and the tasks that need one ghost wait for that one's. The
//! cells that travel, their order and the ghosts that are filled are those of a Halo (halo.hpp) for
//! the same problem and cut. A program links Sorrel::graph beside Sorrel::grid.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <sorrel/graph/graph.hpp>
#include <sorrel/grid/array_view.hpp>
#include <sorrel/grid/plan.hpp>
#include <sorrel/result.hpp>

namespace sorrel::grid {

/// What a rank exchanges in each step.
struct TaskedHalo {
  Problem problem;
  /// Process grid, brick and pack.
  Candidate cut;
  /// This rank, as the graph's messenger numbers them.
  int rank = 0;
  /// Views of the block with its ghosts, as for a Halo; none behind the grid. Their memory outlives
  /// the graph, the views need not.
  std::span<const ArrayView> fields;
  /// The same for the second, fourth, ... step of each run(), in programs that write a step's
  /// result to another array; empty: one array for all steps.
  std::span<const ArrayView> fields_of_odd_steps = {};
  /// Six tags from here on; different for each exchange of a graph, and the same on all ranks.
  int first_tag = 0;
  /// Of the families.
  std::string name = "halo";
};

class HaloTasks {
 public:
  /// Adds the exchange to a graph, in which it begins with each step. Troubles are those of
  /// Halo::make(), and tags out of bounds.
  [[nodiscard]] static Result<HaloTasks> add(graph::Graph& graph, const TaskedHalo& halo);

  /// Tasks of `readers` come when all ghosts are filled, or those of one dimension.
  void fill_before(graph::Family readers, graph::When when = {}) const;
  void fill_before(graph::Family readers, int dimension, graph::When when = {}) const;

  /// Tasks of `writers` come when no cell of theirs is read any more in order to be sent.
  void leave_before(graph::Family writers, graph::When when = {}) const;

  /// No cell is sent and no ghost is touched before all tasks of `writers` are done.
  void start_after(const graph::Family& writers, graph::When when = {});

 private:
  /// The families of one dimension, by what they do to the fields; one may do several.
  struct Exchange {
    int dimension = 0;
    std::vector<graph::Family> first;  ///< nothing else touches the fields before these
    std::vector<graph::Family> reads;  ///< cells that are sent
    std::vector<graph::Family> fills;  ///< ghosts
    /// Whether ghosts of other dimensions go along with what is sent.
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
