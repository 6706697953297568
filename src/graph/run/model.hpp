//! Model - a graph as its user has declared it: families with their bodies and messages, and
//! sweeps.
//!
//! lower() turns sweeps into families and edges: of tiles, of faces that are packed and unpacked,
//! and of messages. Its result is a model, too, without sweeps. One thread at a time.
#pragma once

#include <functional>
#include <vector>

#include <sorrel/graph/field.hpp>
#include <sorrel/graph/graph.hpp>
#include <sorrel/graph/sweep.hpp>
#include <sorrel/graph/tiling.hpp>

#include "graph/dag/accesses.hpp"
#include "graph/dag/dag.hpp"
#include "graph/run/compiled.hpp"

namespace sorrel::graph {

struct DeclaredSweep {
  int family = 0;
  std::vector<Declaration> declared;
};

struct Model {
  Dag dag;
  /// One entry for each family: tasks have a body, the other kinds a message.
  std::vector<Body> bodies;
  std::vector<Graph::MessageOf> messages;
  /// One entry for each family: the field whose buffers a message uses directly. The slot of such a
  /// message is the step. Null: the bytes of a message follow from its key and the step's parity.
  std::vector<const AnyField*> followed;

  const AnyTiling* tiling = nullptr;
  std::vector<DeclaredSweep> sweeps;
  std::vector<std::vector<AnyField*>> rotations;

  /// What has been derived from the sweeps; fields are numbered by their places.
  std::vector<AnyField*> fields;
  std::vector<Accesses> accesses;
  Buffers buffers{0, {}};
  Derived derived;

  /// Adds joins to a lowered model.
  void add_joins();

  int add(FamilyInfo info, Body body, Graph::MessageOf message, const AnyField* follows = nullptr);
};

/// Whether a peer is on this machine. Empty: no peer is.
using IsNear = std::function<bool(int peer)>;

/// Throws GraphError for a model that cannot be lowered.
[[nodiscard]] Model lower(const Model& source, const IsNear& is_near);

}  // namespace sorrel::graph
