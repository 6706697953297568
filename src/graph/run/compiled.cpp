#include "graph/run/compiled.hpp"

#include <algorithm>
#include <utility>

namespace sorrel::graph {

namespace {

/// Whether every task has at most one successor by this edge, at a constant distance, `shift`.
bool is_shift(const Dag& dag, const Edge& edge, Key& shift) {
  const Space& from = dag.family(edge.from).space;
  const Space& to = dag.family(edge.to).space;
  const int dimensions = from.dimension_count();
  if (to.dimension_count() != dimensions) return false;
  for (std::size_t d = 1; d < from.extents().size(); ++d)
    if (from.extents()[d] != to.extents()[d]) return false;
  for (int d = 0; d < dimensions; ++d) {
    const Axis& axis = edge.relation.axes[static_cast<std::size_t>(d)];
    if (axis.kind != Axis::Kind::follows || axis.dimension != d) return false;
    shift[static_cast<std::size_t>(d)] = -axis.offset;
  }
  return true;
}

Key sum(Key key, const Key& by) {
  for (std::size_t d = 0; d < key.size(); ++d)
    key[d] += by[d];
  return key;
}

template <class Part>
void put_largest_first(std::vector<Part>& parts) {
  std::stable_sort(parts.begin(), parts.end(), [](const Part& one, const Part& other) {
    return one.keys.count() > other.keys.count();
  });
}

/// The runner continues with the last successor; the counters of that successor's neighbours are
/// near.
void put_nearest_last(std::vector<CompiledEdge>& edges) {
  std::stable_sort(edges.begin(), edges.end(),
                   [](const CompiledEdge& one, const CompiledEdge& other) {
                     return std::abs(one.distance) > std::abs(other.distance);
                   });
}

// Receives first: a message should find its receive posted. Gap fillers last.
int priority_of(const RootBox& root) {
  if (root.family->kind == FamilyKind::receive) return 0;
  return root.family->fills_gaps ? 2 : 1;
}

void sort_by_priority(std::vector<RootBox>& roots) {
  std::stable_sort(roots.begin(), roots.end(), [](const RootBox& one, const RootBox& other) {
    return priority_of(one) < priority_of(other);
  });
}

/// Runs a Body if its condition holds.
void call_if(void* object, const Task& task) {
  const Body& body = *static_cast<const Body*>(object);
  if (body.test(body.condition.get(), task)) body.call(body.object.get(), task);
}

using Shifts = std::vector<std::pair<Edge, Key>>;

/// Where the successors of a family's tasks, or their in-degrees, change. Edges to one successor at
/// the same distance from every task go into `shifts`, other edges into the family's lists.
Cuts cut_by_successors(const Dag& dag, CompiledFamily& family, Shifts& shifts) {
  Cuts cuts = dag.cuts(family.index);
  for (const Edge& edge : dag.edges_from(family.index)) {
    Key shift{};
    if (!is_shift(dag, edge, shift)) {
      (edge.crosses_step ? family.wide_crossing : family.wide_in_step).push_back(edge);
      continue;
    }
    shifts.emplace_back(edge, shift);
    const Cuts cuts_there = dag.cuts(edge.to);
    for (std::size_t d = 0; d < cuts.size(); ++d)
      for (const Index at : cuts_there[d])
        cuts[d].push_back(at - shift[d]);
  }
  for (std::size_t d = 0; d < cuts.size(); ++d)
    tidy(cuts[d], family.space.extents()[d]);
  return cuts;
}

}  // namespace

Compiled::Compiled(Dag& dag, const std::vector<Body>& bodies) {
  dag.add_implied_edges();
  window_ = dag.crosses_steps() ? 2 : 1;
  for (int f = 0; f < dag.family_count(); ++f) {
    const FamilyInfo& info = dag.family(f);
    const Body& body = bodies[static_cast<std::size_t>(f)];
    CompiledFamily family;
    family.call = body.test == nullptr ? body.call : call_if;
    // call_if() only reads the body.
    family.object = body.test == nullptr ? body.object.get() : const_cast<Body*>(&body);
    family.space = info.space;
    family.index = f;
    family.kind = info.kind;
    family.fills_gaps = info.fills_gaps;
    family.filling = info.filling;
    family.task_count = info.space.count();
    family.first_task = task_count_;
    counters_.emplace_back(static_cast<std::size_t>(family.task_count) * counter_sets());
    family.counters = counters_.back().data();
    has_gap_fillers_ = has_gap_fillers_ || info.fills_gaps;
    task_count_ += info.space.count();
    if (!info.is_join) reported_task_count_ += info.space.count();
    families_.push_back(std::move(family));
  }
  add_in_degrees(dag);
  number_roots();
  for (CompiledFamily& family : families_)
    add_regions(dag, family);
}

void Compiled::add_in_degrees(const Dag& dag) {
  for (CompiledFamily& family : families_) {
    for (const Region& region : dag.regions(family.index)) {
      const bool is_root = region.before_in_step == 0;
      // The begin of a step is one dependency of its roots; where steps overlap, in the first step
      // only. In later steps a root becomes ready by its predecessors of the step before, itself
      // among them, and needs admission.
      const bool needs_admission = is_root && window_ != 1;
      const Index begin_count = is_root ? 1 : 0;
      const Index in_first_step = region.before_in_step + begin_count;
      const Index in_later_steps =
          region.before_in_step + region.before_crossing + (needs_admission ? 0 : begin_count);
      SORREL_CHECK(in_later_steps > 0);
      family.in_degrees.push_back({region.keys, static_cast<std::uint32_t>(in_first_step),
                                   static_cast<std::uint32_t>(in_later_steps), needs_admission});
      if (is_root)
        (family.kind == FamilyKind::task ? roots_ : message_roots_)
            .push_back({&family, region.keys});
      if (region.after_in_step == 0) sink_count_ += region.keys.count();
    }
    put_largest_first(family.in_degrees);
  }
}

void Compiled::number_roots() {
  sort_by_priority(message_roots_);
  sort_by_priority(roots_);
  for (RootBox& root : roots_) {
    root.first = root_count_;
    root_count_ += static_cast<std::uint32_t>(root.keys.count());
  }
}

void Compiled::add_regions(const Dag& dag, CompiledFamily& family) {
  Shifts shifts;
  const Cuts cuts = cut_by_successors(dag, family, shifts);
  for_each_part(cuts, [&](const Box<dimension_count_max>& keys) {
    SuccessorRegion region;
    region.keys = keys;
    region.is_sink = true;
    for (const Edge& edge : family.wide_in_step)
      if (dag.successors(edge, keys.lo).count() != 0) region.is_sink = false;
    for (const auto& [edge, shift] : shifts) {
      CompiledFamily& to = families_[static_cast<std::size_t>(edge.to)];
      const Key successor = sum(keys.lo, shift);
      if (!to.space.box().contains(successor)) continue;
      const InDegree& in_degree = to.in_degree_of(successor);
      (edge.crosses_step ? region.crossing : region.in_step)
          .push_back({&to, shift, to.space.index_of(successor) - family.space.index_of(keys.lo),
                      in_degree.in_first_step, in_degree.in_later_steps,
                      in_degree.needs_admission});
      if (!edge.crosses_step) region.is_sink = false;
    }
    put_nearest_last(region.in_step);
    put_nearest_last(region.crossing);
    family.regions.push_back(std::move(region));
  });
  put_largest_first(family.regions);
}

CompiledFamily& Compiled::family_of(Index number) {
  const auto behind = std::upper_bound(
      families_.begin(), families_.end(), number,
      [](Index task, const CompiledFamily& family) { return task < family.first_task; });
  return *(behind - 1);
}

void Compiled::check_invariants() const {
  for (const CompiledFamily& family : families_) {
    for (Index i = 0; i < family.task_count * counter_sets(); ++i)
      SORREL_CHECK(family.counters[i].is_zero(), "family %d, counter %lld", family.index,
                   static_cast<long long>(i));
  }
}

void Compiled::clear_counters() {
  for (CompiledFamily& family : families_)
    for (Index i = 0; i < family.task_count * counter_sets(); ++i)
      family.counters[i].clear();
}

}  // namespace sorrel::graph
