//! Graph - a task graph: declares dependencies between families of tasks; run() executes them in
//! order and overlaps messages with computation.
//!
//!   sorrel::Graph g;
//!   auto wave = g.family("wave", {rows, columns}).run([&](Index i, Index j) { ... });
//!   wave.after(wave, offset(-1, 0)).after(wave, offset(0, -1));
//!   g.run({.steps = 10});
//!
//! A family is the set of tasks that share a body; a task is a family and a key. Edges are
//! functions of keys, so building a graph takes as long for a million tasks as for ten, and a step
//! allocates nothing. One thread or rank, the owner, builds and runs a graph. Idle threads help it,
//! as they help parallel_for(): threads of the library in a plain program, idle workers in a job.
//!
//! Steps overlap as far as edges of kind `previous_step` allow, two at a time; every task then also
//! depends on itself in the step before. Without such an edge, each step begins when the one before
//! is done.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <sorrel/graph/messenger.hpp>
#include <sorrel/graph/relation.hpp>
#include <sorrel/graph/space.hpp>

namespace sorrel::graph {

/// An error in a graph: one line that names families or tasks. Thrown by the call that declares it,
/// or by run() for errors that only the whole graph shows.
class GraphError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A task, as its body receives it.
struct Task {
  Key key{};
  /// Step, counted from 0 in each run().
  Index step = 0;
};

/// The step to which the predecessors of an edge belong.
enum class When {
  this_step,
  previous_step,
};

inline constexpr When previous_step = When::previous_step;

/// Order among several ready tasks.
enum class Priority : std::uint8_t {
  normal,
  fill,  ///< only while no other task is ready
};

/// Options of Graph::run().
struct RunOptions {
  /// Number of steps; 0: none.
  Index steps = 1;
};

/// Result of a run() on the calling rank.
struct Report {
  Index steps = 0;
  /// Tasks and messages of all steps.
  Index tasks = 0;
  double seconds = 0;
  /// Part of that time spent waiting for messages with no ready task.
  double waiting_seconds = 0;
};

class AnyField;
class Graph;
class Tiling;
struct Declaration;
template <class... Declared>
class Sweep;

/// A handle of a family of a graph; copyable. Valid as long as the graph.
class Family {
 public:
  /// Sets the body, called as body(Task), body(i), body(i, j), body(i, j, k) or body(), whichever
  /// it accepts. Several tasks run concurrently. A body may throw: tasks that have not begun are
  /// then skipped, and Graph::run() throws one of the exceptions. A body must not call MPI; it may
  /// call parallel_for().
  ///
  /// @param body copied into the graph
  /// @return this family, for further calls
  template <class Body>
  Family& run(Body body);

  /// Each task depends on the tasks of `other` that the relation names.
  ///
  /// @param other a family of the same graph, or this one
  /// @param relation which tasks: `same_tile`, `offset(-1, 0)`, `everything` and others of
  /// relation.hpp
  /// @param when whether they are those of the same step or of the one before
  /// @return this family, for further calls
  Family& after(const Family& other, const Relation& relation = same_tile, When when = {});
  /// The same for several relations.
  Family& after(const Family& other, const Relations& relations, When when = {});

  /// The same for the tasks of equal keys.
  Family& after(const Family& other, When when) { return after(other, same_tile, when); }

  /// Sets the order among tasks that are ready.
  Family& priority(Priority priority);

 private:
  friend class Graph;
  using Call = void (*)(void* body, const Task& task);

  Family(Graph& graph, int index) : graph_(&graph), index_(index) {}

  void set_body(std::shared_ptr<void> body, Call call);

  Graph* graph_;
  int index_;
};

/// A task graph: families of tasks, messages and sweeps, and the edges between them. One thread or
/// rank, the owner, builds and runs it; idle threads help. The first run() compiles the graph, a
/// further one reuses it.
class Graph {
 public:
  /// A graph within one process.
  Graph();
  /// A graph whose messages are carried by `messenger`.
  ///
  /// @param messenger over_mpi() for MPI; the graph owns it
  explicit Graph(std::unique_ptr<Messenger> messenger);
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  /// Not during a run.
  ~Graph();

  /// Adds a family of tasks.
  ///
  /// @param name for error messages and print()
  /// @param space the keys: `{rows, columns}` or a box
  /// @return a handle, valid as long as the graph
  Family family(std::string name, const Space& space);

  /// Returns one message of a family. `slot` is 0 or 1: the step modulo 2. Two steps may overlap;
  /// the buffers of the two slots must then be disjoint.
  using MessageOf = std::function<Message(const Key& key, int slot)>;

  /// Adds a family of messages to send. Each leaves when its predecessors are done; its successors
  /// may overwrite its bytes.
  Family send(std::string name, const Space& space, MessageOf message);

  /// Adds a family of messages to receive. Each is posted when its step is admitted, that is when
  /// the step before the last one is done; its successors find the message in its bytes.
  Family receive(std::string name, const Space& space, MessageOf message);

  /// Adds a sweep over the tiles of a grid; see sweep.hpp, which defines this function. The tiling
  /// must outlive the graph.
  ///
  /// @return a sweep, to which reads(), writes() and run() add what it does
  Sweep<> over(const Tiling& tiling, std::string name = "sweep");

  /// After each step, each field takes the buffer of the next one, and the last field that of the
  /// first: the next step reads what this one has written. Nothing is copied.
  template <class... Fields>
  void rotate(Fields&... fields) {
    rotate_all({&fields...});
  }

  /// The declarations of a sweep; called by Sweep::run().
  void declare(const Family& tiles, const Tiling& tiling, std::vector<Declaration> declared);

  /// Runs all tasks of `steps` steps. Throws what a task has thrown; the graph may then run again
  /// if it has no messages. Not from a task of this graph. May suspend.
  ///
  /// @return what the run took, on the calling rank
  /// @throws GraphError if the edges form a cycle, or a family lacks a body
  Report run(const RunOptions& options = {});

  /// A paragraph for each family, with the families it depends on.
  [[nodiscard]] std::string print() const;

  /// Graphviz text: families, or with `has_tasks` every task.
  [[nodiscard]] std::string dot(bool has_tasks = false) const;

  /// "" or the task whose exception the last run() threw: "wave(3, 4), step 7".
  [[nodiscard]] std::string failed_task() const;

 private:
  friend class Family;
  struct Parts;

  void rotate_all(std::vector<AnyField*> fields);
  void begin_rotation();
  void end_rotation(Index steps);

  std::unique_ptr<Parts> parts_;
};

template <class Body>
Family& Family::run(Body body) {
  set_body(std::make_shared<Body>(std::move(body)), [](void* pointer, const Task& task) {
    auto& call = *static_cast<Body*>(pointer);
    if constexpr (std::is_invocable_v<Body&, const Task&>) {
      call(task);
    } else if constexpr (std::is_invocable_v<Body&, Index, Index, Index>) {
      call(task.key[0], task.key[1], task.key[2]);
    } else if constexpr (std::is_invocable_v<Body&, Index, Index>) {
      call(task.key[0], task.key[1]);
    } else if constexpr (std::is_invocable_v<Body&, Index>) {
      call(task.key[0]);
    } else {
      call();
    }
  });
  return *this;
}

}  // namespace sorrel::graph

namespace sorrel {

using graph::Graph;

}  // namespace sorrel
