//! Graph - a task graph: declares dependencies between families of tasks; run() executes them in
//! order and overlaps messages with computation.
//!
//!   sorrel::Graph g;
//!   auto wave = g.family("wave", {rows, columns}).body([&](Index i, Index j) { ... });
//!   wave.after(wave, offset(-1, 0)).after(wave, offset(0, -1));
//!   auto load = g.task("load", [&] { ... }).precede(wave);   // a single task, before all of them
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

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <sorrel/graph/messenger.hpp>
#include <sorrel/graph/relation.hpp>
#include <sorrel/graph/space.hpp>
#include <sorrel/result.hpp>

namespace sorrel::graph {

/// An error in a graph: one line that names families or tasks. Thrown by the call that declares it,
/// or by run() for errors that only the whole graph shows. These calls form chains and return
/// handles, so they throw what Result::value() throws, instead of returning a Result.
class GraphError : public BadResultAccess {
 public:
  using BadResultAccess::BadResultAccess;
};

/// A task, as its body receives it.
struct Task {
  Key key{};  ///< its coordinates within the family
  /// Step, counted from 0 in each run().
  Index step = 0;
};

/// The step to which the predecessors of an edge belong.
enum class When {
  this_step,
  previous_step,
};

/// For Family::after() and Family::precede().
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
  /// Called by the owner with the number of steps done, while no task runs: true ends the run. It
  /// may call MPI. The ranks of a graph with messages must return the same. Empty: all steps are
  /// run.
  std::function<bool(Index steps_done)> until = {};
  /// Steps between two calls of `until`, which is also called after the last step. Steps overlap in
  /// between, not across a call. At least 1.
  Index check_every = 1;
};

/// Result of a run() on the calling rank.
struct Report {
  Index steps = 0;  ///< the number of steps that were run
  /// Tasks and messages of all steps.
  Index tasks = 0;
  double seconds = 0;  ///< the whole run
  /// Part of that time spent waiting for messages with no ready task.
  double waiting_seconds = 0;
};

/// What a family may run: a function that takes a Task, or one to four coordinates, or nothing.
template <class Body>
concept TaskBody =
    std::invocable<Body&, const Task&> || std::invocable<Body&> || std::invocable<Body&, Index> ||
    std::invocable<Body&, Index, Index> || std::invocable<Body&, Index, Index, Index> ||
    std::invocable<Body&, Index, Index, Index, Index>;

namespace detail {

/// Calls a body with what it accepts.
template <class Body>
decltype(auto) call_with(Body& body, const Task& task) {
  if constexpr (std::invocable<Body&, const Task&>) {
    return body(task);
  } else if constexpr (std::invocable<Body&, Index, Index, Index, Index>) {
    return body(task.key[0], task.key[1], task.key[2], task.key[3]);
  } else if constexpr (std::invocable<Body&, Index, Index, Index>) {
    return body(task.key[0], task.key[1], task.key[2]);
  } else if constexpr (std::invocable<Body&, Index, Index>) {
    return body(task.key[0], task.key[1]);
  } else if constexpr (std::invocable<Body&, Index>) {
    return body(task.key[0]);
  } else {
    return body();
  }
}

/// Whether a body returns something that says yes or no.
template <class Condition>
concept SaysWhether = TaskBody<Condition> && requires(Condition& condition, const Task& task) {
  { call_with(condition, task) } -> std::convertible_to<bool>;
};

}  // namespace detail

class AnyField;
class AnyTiling;
class Graph;
struct Declaration;
template <std::size_t dimensions>
class Tiling;
template <std::size_t dimensions, class... Declared>
class Sweep;

/// A handle of a family of a graph; copyable. Valid as long as the graph.
class Family {
 public:
  /// Sets the body, called with a Task, with (i), (i, j), (i, j, k), (i, j, k, l) or nothing,
  /// whichever it accepts. Several tasks run concurrently. A body may throw: tasks that have not
  /// begun are then skipped, and Graph::run() throws one of the exceptions. A body must not call
  /// MPI; it may call parallel_for(), and build and run another graph.
  ///
  /// @param function copied into the graph
  /// @return this family, for further calls
  template <class Function>
  Family& body(Function function);

