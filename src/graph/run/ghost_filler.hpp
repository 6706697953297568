//! GhostFiller - fills ghosts between runs, by the messenger of a graph that does not run.
//!
//! The exchange is a graph of its own, of one sweep that writes and one that reads around its
//! cells, so it is what a step would do. Its tags are those of the graph: all of its messages have
//! arrived before the next step of the graph, at both ends. The owner only; fill() may suspend, and
//! is collective over the ranks of the graph.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <sorrel/graph/field.hpp>
#include <sorrel/graph/graph.hpp>
#include <sorrel/graph/messenger.hpp>
#include <sorrel/graph/tiling.hpp>

namespace sorrel::graph {

class GhostFiller {
 public:
  /// Fields and how far their ghosts are to be filled.
  using Wanted = std::vector<std::pair<AnyField*, Footprint>>;

  /// Throws GraphError if there is no messenger.
  void fill(const Wanted& wanted, const AnyTiling* tiling, Messenger* messenger);

  /// Before the messenger removes its channels.
  void clear() { graphs_.clear(); }

 private:
  struct Filling {
    Wanted wanted;
    std::unique_ptr<Graph> graph;
  };

  /// One for each set of ghosts that was wanted so far; few.
  std::vector<Filling> graphs_;
};

}  // namespace sorrel::graph
