#include "graph/dag/order.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <vector>

namespace sorrel::graph {

namespace {

// A longer cycle is cut after its first tasks in the output.
constexpr std::size_t shown_count_max = 8;

/// The strongly connected components of the families, by edges within a step. Source: Tarjan, 1972,
/// with a stack of its own: a chain of families may be long.
class Components {
 public:
  Components(int family_count, const std::vector<Edge>& edges)
      : after_(static_cast<std::size_t>(family_count)),
        visits_(static_cast<std::size_t>(family_count)) {
    for (const Edge& edge : edges)
      if (!edge.crosses_step) after_[static_cast<std::size_t>(edge.from)].push_back(edge.to);
    for (int family = 0; family < family_count; ++family)
      if (visit_of(family).number == 0) search(family);
  }

  /// Whether the edge is part of a cycle of families.
  [[nodiscard]] bool is_in_cycle(const Edge& edge) const {
    return !edge.crosses_step && component_of(edge.from) == component_of(edge.to);
  }

  [[nodiscard]] int component_of(int family) const {
    return visits_[static_cast<std::size_t>(family)].component;
  }

 private:
  struct Visit {
    /// Counts from 1, in the order of the search; 0: not visited.
    int number = 0;
    /// The smallest number that is known to be reachable.
    int low = 0;
    int component = -1;
    /// Successors that have been looked at.
    std::size_t seen = 0;
  };

  Visit& visit_of(int family) { return visits_[static_cast<std::size_t>(family)]; }

  void enter(int family) {
    visit_of(family).number = visit_of(family).low = ++visit_count_;
    path_.push_back(family);
    open_.push_back(family);
  }

  void search(int first) {
    enter(first);
    while (!path_.empty()) {
      const int family = path_.back();
      Visit& visit = visit_of(family);
      const std::vector<int>& after = after_[static_cast<std::size_t>(family)];
      if (visit.seen < after.size()) {
        const Visit& next = visit_of(after[visit.seen]);
        if (next.number == 0) {
          enter(after[visit.seen]);
          continue;
        }
        if (next.component < 0) visit.low = std::min(visit.low, next.low);
        ++visit.seen;
        continue;
      }
      path_.pop_back();
      if (visit.low == visit.number) close(family);
    }
  }

  /// All families that were opened since `root` are its component.
  void close(int root) {
    int family = -1;
    do {
      family = open_.back();
      open_.pop_back();
      visit_of(family).component = component_count_;
    } while (family != root);
    ++component_count_;
  }

  std::vector<std::vector<int>> after_;
  std::vector<Visit> visits_;
  std::vector<int> path_;
  std::vector<int> open_;
  int visit_count_ = 0;
  int component_count_ = 0;
};

/// -1, 0, 1: the predecessor's key is before, equal to, or after the task's key in the
/// lexicographic order of `dimensions`, each taken upwards or downwards; 2: undecided.
int side_of(const Dag& dag,
            const Edge& edge,
            const std::array<int, dimension_count_max>& dimensions,
            unsigned downwards) {
  const int dimension_count = dag.family(edge.from).space.dimension_count();
  if (dag.family(edge.to).space.dimension_count() != dimension_count) return 2;
  for (const int d : dimensions) {
    if (d >= dimension_count) continue;
    const Axis& axis = edge.relation.axes[static_cast<std::size_t>(d)];
    if (axis.kind != Axis::Kind::follows || axis.dimension != d) return 2;
    // One number instead of two conditions: GCC 12 with sanitizers miscompiles the conditions.
    const Index along = (downwards >> d & 1U) != 0 ? -axis.offset : axis.offset;
    if (along != 0) return along < 0 ? -1 : 1;
  }
  return 0;
}

/// Whether all edges of one cycle of families lead forward in some lexicographic order of keys, and
/// edges that stay at the same key form no cycle.
bool has_lexicographic_order(const Dag& dag, const std::vector<Edge>& edges) {
  std::array<int, dimension_count_max> dimensions{0, 1, 2, 3};
  do {
    for (unsigned downwards = 0; downwards < 1U << dimension_count_max; ++downwards) {
      std::vector<Edge> level;
      bool fits = true;
      for (const Edge& edge : edges) {
        const int side = side_of(dag, edge, dimensions, downwards);
        fits = fits && side <= 0;
        if (side == 0) level.push_back(edge);
      }
      if (!fits) continue;
      const Components same_key(dag.family_count(), level);
      if (std::none_of(level.begin(), level.end(),
                       [&](const Edge& edge) { return same_key.is_in_cycle(edge); }))
        return true;
    }
  } while (std::next_permutation(dimensions.begin(), dimensions.end()));
  return false;
}

struct SortedTask {
  int family;
  Key key;
};

/// Kahn's algorithm (1962) over all tasks.
class Sorter {
 public:
  explicit Sorter(const Dag& dag) : dag_(dag) {
    for (int f = 0; f < dag.family_count(); ++f) {
      const Space& space = dag.family(f).space;
      missing_.emplace_back(static_cast<std::size_t>(space.count()), 0);
      for_each_key(space.box(), [&](const Key& key) {
        Index& missing = missing_of({f, key});
        for (const Edge& edge : dag.edges_into(f))
          if (!edge.crosses_step) missing += dag.predecessors(edge, key).count();
        if (missing == 0) ready_.push_back({f, key});
      });
    }
  }

