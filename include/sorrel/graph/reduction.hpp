//! Reduction - one value of each step from values of its tasks, over all ranks of the graph.
//!
//!   Reduction<double> residual(g, "residual", 0.0);
//!   auto part = residual.of(tile);
//!   tile.body([=](const Task& task) { ...; part(task) = norm; });
//!   other.after(residual.result());                        // reads residual.value(task.step)
//!   g.run({.steps = 1000, .until = [&](Index) { return residual.last() < 1e-9; }});
//!
//! Values are combined in the order of families, of keys, and of ranks, so the result does not
//! depend on threads or timing; it is the same on every rank. Between ranks it travels as messages
//! of the graph, up and down a binomial tree, while other tasks run. The ranks construct their
//! reductions in the same order. A copy refers to the same reduction. Source of the tree: Thakur,
//! Rabenseifner, Gropp, "Optimization of collective communication operations in MPICH", 2005.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <sorrel/graph/graph.hpp>
#include <sorrel/lossless.hpp>

namespace sorrel::graph {

/// What Reduction needs of its type and its function.
template <class Combine, class T>
concept Combines =
    std::copyable<T> && sorrel::detail::returns_whole<T, Combine&, const T&, const T&>();

template <class T>
class Reduction;

/// Where the tasks of one family leave their values for a Reduction. Copyable; use it in bodies.
template <class T>
class Contribution {
 public:
  /// The value of a task in its step. Never suspends.
  ///
  /// @param task the calling task, of the family that Reduction::of() was given
  /// @return the value, the neutral element until the task changes it
  T& operator()(const Task& task) const {
    return parts_->slots[static_cast<std::size_t>(task.step & 1)]
                        [static_cast<std::size_t>(parts_->space.index_of(task.key))];
  }

 private:
  friend class Reduction<T>;

  /// The values of two steps that may overlap.
  struct Parts {
    Space space;
    std::array<std::vector<T>, 2> slots;
  };

  explicit Contribution(std::shared_ptr<Parts> parts) : parts_(std::move(parts)) {}

  std::shared_ptr<Parts> parts_;
};

/// One value of each step, combined from values of tasks, over all ranks of the graph.
template <class T>
class Reduction {
 public:
  /// Adds the reduction to a graph. On all ranks of the graph, in the same order.
  ///
  /// @param graph must outlive the reduction
  /// @param name for error messages and Graph::print()
  /// @param identity the neutral element of `combine`
  /// @param combine adds two values; associative
  /// @throws GraphError if the messenger does not say which rank this is, or if T is not trivially
  /// copyable in a graph of several ranks
  template <class Combine = std::plus<>>
  Reduction(Graph& graph, const std::string& name, T identity, Combine combine = {})
      : state_(std::make_shared<State>(std::move(identity))),
        own_(graph.task(checked(graph, name) + " of this rank",
                        [state = state_](const Task& task) { state->combine_own(task.step); })),
        result_(own_) {
    static_assert(Combines<Combine, T>,
                  "a reduction combines two values, T combine(const T&, const T&)");
    if constexpr (Combines<Combine, T>) state_->combine = std::move(combine);
    graph.after_failure([state = state_] { state->reset(); });
    Family last = own_;
    std::vector<int> children;
    if (graph.rank_count() > 1) add_way_up(graph, name, last, children);
    result_ = graph.task(name, [state = state_](const Task& task) { state->keep(task.step); });
    result_.after(last);
    if (graph.rank_count() > 1) add_way_down(graph, name, children);
  }

  /// The tasks of a family contribute a value in each step: the task that combines them follows all
  /// of these.
  ///
  /// @param tasks a family of the same graph
  /// @return where the bodies of these tasks leave their values
  Contribution<T> of(const Family& tasks) {
    using Parts = typename Contribution<T>::Parts;
    auto parts = std::make_shared<Parts>(Parts{tasks.space(), {}});
    for (std::vector<T>& slot : parts->slots)
      slot.assign(static_cast<std::size_t>(parts->space.count()), state_->identity);
    own_.after(tasks, everything);
    state_->sources.push_back(parts);
    return Contribution<T>(std::move(parts));
  }

  /// @return the single task after which value() of its step is known
  [[nodiscard]] Family result() const { return result_; }

  /// The value of a step. For tasks that follow result() in that step, or in the step after, and
  /// between steps.
  ///
  /// @param step at most two steps old
  /// @return its value, the same on all ranks; the neutral element of a step before the first one
  [[nodiscard]] const T& value(Index step) const {
    if (step < 0) return state_->identity;
    return state_->results[static_cast<std::size_t>(step % 3)];
  }

