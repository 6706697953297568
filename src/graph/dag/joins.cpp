#include "graph/dag/joins.hpp"

#include <cstddef>
#include <utility>

namespace sorrel::graph {

namespace {

// A join is a task more; it must save far more than that.
constexpr Index worthwhile_ratio = 4;

/// The joins of one edge: a task for each value of the coordinates that the edge relates, which
/// follows all tasks of `from` with that value.
struct Join {
  Space space{1};
  Relation before;
  Relation after;
};

Join join_of(const Dag& dag, const Edge& edge) {
  const Space& from = dag.family(edge.from).space;
  Key extents{1, 1, 1, 1};
  Join join;
  join.before.axis_count = join.after.axis_count = from.dimension_count();
  for (std::size_t d = 0; d < static_cast<std::size_t>(from.dimension_count()); ++d) {
    const Axis& axis = edge.relation.axes[d];
    join.before.axes[d] = axis;
    join.after.axes[d] = Axis(0);
    if (axis.kind != Axis::Kind::follows) continue;
    extents[d] = from.extents()[d];
    join.before.axes[d] = dim(static_cast<int>(d));
    join.after.axes[d] = axis;
  }
  join.space = Space(extents, from.dimension_count());
  return join;
}

bool is_worthwhile(const Dag& dag, const Edge& edge, const Join& join) {
  const FamilyInfo& from = dag.family(edge.from);
  const FamilyInfo& to = dag.family(edge.to);
  if (from.kind != FamilyKind::task || to.kind != FamilyKind::task) return false;
  const Index before = from.space.count();
  const Index after = to.space.count();
  Index each = 1;
  for (std::size_t d = 0; d < from.space.extents().size(); ++d)
    if (edge.relation.axes[d].kind == Axis::Kind::every) each *= from.space.extents()[d];
  return before + join.space.count() + after <
         after / worthwhile_ratio * each + after % worthwhile_ratio * each / worthwhile_ratio;
}

}  // namespace

Dag with_joins(const Dag& dag) {
  Dag result;
  for (int family = 0; family < dag.family_count(); ++family)
    result.add_family(dag.family(family));
  for (const Edge& edge : dag.edges()) {
    const Join join = join_of(dag, edge);
    if (!is_worthwhile(dag, edge, join)) {
      static_cast<void>(result.add_edge(edge));
      continue;
    }
    FamilyInfo info{"all of " + dag.family(edge.from).name, join.space};
    info.is_join = true;
    const int between = result.add_family(std::move(info));
    static_cast<void>(result.add_edge({edge.from, between, join.before}));
    static_cast<void>(result.add_edge({between, edge.to, join.after, edge.crosses_step}));
  }
  return result;
}

}  // namespace sorrel::graph