  /// Sets a condition, called as a body is, when all predecessors of a task are done: if it returns
  /// false, the task is done without running its body, and its successors go on. Two families with
  /// opposite conditions are the branches of an if.
  ///
  /// @param condition copied into the graph; it may throw, as a body may
  /// @return this family, for further calls
  /// @throws GraphError for a family of messages
  template <class Condition>
  Family& only_if(Condition condition);

  /// Each task depends on the tasks of `other` that the relation names.
  ///
  /// @param other a family of the same graph, or this one
  /// @param relation which tasks: `same_tile`, `offset(-1, 0)`, `everything` and others of
  /// relation.hpp
  /// @param when whether they are those of the same step or of the one before
  /// @return this family, for further calls
  /// @throws GraphError if the relation does not fit the two families, or these are of two graphs
  Family& after(const Family& other, const Relation& relation, When when = {});

  /// after() with several relations.
  ///
  /// @param other a family of the same graph, or this one
  /// @param relations which tasks: the union of all, as of `along_axes(2, 1)`
  /// @param when whether they are those of the same step or of the one before
  /// @return this family, for further calls
  /// @throws GraphError if a relation does not fit the two families, or these are of two graphs
  Family& after(const Family& other, const Relations& relations, When when = {});

  /// after() with the tasks of equal keys; if one of the two is a single task, with all tasks.
  ///
  /// @param other a family of the same graph
  /// @param when whether they are those of the same step or of the one before
  /// @return this family, for further calls
  /// @throws GraphError if both have several tasks and other numbers of dimensions
  Family& after(const Family& other, When when = {});

  /// after() with several families.
  ///
  /// @param other a family of the same graph
  /// @param more further ones
  /// @return this family, for further calls
  /// @throws GraphError as for each of them alone
  template <std::same_as<Family>... More>
    requires(sizeof...(More) > 0)
  Family& after(const Family& other, const More&... more) {
    after(other);
    (after(more), ...);
    return *this;
  }

  /// The tasks of `other` depend on those of this family that the relation names:
  /// `other.after(*this, relation, when)`.
  ///
  /// @param other a family of the same graph, or this one
  /// @param relation which tasks of this family, seen from a task of `other`
  /// @param when whether they are those of the same step or of the one before
  /// @return this family, for further calls
  /// @throws GraphError if the relation does not fit the two families, or these are of two graphs
  Family& precede(Family other, const Relation& relation, When when = {});

  /// precede() with several relations.
  ///
  /// @param other a family of the same graph, or this one
  /// @param relations which tasks of this family: the union of all
  /// @param when whether they are those of the same step or of the one before
  /// @return this family, for further calls
  /// @throws GraphError if a relation does not fit the two families, or these are of two graphs
  Family& precede(Family other, const Relations& relations, When when = {});

  /// precede() with the tasks of equal keys; if one of the two is a single task, with all tasks.
  ///
  /// @param other a family of the same graph
  /// @param when whether they are those of the same step or of the one before
  /// @return this family, for further calls
  /// @throws GraphError if both have several tasks and other numbers of dimensions
  Family& precede(Family other, When when = {});

  /// precede() with several families.
  ///
  /// @param other a family of the same graph
  /// @param more further ones
  /// @return this family, for further calls
  /// @throws GraphError as for each of them alone
  template <std::same_as<Family>... More>
    requires(sizeof...(More) > 0)
  Family& precede(const Family& other, const More&... more) {
    precede(other);
    (precede(more), ...);
    return *this;
  }

  /// Sets the order among tasks that are ready.
  ///
  /// @param priority of all tasks of the family
  /// @return this family, for further calls
  Family& priority(Priority priority);

  /// @return the keys of its tasks
  [[nodiscard]] const Space& space() const;

 private:
  friend class Graph;
  using Call = void (*)(void* body, const Task& task);
  using Test = bool (*)(void* condition, const Task& task);