  /// Not while the graph runs, except in `until` of RunOptions.
  ///
  /// @return the value of the last step that is done; the neutral element before
  [[nodiscard]] const T& last() const { return value(state_->last_step); }

 private:
  struct State {
    explicit State(T neutral)
        : identity(std::move(neutral)),
          partial{identity, identity},
          total{identity, identity},
          results{identity, identity, identity} {}

    void combine_own(Index step) {
      const auto slot = static_cast<std::size_t>(step & 1);
      T sum = identity;
      for (const auto& source : sources) {
        for (T& part : source->slots[slot])
          sum = combine(sum, std::exchange(part, identity));
      }
      partial[slot] = std::move(sum);
    }

    /// The result of a step: from the parent, or what this rank has combined.
    void keep(Index step) {
      const auto slot = static_cast<std::size_t>(step & 1);
      if (!has_parent) total[slot] = partial[slot];
      results[static_cast<std::size_t>(step % 3)] = total[slot];
      last_step = step;
    }

    /// After a failed run, whose tasks may have contributed.
    void reset() {
      for (const auto& source : sources)
        for (std::vector<T>& slot : source->slots)
          slot.assign(slot.size(), identity);
    }

    T identity;
    std::function<T(const T&, const T&)> combine;
    std::vector<std::shared_ptr<typename Contribution<T>::Parts>> sources;
    // For two steps that may overlap: values of this rank and of ranks below it; of all ranks; what
    // children have sent.
    std::array<T, 2> partial;
    std::array<T, 2> total;
    std::vector<std::unique_ptr<std::array<T, 2>>> received;
    bool has_parent = false;
    /// Read in the step after, while the next one may be combined.
    std::array<T, 3> results;
    Index last_step = 0;
  };

  /// Returns the name, if the graph can have such a reduction.
  static const std::string& checked(const Graph& graph, const std::string& name) {
    if (graph.rank_count() == 1) return name;
    if (!std::is_trivially_copyable_v<T>)
      throw GraphError("graph: " + name + ": its values are not trivially copyable");
    if (graph.rank() < 0)
      throw GraphError("graph: " + name + ": the messenger does not say which rank this is");
    return name;
  }

  /// Combines the values of the ranks below this one in the tree, in order, and sends the sum up.
  /// `last` becomes what follows them all.
  void add_way_up(Graph& graph, const std::string& name, Family& last, std::vector<int>& children) {
    tag_ = graph.take_tag();
    const int rank = graph.rank();
    State* state = state_.get();
    int mask = 1;
    for (; mask < graph.rank_count() && (rank & mask) == 0; mask *= 2) {
      const int child = rank + mask;
      if (child >= graph.rank_count()) break;
      children.push_back(child);
      state->received.push_back(
          std::make_unique<std::array<T, 2>>(std::array<T, 2>{state->identity, state->identity}));
      std::array<T, 2>* received = state->received.back().get();
      const Family message = graph.receive(name + " from " + std::to_string(child), {1},
                                           message_with(child, *received));
      Family sum = graph.task(name + " with " + std::to_string(child), [=](const Task& task) {
        const auto slot = static_cast<std::size_t>(task.step & 1);
        state->partial[slot] = state->combine(state->partial[slot], (*received)[slot]);
      });
      sum.after(last, message);
      last = sum;
    }
    if (rank == 0) return;
    parent_ = rank - (rank & -rank);
    state->has_parent = true;
    graph.send(name + " to " + std::to_string(parent_), {1}, message_with(parent_, state->partial))
        .after(last, everything);
  }

  /// The result from the parent, and to the children.
  void add_way_down(Graph& graph, const std::string& name, const std::vector<int>& children) {
    std::array<T, 2>& total = state_->total;
    if (state_->has_parent)
      result_.after(graph.receive(name + " of all from " + std::to_string(parent_), {1},
                                  message_with(parent_, total)));
    for (auto child = children.rbegin(); child != children.rend(); ++child)
      graph.send(name + " of all to " + std::to_string(*child), {1}, message_with(*child, total))
          .after(result_, everything);
  }

  /// A message of one value. The state outlives the graph's messages, which its bodies hold.
  auto message_with(int peer, std::array<T, 2>& values) const {
    return [peer, tag = tag_, &values](const Key&, int slot) {
      return Message{peer,
                     tag,
                     std::as_writable_bytes(std::span(&values[static_cast<std::size_t>(slot)], 1)),
                     {}};
    };
  }

  std::shared_ptr<State> state_;
  Family own_;
  Family result_;
  int tag_ = 0;
  int parent_ = 0;
};

}  // namespace sorrel::graph
