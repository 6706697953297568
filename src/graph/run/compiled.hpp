//! Compiled - a graph as the workers use it: for each family its body, its counters, and its
//! *zones*.
//!
//! Within a zone of a family, all tasks have the same successors at the same distances, each of
//! which expects the same number of arrivals: an arrival is an addition to an index. Zones are few,
//! whatever the number of tasks.
//!
//! Made once per graph from the Dag; constant while the graph runs, but for the counters. Counters
//! and the cells of deques are memory that the system gives zeroed when it is first touched, so
//! compiling takes as long as the families are many, not the tasks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include <sorrel/graph/graph.hpp>

#include "base/check.hpp"
#include "graph/dag/dag.hpp"
#include "graph/run/arrivals.hpp"

namespace sorrel::graph {

/// `count` values of a type whose all-zero is its beginning, from pages not yet touched.
template <class T>
class ZeroedArray {
 public:
  ZeroedArray() = default;

  explicit ZeroedArray(std::size_t count)
      : values_(static_cast<T*>(std::calloc(count == 0 ? 1 : count, sizeof(T)))) {
    SORREL_CHECK(values_ != nullptr, "no memory for %zu counters of a graph", count);
  }

  [[nodiscard]] T* data() const { return values_.get(); }

 private:
  struct Free {
    void operator()(T* values) const { std::free(values); }
  };

  std::unique_ptr<T, Free> values_;
};

struct Body {
  std::shared_ptr<void> object;
  void (*call)(void* object, const Task& task) = nullptr;
};

struct CompiledFamily;

/// One successor of every task of a zone.
struct Arc {
  CompiledFamily* to = nullptr;
  /// From the task's key, and from its index.
  Key shift{};
  Index distance = 0;
  /// Arrivals that it waits for.
  std::uint32_t in_first_step = 0;
  std::uint32_t in_later_steps = 0;
  /// In later steps it has to look whether its step may begin.
  bool looks_at_gate = false;
};

struct Zone {
  KeyBox keys;
  /// Successors in the same step; the one nearest in memory is the last.
  std::vector<Arc> in_step;
  std::vector<Arc> crossing;
  /// No successor in the same step.
  bool is_sink = false;
};

/// What all tasks within `keys` wait for: in the first step, and in later ones.
struct Expectation {
  KeyBox keys;
  std::uint32_t in_first_step = 0;
  std::uint32_t in_later_steps = 0;
  bool looks_at_gate = false;
};

struct CompiledFamily {
  void (*call)(void* object, const Task& task) = nullptr;
  void* object = nullptr;
  Arrivals* arrivals = nullptr;
  Index task_count = 0;
  /// The number of its first task among all tasks of the graph.
  Index first_task = 0;
  FamilyKind kind = FamilyKind::task;
  bool fills_gaps = false;
  KeyBox filling;
  int index = 0;
  /// The channel of the first message's first slot.
  int first_channel = 0;
  bool follows_rotation = false;
  /// What is added to a step to tell the channel of a message: 0 or 1.
  int phase = 0;
  Space space{1};
  /// The largest first.
  std::vector<Zone> zones;
  /// Edges from a task to many, or to another kind of key.
  std::vector<Edge> wide_in_step;
  std::vector<Edge> wide_crossing;
  std::vector<Expectation> expectations;

  [[nodiscard]] bool is_filling(const Key& key) const {
    return fills_gaps && filling.contains(key);
  }

  [[nodiscard]] const Zone& zone_of(const Key& key) const {
    for (const Zone& zone : zones)
      if (zone.keys.contains(key)) [[likely]]
        return zone;
    SORREL_CHECK(false, "no zone");
  }

  [[nodiscard]] const Expectation& expectation_of(const Key& key) const {
    for (const Expectation& expectation : expectations)
      if (expectation.keys.contains(key)) return expectation;
    SORREL_CHECK(false, "no expectation");
  }
};

/// Tasks of one family with which a step begins.
struct RootBox {
  CompiledFamily* family = nullptr;
  KeyBox keys;
  /// Of the first one, among all that are tasks.
  std::uint32_t first = 0;
};

class Compiled {
 public:
  /// Adds the implied edges to `dag`, which outlives this.
  Compiled(Dag& dag, const std::vector<Body>& bodies);

  [[nodiscard]] CompiledFamily& family(std::size_t index) { return families_[index]; }

  [[nodiscard]] std::size_t family_count() const { return families_.size(); }

  /// Of a task, by its number among all.
  [[nodiscard]] CompiledFamily& family_of(Index number);

  /// Those that are tasks.
  [[nodiscard]] const std::vector<RootBox>& roots() const { return roots_; }

  /// In `roots()`.
  [[nodiscard]] std::uint32_t root_count() const { return root_count_; }

  /// Those that are messages, receives first.
  [[nodiscard]] const std::vector<RootBox>& message_roots() const { return message_roots_; }

  /// Tasks without a successor in their step.
  [[nodiscard]] std::int64_t sink_count() const { return sink_count_; }

  /// Of a step.
  [[nodiscard]] std::int64_t task_count() const { return task_count_; }

  /// Steps that may be under way together: 1 or 2.
  [[nodiscard]] Index window() const { return window_; }

  /// Counters of a task: a step that is under way may send arrivals to the next one, too.
  [[nodiscard]] std::uint32_t counter_sets() const { return window_ == 1 ? 1 : 3; }

  [[nodiscard]] bool has_gap_fillers() const { return has_gap_fillers_; }

  /// So many steps are done, and another run begins with step 0. When nobody runs.
  void count_steps(Index steps);

  /// As before the first step. When nobody runs.
  void clear_counters();

 private:
  void add_expectations(const Dag& dag);
  void number_roots();
  void add_zones(const Dag& dag, CompiledFamily& family);

  std::vector<CompiledFamily> families_;
  std::vector<RootBox> roots_;
  std::vector<RootBox> message_roots_;
  std::vector<ZeroedArray<Arrivals>> counters_;
  std::uint32_t root_count_ = 0;
  std::int64_t sink_count_ = 0;
  std::int64_t task_count_ = 0;
  Index window_ = 1;
  bool has_gap_fillers_ = false;
};

}  // namespace sorrel::graph