  Family(Graph& graph, int index) : graph_(&graph), index_(index) {}

  void set_body(std::shared_ptr<void> body, Call call);
  void set_condition(std::shared_ptr<void> condition, Test test);

  Graph* graph_;
  int index_;
};

/// A graph that has been copied into another one by Graph::add(). Its tasks run between `begin` and
/// `end`, two single tasks without work.
struct Subgraph {
  /// Before all tasks of the subgraph.
  Family begin;
  /// After all tasks of the subgraph.
  Family end;

  /// The subgraph begins when the tasks of another family are done.
  ///
  /// @param other a family of the graph that contains the subgraph
  /// @return this subgraph, for further calls
  Subgraph& after(const Family& other) {
    begin.after(other, everything);
    return *this;
  }

  /// The tasks of another family begin when the subgraph is done.
  ///
  /// @param other a family of the graph that contains the subgraph
  /// @return this subgraph, for further calls
  Subgraph& precede(Family other) {
    other.after(end, everything);
    return *this;
  }
};

/// A task graph: families of tasks, messages and sweeps, and the edges between them. One thread or
/// rank, the owner, builds and runs it; idle threads help. The first run() compiles the graph, a
/// further one reuses it. A change while the graph runs, from a task or a condition, throws
/// GraphError.
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
  /// @throws GraphError if the graph has too many families, or the space has a negative extent,
  /// 2^31 keys or more, or not one to four dimensions
  Family family(std::string name, const Space& space);

  /// Adds a single task: a family of one.
  ///
  /// @param name for error messages and print()
  /// @param body as for Family::body(), copied into the graph
  /// @return a handle, valid as long as the graph
  template <class Body>
  Family task(std::string name, Body body);

  /// Adds a copy of all families and edges of another graph, with their bodies and conditions. Its
  /// tasks overlap with those of this graph as far as edges allow; later changes of `part` do not
  /// affect the copy. A task may instead run another graph as a whole, with a number of steps of
  /// its own: `task(name, [&] { part.run(); })`.
  ///
  /// @param name prefix of the names of the families
  /// @param part another graph without sweeps, whose messages, if any, have tags of their own. Its
  /// reductions combine what the copy's tasks leave; a graph contains each reduction once.
  /// @return the begin and the end of the copy, for edges
  /// @throws GraphError if `part` has sweeps, is this graph, or has a reduction that this graph has
  /// already
  Subgraph add(const std::string& name, const Graph& part);

  /// Returns one message of a family. `slot` is 0 or 1: the step modulo 2. Two steps may overlap;
  /// the buffers of the two slots must then be disjoint.
  using MessageOf = std::function<Message(const Key& key, int slot)>;

  /// Adds a family of messages to send. Each leaves when its predecessors are done; its successors
  /// may overwrite its bytes.
  ///
  /// @param name for error messages and print()
  /// @param space the keys: one message for each
  /// @param message called by the first run() for each key and slot
  /// @return a handle, valid as long as the graph
  Family send(std::string name, const Space& space, MessageOf message);

  /// Adds a family of messages to receive. Each is posted when its step is admitted, that is when
  /// the step before the last one is done; its successors find the message in its bytes.
  ///
  /// @param name for error messages and print()
  /// @param space the keys: one message for each
  /// @param message called by the first run() for each key and slot
  /// @return a handle, valid as long as the graph
  Family receive(std::string name, const Space& space, MessageOf message);

  /// Adds a sweep over the tiles of a grid; see sweep.hpp, which defines this function.
  ///
  /// @param tiling the same for all sweeps of a graph; must outlive the graph
  /// @param name for error messages and print()
  /// @return a sweep, to which reads(), writes() and body() add what it does
  template <std::size_t dimensions>
  Sweep<dimensions> over(const Tiling<dimensions>& tiling, std::string name = "sweep");
  /// The graph would refer to a tiling that is gone.
  template <std::size_t dimensions>
  Sweep<dimensions> over(const Tiling<dimensions>&& tiling, std::string name = "sweep") = delete;

  /// After each step, each field takes the buffer of the next one, and the last field that of the
  /// first: the next step reads what this one has written. Nothing is copied.
  ///
  /// @param fields of one tiling, with values of one size; must outlive the graph
  /// @throws GraphError if a field is rotated already, or the fields differ in tiling or size
  template <class... Fields>
  void rotate(Fields&... fields) {
    rotate_all({&fields...});
  }

  /// @return the number of this rank among those of the messenger; 0 without one; -1 if the
  /// messenger does not say
  [[nodiscard]] int rank() const;

  /// @return the number of ranks of the messenger; 1 without one
  [[nodiscard]] int rank_count() const;

  /// Called by Reduction.
  ///
  /// @return a tag for its messages, above those of the user
  /// @throws GraphError if the graph has too many reductions over ranks
  int take_tag();

  /// Called by Reduction.
  ///
  /// @param reset called after a run that has failed
  void after_failure(std::function<void()> reset);

  /// Called by Sweep::body().
  ///
  /// @param tiles the family of the sweep
  /// @param tiling of all sweeps of the graph
  /// @param declared the fields that the body reads and writes
  /// @throws GraphError if a sweep before has another tiling, or a field has another one
  void declare(const Family& tiles, const AnyTiling& tiling, std::vector<Declaration> declared);

  /// Runs all tasks of `steps` steps, or of fewer if `until` says so. After an exception the graph
  /// may run again if it has no messages. May suspend.
  ///
  /// @param options the number of steps, and when to end before
  /// @return what the run took, on the calling rank
  /// @throws GraphError if the edges form a cycle, a family lacks a body, a message has a wrong tag
  /// or peer, an option is out of range, or the graph runs already: from one of its tasks or its
  /// condition, or from another thread
  /// @throws any one of the exceptions that bodies have thrown; failed_task() names the task
  Report run(const RunOptions& options = {});

  /// @return a paragraph for each family, with the families it depends on
  [[nodiscard]] std::string print() const;

  /// @param has_tasks whether every task is a node, and not every family
  /// @return the graph as text for Graphviz
  [[nodiscard]] std::string dot(bool has_tasks = false) const;

  /// @return the task whose exception has left the last run(), as "wave(3, 4), step 7"; "" if there
  /// was none
  [[nodiscard]] std::string failed_task() const;

 private:
  friend class Family;
  struct Parts;

  Family single(std::string name);
  void rotate_all(std::vector<AnyField*> fields);
  void prepare();
  void fill_ghosts(Index steps);
  void begin_rotation(Index first);
  Report run_steps(Index first, Index steps);
  void end_rotation(Index steps);
  void record_ghosts(Index steps, bool has_failed);

  std::unique_ptr<Parts> parts_;
};

template <class Function>
Family& Family::body(Function function) {
  static_assert(TaskBody<Function>,
                "the body of a family takes a Task, or one to four coordinates of type Index, or "
                "nothing");
  if constexpr (TaskBody<Function>) {
    set_body(std::make_shared<Function>(std::move(function)), [](void* pointer, const Task& task) {
      detail::call_with(*static_cast<Function*>(pointer), task);
    });
  }
  return *this;
}

template <class Condition>
Family& Family::only_if(Condition condition) {
  static_assert(detail::SaysWhether<Condition>,
                "a condition takes what a body takes, and returns bool");
  if constexpr (detail::SaysWhether<Condition>) {
    set_condition(std::make_shared<Condition>(std::move(condition)),
                  [](void* pointer, const Task& task) -> bool {
                    return detail::call_with(*static_cast<Condition*>(pointer), task);
                  });
  }
  return *this;
}

template <class Body>
Family Graph::task(std::string name, Body body) {
  static_assert(TaskBody<Body>, "the body of a task takes a Task, or nothing");
  Family task = single(std::move(name));
  if constexpr (TaskBody<Body>) task.body(std::move(body));
  return task;
}

}  // namespace sorrel::graph

namespace sorrel {

using graph::Graph;

}  // namespace sorrel
