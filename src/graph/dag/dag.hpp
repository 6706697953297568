//! Dag - families of tasks and the edges between them: the graph as a function of its key.
//!
//! Pure: includes base only and runs nothing. An edge states which tasks of `from` come before a
//! task of `to`, in the same step or in the one before (`crosses_step`). Both directions of an edge
//! are boxes of keys in closed form, and so are the regions of a family in which every task has
//! equally many predecessors and successors. No cost here depends on the number of tasks, except
//! the exact search for cycles (order.hpp) where offsets do not suffice.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <string>
#include <vector>

#include <sorrel/graph/relation.hpp>
#include <sorrel/graph/space.hpp>

namespace sorrel::graph {

enum class FamilyKind : std::uint8_t { task, send, receive };

struct FamilyInfo {
  std::string name;
  Space space;
  FamilyKind kind = FamilyKind::task;
  /// Whether the tasks within `filling` run only while no other task is ready.
  bool fills_gaps = false;
  Box<dimension_count_max> filling{};
  /// A family of one task, whose edges without a relation lead to and from all tasks.
  bool is_single = false;
  /// Added between two families, without work of its own (joins.hpp).
  bool is_join = false;
};

struct Edge {
  int from = 0;
  int to = 0;
  Relation relation;
  bool crosses_step = false;
  /// Implied: a task depends on itself in the step before.
  bool is_implied = false;
};

/// Tasks of one family with equally many neighbours of each kind.
struct Region {
  Box<dimension_count_max> keys;
  Index before_in_step = 0;
  Index before_crossing = 0;
  Index after_in_step = 0;
  Index after_crossing = 0;
};

/// For each dimension of a family, in ascending order, the coordinates at which its number of
/// neighbours may change; the first is 0, the last the extent.
using Cuts = std::array<std::vector<Index>, dimension_count_max>;

class Dag {
  /// Numbers of edges, by family.
  using Numbers = std::vector<std::vector<std::size_t>>;

  [[nodiscard]] auto edges_at(const Numbers& numbers, int family) const {
    return std::views::transform(
        numbers[static_cast<std::size_t>(family)],
        [this](std::size_t number) -> const Edge& { return edges_[number]; });
  }

 public:
  /// Its space has no error_in().
  int add_family(FamilyInfo info);

  /// Returns the error in the edge, or "". An edge with an error is not added.
  std::string add_edge(const Edge& edge);

  FamilyInfo& family(int index) { return families_[static_cast<std::size_t>(index)]; }

  [[nodiscard]] const FamilyInfo& family(int index) const {
    return families_[static_cast<std::size_t>(index)];
  }

  [[nodiscard]] int family_count() const { return static_cast<int>(families_.size()); }

  [[nodiscard]] const std::vector<Edge>& edges() const { return edges_; }

  /// The edges to, and from, a family, in the order in which they were added.
  [[nodiscard]] auto edges_into(int family) const { return edges_at(into_, family); }

  [[nodiscard]] auto edges_from(int family) const { return edges_at(from_, family); }

  [[nodiscard]] bool crosses_steps() const;

  /// Adds the missing edges from every task to itself in the next step, if steps overlap. Call
  /// once.
  void add_implied_edges();

  /// The tasks of `edge.from` before the task `key` of `edge.to`; the inverse.
  [[nodiscard]] Box<dimension_count_max> predecessors(const Edge& edge, const Key& key) const;
  [[nodiscard]] Box<dimension_count_max> successors(const Edge& edge, const Key& key) const;

  [[nodiscard]] Cuts cuts(int family) const;

  /// The parts of a family between its cuts; together they are the whole family.
  [[nodiscard]] std::vector<Region> regions(int family) const;

  /// "name" of a single task, "name(3)", "name(3, 4)".
  [[nodiscard]] std::string name_of(int family, const Key& key) const;

  /// A table of families with the edges into them.
  [[nodiscard]] std::string print() const;

  /// Graphviz text: a node for each family; with `has_tasks` one for each task, of two steps if
  /// steps overlap.
  [[nodiscard]] std::string dot(bool has_tasks) const;

 private:
  [[nodiscard]] std::string find_error(const Edge& edge) const;

  std::vector<FamilyInfo> families_;
  std::vector<Edge> edges_;
  Numbers into_;
  Numbers from_;
};

/// What is wrong with a space, which has at most `count_max` keys, called `what`; or "". The text
/// continues "it has".
[[nodiscard]] std::string error_in(const Space& space, const char* what, Index count_max);

/// Sorts cuts, removes duplicates and adds both ends.
void tidy(std::vector<Index>& cuts, Index extent);

/// Calls visit(box) for every box between cuts.
template <class Visit>
void for_each_part(const Cuts& cuts, Visit&& visit);

/// The distances to the keys at most `radius` away in each of these dimensions.
[[nodiscard]] Box<dimension_count_max> distances(int dimensions, Index radius);

/// Calls visit(key) for every key of a box.
template <class Visit>
void for_each_key(const Box<dimension_count_max>& box, Visit&& visit) {
  for (Index i = box.lo[0]; i < box.hi[0]; ++i)
    for (Index j = box.lo[1]; j < box.hi[1]; ++j)
      for (Index k = box.lo[2]; k < box.hi[2]; ++k)
        for (Index l = box.lo[3]; l < box.hi[3]; ++l)
          visit(Key{i, j, k, l});
}

template <class Visit>
void for_each_part(const Cuts& cuts, Visit&& visit) {
  Box<dimension_count_max> parts;
  for (std::size_t d = 0; d < cuts.size(); ++d)
    parts.hi[d] = static_cast<Index>(cuts[d].size()) - 1;
  for_each_key(parts, [&](const Key& part) {
    Box<dimension_count_max> keys;
    for (std::size_t d = 0; d < part.size(); ++d) {
      keys.lo[d] = cuts[d][static_cast<std::size_t>(part[d])];
      keys.hi[d] = cuts[d][static_cast<std::size_t>(part[d]) + 1];
    }
    visit(keys);
  });
}

}  // namespace sorrel::graph
