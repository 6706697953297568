#include "graph/run/compiled.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace sorrel::graph {

namespace {

/// The distance to the one successor, if there is always at most one, and it is as far in memory.
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

/// The successor that is kept to go on with is the last one, and the counters of its neighbours are
/// near it.
void put_nearest_last(std::vector<Arc>& arcs) {
  std::stable_sort(arcs.begin(), arcs.end(), [](const Arc& one, const Arc& other) {
    return std::abs(one.distance) > std::abs(other.distance);
  });
}

// Receives first: a message should find itself expected. Gap fillers last.
int turn_of(const RootBox& root) {
  if (root.family->kind == FamilyKind::receive) return 0;
  return root.family->fills_gaps ? 2 : 1;
}

void put_in_turn(std::vector<RootBox>& roots) {
  std::stable_sort(roots.begin(), roots.end(), [](const RootBox& one, const RootBox& other) {
    return turn_of(one) < turn_of(other);
  });
}

}  // namespace

Compiled::Compiled(Dag& dag, const std::vector<Body>& bodies) {
  dag.add_implied_edges();
  window_ = dag.crosses_steps() ? 2 : 1;
  for (int f = 0; f < dag.family_count(); ++f) {
    const FamilyInfo& info = dag.family(f);
    const Body& body = bodies[static_cast<std::size_t>(f)];
    CompiledFamily family;
    family.call = body.call;
    family.object = body.object.get();
    family.space = info.space;
    family.index = f;
    family.kind = info.kind;
    family.fills_gaps = info.fills_gaps;
    family.follows_rotation = info.follows_rotation;
    family.filling = info.filling;
    family.task_count = info.space.count();
    family.first_task = task_count_;
    counters_.emplace_back(static_cast<std::size_t>(family.task_count) * counter_sets());
    family.arrivals = counters_.back().data();
    has_gap_fillers_ = has_gap_fillers_ || info.fills_gaps;
    task_count_ += info.space.count();
    families_.push_back(std::move(family));
  }
  add_expectations(dag);
  number_roots();
  for (CompiledFamily& family : families_)
    add_zones(dag, family);
}

void Compiled::add_expectations(const Dag& dag) {
  for (CompiledFamily& family : families_) {
    for (const Region& region : dag.regions(family.index)) {
      const bool is_root = region.before_in_step == 0;
      // A root is told when its step begins; where steps overlap, in the first one only: in later
      // ones it is ready by those of the step before, itself among them, and looks at its gate.
      const bool looks_at_gate = is_root && window_ != 1;
      const Index told = is_root ? 1 : 0;
      const Index in_first_step = region.before_in_step + told;
      const Index in_later_steps =
          region.before_in_step + region.before_crossing + (looks_at_gate ? 0 : told);
      SORREL_CHECK(in_later_steps > 0);
      family.expectations.push_back({region.keys, static_cast<std::uint32_t>(in_first_step),
                                     static_cast<std::uint32_t>(in_later_steps), looks_at_gate});
      if (is_root)
        (family.kind == FamilyKind::task ? roots_ : message_roots_)
            .push_back({&family, region.keys});
      if (region.after_in_step == 0) sink_count_ += region.keys.count();
    }
    put_largest_first(family.expectations);
  }
}

void Compiled::number_roots() {
  put_in_turn(message_roots_);
  put_in_turn(roots_);
  for (RootBox& root : roots_) {
    root.first = root_count_;
    root_count_ += static_cast<std::uint32_t>(root.keys.count());
  }
}

void Compiled::add_zones(const Dag& dag, CompiledFamily& family) {
  Cuts cuts = dag.cuts(family.index);
  std::vector<std::pair<Edge, Key>> shifts;
  for (const Edge& edge : dag.edges()) {
    Key shift{};
    if (edge.from != family.index) continue;
    if (!is_shift(dag, edge, shift)) {
      (edge.crosses_step ? family.wide_crossing : family.wide_in_step).push_back(edge);
      continue;
    }
    shifts.emplace_back(edge, shift);
    // Where the successor passes from one expectation to another.
    const Cuts cuts_there = dag.cuts(edge.to);
    for (std::size_t d = 0; d < cuts.size(); ++d)
      for (const Index at : cuts_there[d])
        cuts[d].push_back(at - shift[d]);
  }
  for (std::size_t d = 0; d < cuts.size(); ++d)
    tidy(cuts[d], family.space.extents()[d]);
  for_each_part(cuts, [&](const KeyBox& keys) {
    Zone zone;
    zone.keys = keys;
    zone.is_sink = true;
    for (const Edge& edge : family.wide_in_step)
      if (dag.successors(edge, keys.lo).count() != 0) zone.is_sink = false;
    for (const auto& [edge, shift] : shifts) {
      CompiledFamily& to = families_[static_cast<std::size_t>(edge.to)];
      const Key successor = sum(keys.lo, shift);
      if (!to.space.box().contains(successor)) continue;
      const Expectation& expectation = to.expectation_of(successor);
      (edge.crosses_step ? zone.crossing : zone.in_step)
          .push_back({&to, shift, to.space.index_of(successor) - family.space.index_of(keys.lo),
                      expectation.in_first_step, expectation.in_later_steps,
                      expectation.looks_at_gate});
      if (!edge.crosses_step) zone.is_sink = false;
    }
    put_nearest_last(zone.in_step);
    put_nearest_last(zone.crossing);
    family.zones.push_back(std::move(zone));
  });
  put_largest_first(family.zones);
}

CompiledFamily& Compiled::family_of(Index number) {
  const auto behind = std::upper_bound(
      families_.begin(), families_.end(), number,
      [](Index wanted, const CompiledFamily& family) { return wanted < family.first_task; });
  return *(behind - 1);
}

void Compiled::count_steps(Index steps) {
  for (CompiledFamily& family : families_)
    if (family.follows_rotation) family.phase = static_cast<int>((family.phase + steps) & 1);
}

void Compiled::clear_counters() {
  for (CompiledFamily& family : families_)
    for (Index i = 0; i < family.task_count * counter_sets(); ++i)
      family.arrivals[i].clear();
}

}  // namespace sorrel::graph
