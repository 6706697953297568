#include "graph/dag/order.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace sorrel::graph {

namespace {

// Of a longer cycle only the first tasks are printed.
constexpr std::size_t shown_count_max = 8;

/// component[f]: strongly connected component of a family.
class Components {
 public:
  explicit Components(const Dag& dag) {
    const auto count = static_cast<std::size_t>(dag.family_count());
    reach_.assign(count, std::vector<bool>(count, false));
    for (const Edge& edge : dag.edges())
      if (!edge.crosses_step) reach(edge.from, edge.to) = true;
    for (std::size_t via = 0; via < count; ++via)
      for (std::size_t from = 0; from < count; ++from)
        for (std::size_t to = 0; to < count; ++to)
          if (reach_[from][via] && reach_[via][to]) reach_[from][to] = true;
  }

  /// Whether the edge is part of a cycle of families.
  [[nodiscard]] bool is_in_cycle(const Edge& edge) const {
    return !edge.crosses_step && reaches(edge.to, edge.from);
  }

  [[nodiscard]] bool are_together(const Edge& one, const Edge& other) const {
    return one.from == other.from || reaches(one.from, other.from);
  }

 private:
  std::vector<bool>::reference reach(int from, int to) {
    return reach_[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
  }

  [[nodiscard]] bool reaches(int from, int to) const {
    return reach_[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
  }

  std::vector<std::vector<bool>> reach_;
};

/// -1, 0, 1: the predecessor's key is before, equal to, or after the task's key in the
/// lexicographic order of `dimensions`, each taken upwards or downwards; 2: undecided.
int side_of(const Dag& dag,
            const Edge& edge,
            const std::array<int, 3>& dimensions,
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
  std::array<int, 3> dimensions{0, 1, 2};
  do {
    for (unsigned downwards = 0; downwards < 8; ++downwards) {
      Dag level;
      for (int f = 0; f < dag.family_count(); ++f)
        level.add_family({"", {1}, FamilyKind::task});
      bool fits = true;
      for (const Edge& edge : edges) {
        const int side = side_of(dag, edge, dimensions, downwards);
        fits = fits && side <= 0;
        if (side == 0) static_cast<void>(level.add_edge({edge.from, edge.to, same_tile}));
      }
      if (!fits) continue;
      const Components same_key(level);
      if (std::none_of(level.edges().begin(), level.edges().end(),
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
        for (const Edge& edge : dag.edges())
          if (edge.to == f && !edge.crosses_step) missing += dag.predecessors(edge, key).count();
        if (missing == 0) ready_.push_back({f, key});
      });
    }
  }

  void sort() {
    while (!ready_.empty()) {
      const SortedTask task = ready_.back();
      ready_.pop_back();
      for (const Edge& edge : dag_.edges()) {
        if (edge.from != task.family || edge.crosses_step) continue;
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
    for (const Edge& edge : dag_.edges()) {
      if (edge.to != task.family || edge.crosses_step) continue;
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
  const Components components(dag);
  std::vector<Edge> left;
  for (const Edge& edge : dag.edges())
    if (components.is_in_cycle(edge)) left.push_back(edge);
  while (!left.empty()) {
    const Edge first = left.front();
    std::vector<Edge> together;
    for (const Edge& edge : left)
      if (components.are_together(first, edge)) together.push_back(edge);
    std::erase_if(left, [&](const Edge& edge) { return components.are_together(first, edge); });
    if (!has_lexicographic_order(dag, together)) return find_cycle_of_tasks(dag);
  }
  return "";
}

}  // namespace sorrel::graph
