//! Compiled - a graph as the runner uses it: for each family its body, its counters, and its
//! regions of uniform successors.
//!
//! Within a region of a family, all tasks have the same successors at the same distances, and each
//! of these successors has the same in-degree: to satisfy a dependency is an addition to an index.
//! Regions are few, whatever the number of tasks.
//!
//! Made once per graph from the Dag; constant while the graph runs, except the counters. Counters
//! and cells of deques are zero pages until they are touched, so compiling takes time in proportion
//! to the number of families, not of tasks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include <sorrel/graph/graph.hpp>

#include "base/check.hpp"
#include "graph/dag/dag.hpp"
#include "graph/run/dependency_counter.hpp"

namespace sorrel::graph {

/// `count` values of a type whose initial state is all zero, in pages not yet touched.
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
  /// Whether a task runs the body; null: every task does.
  std::shared_ptr<void> condition = nullptr;
  bool (*test)(void* condition, const Task& task) = nullptr;
};

struct CompiledFamily;

/// One edge to a successor, the same for every task of a region.
struct CompiledEdge {
  CompiledFamily* to = nullptr;
  /// Added to the task's key; added to its index.
  Key shift{};
  Index distance = 0;
  /// In-degree of the successor.
  std::uint32_t in_first_step = 0;
  std::uint32_t in_later_steps = 0;
  /// In later steps the successor also needs the admission of its step.
  bool needs_admission = false;
};

struct SuccessorRegion {
  Box<dimension_count_max> keys;
  /// Edges to successors in the same step; the nearest in memory is the last.
  std::vector<CompiledEdge> in_step;
  std::vector<CompiledEdge> crossing;
  /// No successor in the same step.
  bool is_sink = false;
};

/// In-degree of all tasks within `keys`: in the first step, and in later steps.
struct InDegree {
  Box<dimension_count_max> keys;
  std::uint32_t in_first_step = 0;
  std::uint32_t in_later_steps = 0;
  bool needs_admission = false;
};

struct CompiledFamily {
  void (*call)(void* object, const Task& task) = nullptr;
  void* object = nullptr;
  DependencyCounter* counters = nullptr;
  Index task_count = 0;
  /// Number of its first task among all tasks of the graph.
  Index first_task = 0;
  FamilyKind kind = FamilyKind::task;
  bool fills_gaps = false;
  Box<dimension_count_max> filling;
  int index = 0;
  /// Channels of messages: those of step s, one for each key, begin at first_channels[s mod size].
  std::vector<int> first_channels;
  Space space{1};
  /// The largest first.
  std::vector<SuccessorRegion> regions;
  /// Edges from a task to many, or to another kind of key.
  std::vector<Edge> wide_in_step;
  std::vector<Edge> wide_crossing;
  std::vector<InDegree> in_degrees;

  /// The channel of a message in a step.
  [[nodiscard]] int channel_of(Index message, Index step) const {
    const std::size_t slots = first_channels.size();
    const auto number = static_cast<std::size_t>(step);
    return first_channels[slots == 1   ? 0
                          : slots == 2 ? number & 1
                                       : number % slots] +
           static_cast<int>(message);
  }

  [[nodiscard]] bool is_filling(const Key& key) const {
    return fills_gaps && filling.contains(key);
  }

  [[nodiscard]] const SuccessorRegion& region_of(const Key& key) const {
    for (const SuccessorRegion& region : regions)
      if (region.keys.contains(key)) [[likely]]
        return region;
    SORREL_CHECK(false, "no region");
  }

  [[nodiscard]] const InDegree& in_degree_of(const Key& key) const {
    for (const InDegree& in_degree : in_degrees)
      if (in_degree.keys.contains(key)) return in_degree;
    SORREL_CHECK(false, "no in_degree");
  }
};

/// Tasks of one family with which a step begins.
struct RootBox {
  CompiledFamily* family = nullptr;
  Box<dimension_count_max> keys;
  /// Number of the first one among all roots that are tasks.
  std::uint32_t first = 0;
};

class Compiled {
 public:
  /// Adds the implied edges to `dag`. Both outlive this object.
  Compiled(Dag& dag, const std::vector<Body>& bodies);

  [[nodiscard]] CompiledFamily& family(std::size_t index) { return families_[index]; }

  [[nodiscard]] std::size_t family_count() const { return families_.size(); }

  /// The family of a task, by the task's number in the graph.
  [[nodiscard]] CompiledFamily& family_of(Index number);

  /// Roots that are tasks.
  [[nodiscard]] const std::vector<RootBox>& roots() const { return roots_; }

  /// Number of tasks in `roots()`.
  [[nodiscard]] std::uint32_t root_count() const { return root_count_; }

  /// Roots that are messages, receives first.
  [[nodiscard]] const std::vector<RootBox>& message_roots() const { return message_roots_; }

  /// Number of tasks without a successor in their step.
  [[nodiscard]] std::int64_t sink_count() const { return sink_count_; }

  /// Number of tasks in a step.
  [[nodiscard]] std::int64_t task_count() const { return task_count_; }

  /// The number of tasks without joins.
  [[nodiscard]] std::int64_t reported_task_count() const { return reported_task_count_; }

  /// Steps that may be in progress together: 1 or 2.
  [[nodiscard]] Index window() const { return window_; }

  /// Counters of a task: a step in progress may satisfy dependencies of the next step, too.
  [[nodiscard]] std::uint32_t counter_sets() const { return window_ == 1 ? 1 : 3; }

  [[nodiscard]] bool has_gap_fillers() const { return has_gap_fillers_; }

  /// Between runs: every dependency counter is zero.
  void check_invariants() const;

  /// Resets all counters. Not during a run.
  void clear_counters();

 private:
  void add_in_degrees(const Dag& dag);
  void number_roots();
  void add_regions(const Dag& dag, CompiledFamily& family);

  std::vector<CompiledFamily> families_;
  std::vector<RootBox> roots_;
  std::vector<RootBox> message_roots_;
  std::vector<ZeroedArray<DependencyCounter>> counters_;
  std::uint32_t root_count_ = 0;
  std::int64_t sink_count_ = 0;
  std::int64_t task_count_ = 0;
  std::int64_t reported_task_count_ = 0;
  Index window_ = 1;
  bool has_gap_fillers_ = false;
};

}  // namespace sorrel::graph
