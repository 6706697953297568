//! Graph - says what depends on what; run() keeps the order and fills every wait with other work.
//!
//!   sorrel::Graph g;
//!   auto wave = g.family("wave", {rows, columns}).run([&](Index i, Index j) { ... });
//!   wave.after(wave, offset(-1, 0)).after(wave, offset(0, -1));
//!   g.run({.steps = 10});
//!
//! A family is all tasks that share a body; a task is a family and a key. Edges are functions of
//! keys, so building a graph takes as long for a million tasks as for ten, and a step allocates
//! nothing. One thread or rank builds and runs a graph; others that have nothing to do help it,
//! as they help parallel_for(): threads of the library in a plain program, idle workers in a job.
//!
//! Steps overlap as far as edges of kind `previous_step` allow, two at a time; every task then also
//! comes after itself of the step before. Without such an edge one step follows the other.
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

/// What is wrong with a graph, one line that names families or tasks. Thrown by the call that said
/// it, or by run() for what only the whole graph can tell.
class GraphError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One task, as its body sees it.
struct Task {
  Key key{};
  /// Counted from 0 in each run().
  Index step = 0;
};

enum class When {
  this_step,
  previous_step,
};

inline constexpr When previous_step = When::previous_step;

/// When a task runs of which several are ready.
enum class Priority : std::uint8_t {
  normal,
  fill,  ///< while there is nothing else to do
};

struct RunOptions {
  Index steps = 1;
};

/// What a run() has taken, on the calling rank.
struct Report {
  Index steps = 0;
  /// Tasks and messages, all steps together.
  Index tasks = 0;
  double seconds = 0;
  /// Of these, waiting for messages with nothing else to do.
  double waiting_seconds = 0;
};

class AnyField;
class Graph;
class Tiling;
struct Declaration;
template <class... Declared>
class Sweep;

/// A family of a graph: a name for it, to be copied. Valid as long as the graph.
class Family {
 public:
  /// The body: called as body(Task), body(i), body(i, j), body(i, j, k) or body(), whichever it
  /// takes. Several tasks run at once. It may throw: tasks that have not begun are left out, and
  /// one of the exceptions comes out of Graph::run(). MPI may be called by none; parallel_for() by
  /// all.
  template <class Body>
  Family& run(Body body);

  /// Each task comes after those of `other` that the relation names.
  Family& after(const Family& other, const Relation& relation = same_tile, When when = {});
  Family& after(const Family& other, const Relations& relations, When when = {});

  Family& after(const Family& other, When when) { return after(other, same_tile, when); }

  Family& priority(Priority priority);

 private:
  friend class Graph;
  using Call = void (*)(void* body, const Task& task);

  Family(Graph& graph, int index) : graph_(&graph), index_(index) {}

  void set_body(std::shared_ptr<void> body, Call call);

  Graph* graph_;
  int index_;
};

class Graph {
 public:
  /// A graph within one process.
  Graph();
  /// A graph whose messages travel by `messenger`.
  explicit Graph(std::unique_ptr<Messenger> messenger);
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  /// Not while it runs.
  ~Graph();

  /// A family of tasks.
  Family family(std::string name, const Space& space);

  /// What a family of messages says about one of them. `slot` is 0 or 1: that of the step modulo 2.
  /// Two steps overlap, and the two must not share bytes where they do.
  using MessageOf = std::function<Message(const Key& key, int slot)>;

  /// A family of messages to send: each leaves when the tasks before it are done, and the tasks
  /// after it may write to its bytes again.
  Family send(std::string name, const Space& space, MessageOf message);

  /// A family of messages to receive: each is expected from the beginning of its step, which is
  /// when all tasks of the step before the last one are done, and the tasks after it find it in its
  /// bytes.
  Family receive(std::string name, const Space& space, MessageOf message);

  /// The tiles of a grid, which see their neighbours: see sweep.hpp, which defines it. The tiling
  /// outlives the graph.
  Sweep<> over(const Tiling& tiling, std::string name = "sweep");

  /// After each step the first field is what the second one was, and so on, and the last one what
  /// the first one was: the next step reads what this one has written. Nothing is copied.
  template <class... Fields>
  void rotate(Fields&... fields) {
    rotate_all({&fields...});
  }

  /// What a sweep does; said by Sweep::run().
  void declare(const Family& tiles, const Tiling& tiling, std::vector<Declaration> declared);

  /// Runs all tasks of all steps. What comes out of a task comes out of here, after which the graph
  /// may be run again if it has no messages. Not from within a task of this graph. May suspend.
  Report run(const RunOptions& options = {});

  /// A family a paragraph, with what it comes after.
  [[nodiscard]] std::string print() const;

  /// The same for Graphviz: families, or with `has_tasks` every task.
  [[nodiscard]] std::string dot(bool has_tasks = false) const;

  /// "" or the task whose exception came out of the last run(): "wave(3, 4), step 7".
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