  void sort() {
    while (!ready_.empty()) {
      const SortedTask task = ready_.back();
      ready_.pop_back();
      for (const Edge& edge : dag_.edges_from(task.family)) {
        if (edge.crosses_step) continue;
        for_each_key(dag_.successors(edge, task.key), [&](const Key& key) {
          if (--missing_of({edge.to, key}) == 0) ready_.push_back({edge.to, key});
        });
      }
    }
  }

  /// Tasks of a cycle, if any are left over.
  [[nodiscard]] std::vector<SortedTask> cycle() {
    std::vector<SortedTask> path;
    for (int f = 0; f < dag_.family_count() && path.empty(); ++f) {
      const std::vector<Index>& missing = missing_[static_cast<std::size_t>(f)];
      const auto left =
          std::find_if(missing.begin(), missing.end(), [](Index m) { return m != 0; });
      if (left != missing.end())
        path.push_back({f, dag_.family(f).space.key_at(left - missing.begin())});
    }
    // A task that is left over has a predecessor that is left over: going back ends in a cycle.
    while (!path.empty()) {
      const SortedTask before = left_over_before(path.back());
      const auto seen = std::find_if(path.begin(), path.end(), [&](const SortedTask& task) {
        return task.family == before.family && task.key == before.key;
      });
      const bool is_closed = seen != path.end();
      if (is_closed) path.erase(path.begin(), seen);
      path.push_back(before);
      if (is_closed) break;
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

 private:
  Index& missing_of(const SortedTask& task) {
    return missing_[static_cast<std::size_t>(task.family)]
                   [static_cast<std::size_t>(dag_.family(task.family).space.index_of(task.key))];
  }

  SortedTask left_over_before(const SortedTask& task) {
    SortedTask found = task;
    for (const Edge& edge : dag_.edges_into(task.family)) {
      if (edge.crosses_step) continue;
      for_each_key(dag_.predecessors(edge, task.key), [&](const Key& key) {
        if (missing_of({edge.from, key}) != 0) found = {edge.from, key};
      });
    }
    return found;
  }

  const Dag& dag_;
  std::vector<std::vector<Index>> missing_;
  std::vector<SortedTask> ready_;
};

}  // namespace

std::string find_cycle_of_tasks(const Dag& dag) {
  Sorter sorter(dag);
  sorter.sort();
  const std::vector<SortedTask> cycle = sorter.cycle();
  if (cycle.empty()) return "";
  std::string text = "graph: a task comes before itself: ";
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    if (i == shown_count_max && i + 1 < cycle.size()) {
      text += " -> ... -> " + dag.name_of(cycle.back().family, cycle.back().key);
      break;
    }
    text += (i == 0 ? "" : " -> ") + dag.name_of(cycle[i].family, cycle[i].key);
  }
  return text;
}

std::string find_order_error(const Dag& dag) {
  const Components components(dag.family_count(), dag.edges());
  // The edges of each cycle of families.
  std::map<int, std::vector<Edge>> cycles;
  for (const Edge& edge : dag.edges())
    if (components.is_in_cycle(edge)) cycles[components.component_of(edge.from)].push_back(edge);
  for (const auto& [component, edges] : cycles)
    if (!has_lexicographic_order(dag, edges)) return find_cycle_of_tasks(dag);
  return "";
}

}  // namespace sorrel::graph
