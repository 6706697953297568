#include "graph/dag/dag.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/text.hpp"

namespace sorrel::graph {

namespace {

Relation single(const Key& by) {
  return std::apply([](auto... each) { return offset(each...); }, by);
}

/// Cuts [lo, hi) to [from, to).
void cut(Index& lo, Index& hi, Index from, Index to) {
  lo = std::max(lo, from);
  hi = std::max(lo, std::min(hi, to));
}

}  // namespace

void tidy(std::vector<Index>& cuts, Index extent) {
  cuts.push_back(0);
  cuts.push_back(extent);
  std::erase_if(cuts, [&](Index at) { return at < 0 || at > extent; });
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
}

Relations along_axes(int dimensions, Index radius) {
  Relations result{same_tile};
  for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions); ++d) {
    for (Index by = 1; by <= radius; ++by) {
      for (const Index signed_by : {-by, by}) {
        Key key{};
        key[d] = signed_by;
        result.push_back(single(key));
      }
    }
  }
  return result;
}

Box<dimension_count_max> distances(int dimensions, Index radius) {
  Box<dimension_count_max> all = Space{1}.box();
  for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions); ++d) {
    all.lo[d] = -radius;
    all.hi[d] = radius + 1;
  }
  return all;
}

Relations all_around(int dimensions, Index radius) {
  Relations result;
  for_each_key(distances(dimensions, radius),
               [&](const Key& key) { result.push_back(single(key)); });
  return result;
}

std::string error_in(const Space& space, const char* what, Index count_max) {
  if (space.dimension_count() < 1 || space.dimension_count() > dimension_count_max)
    return text_of("%d dimensions; 1 to %d are possible", space.dimension_count(),
                   dimension_count_max);
  Index count = 1;
  for (const Index extent : space.extents()) {
    if (extent < 0) return text_of("a negative extent, %lld", static_cast<long long>(extent));
    if (extent != 0 && count > count_max / extent)
      return text_of("more than %lld %s", static_cast<long long>(count_max), what);
    count *= std::max<Index>(extent, 1);
  }
  return "";
}

int Dag::add_family(FamilyInfo info) {
  // Messages and reports name families.
  if (info.name.empty()) info.name = "family" + std::to_string(family_count());
  families_.push_back(std::move(info));
  into_.emplace_back();
  from_.emplace_back();
  return family_count() - 1;
}

std::string Dag::find_error(const Edge& edge) const {
  const FamilyInfo& from = family(edge.from);
  const FamilyInfo& to = family(edge.to);
  const int from_dimensions = from.space.dimension_count();
  const int to_dimensions = to.space.dimension_count();
  const std::string names = "graph: " + to.name + " after " + from.name + ": ";
  if (edge.relation.is_offset && from_dimensions != to_dimensions)
    return names + text_of("the families have %d and %d dimensions; say at(...)", from_dimensions,
                           to_dimensions);
  if (edge.relation.axis_count != 0 && edge.relation.axis_count != from_dimensions)
    return names + text_of("at() has %d coordinates, %s has %d", edge.relation.axis_count,
                           from.name.c_str(), from_dimensions);
  std::array<int, dimension_count_max> uses{};
  for (std::size_t e = 0; e < static_cast<std::size_t>(from_dimensions); ++e) {
    const Axis& axis = edge.relation.axes[e];
    if (axis.kind != Axis::Kind::follows) continue;
    if (axis.dimension < 0 || axis.dimension >= to_dimensions)
      return names + text_of("dim(%d) is not one of the %d dimensions of %s", axis.dimension,
                             to_dimensions, to.name.c_str());
    if (++uses[static_cast<std::size_t>(axis.dimension)] > 1)
      return names + text_of("dim(%d) is used twice; once is possible", axis.dimension);
  }
  return "";
}

std::string Dag::add_edge(const Edge& edge) {
  if (std::string error = find_error(edge); !error.empty()) return error;
  Edge added = edge;
  // Dimensions that the family does not have are ignored.
  const auto dimensions = static_cast<std::size_t>(family(edge.from).space.dimension_count());
  for (std::size_t e = dimensions; e < added.relation.axes.size(); ++e)
    added.relation.axes[e] = Axis(0);
  into_[static_cast<std::size_t>(edge.to)].push_back(edges_.size());
  from_[static_cast<std::size_t>(edge.from)].push_back(edges_.size());
  edges_.push_back(added);
  return "";
}

bool Dag::crosses_steps() const {
  return std::any_of(edges_.begin(), edges_.end(), [](const Edge& e) { return e.crosses_step; });
}

void Dag::add_implied_edges() {
  if (!crosses_steps()) return;
  const auto is_own = [this](const Edge& edge, int family) {
    const auto dimensions = static_cast<std::size_t>(this->family(family).space.dimension_count());
    if (edge.from != family || edge.to != family || !edge.crosses_step) return false;
    for (std::size_t d = 0; d < dimensions; ++d)
      if (edge.relation.axes[d] != dim(static_cast<int>(d))) return false;
    return true;
  };
  for (int f = 0; f < family_count(); ++f) {
    const auto into = edges_into(f);
    if (std::ranges::none_of(into, [&](const Edge& e) { return is_own(e, f); }))
      static_cast<void>(add_edge({f, f, same_tile, true, true}));
  }
}

Box<dimension_count_max> Dag::predecessors(const Edge& edge, const Key& key) const {
  Box<dimension_count_max> result = family(edge.from).space.box();
  for (std::size_t e = 0; e < result.lo.size(); ++e) {
    const Axis& axis = edge.relation.axes[e];
    if (axis.kind == Axis::Kind::every) continue;
    Index coordinate = axis.offset;
    if (axis.kind == Axis::Kind::follows)
      coordinate += key[static_cast<std::size_t>(axis.dimension)];
    cut(result.lo[e], result.hi[e], coordinate, coordinate + 1);
  }
  return result;
}

Box<dimension_count_max> Dag::successors(const Edge& edge, const Key& key) const {
  Box<dimension_count_max> result = family(edge.to).space.box();
  for (std::size_t e = 0; e < result.lo.size(); ++e) {
    const Axis& axis = edge.relation.axes[e];
    if (axis.kind == Axis::Kind::fixed && key[e] != axis.offset) return {};
    if (axis.kind != Axis::Kind::follows) continue;
    const auto d = static_cast<std::size_t>(axis.dimension);
    cut(result.lo[d], result.hi[d], key[e] - axis.offset, key[e] - axis.offset + 1);
  }
  return result;
}

Cuts Dag::cuts(int family) const {
  const Key extents = this->family(family).space.extents();
  Cuts cuts;
  for (const Edge& edge : edges_into(family)) {
    const Key from = this->family(edge.from).space.extents();
    for (std::size_t e = 0; e < from.size(); ++e) {
      const Axis& axis = edge.relation.axes[e];
      const auto d = static_cast<std::size_t>(axis.dimension);
      if (axis.kind == Axis::Kind::follows)
        cuts[d].insert(cuts[d].end(), {-axis.offset, from[e] - axis.offset});
    }
  }
  for (const Edge& edge : edges_from(family)) {
    const Key to = this->family(edge.to).space.extents();
    for (std::size_t e = 0; e < to.size(); ++e) {
      const Axis& axis = edge.relation.axes[e];
      const auto d = static_cast<std::size_t>(axis.dimension);
      if (axis.kind == Axis::Kind::follows)
        cuts[e].insert(cuts[e].end(), {axis.offset, axis.offset + to[d]});
      if (axis.kind == Axis::Kind::fixed)
        cuts[e].insert(cuts[e].end(), {axis.offset, axis.offset + 1});
    }
  }
  for (std::size_t d = 0; d < cuts.size(); ++d)
    tidy(cuts[d], extents[d]);
  return cuts;
}

std::vector<Region> Dag::regions(int family) const {
  std::vector<Region> result;
  for_each_part(cuts(family), [&](const Box<dimension_count_max>& keys) {
    Region region;
    region.keys = keys;
    for (const Edge& edge : edges_into(family))
      (edge.crosses_step ? region.before_crossing : region.before_in_step) +=
          predecessors(edge, keys.lo).count();
    for (const Edge& edge : edges_from(family))
      (edge.crosses_step ? region.after_crossing : region.after_in_step) +=
          successors(edge, keys.lo).count();
    result.push_back(region);
  });
  return result;
}

std::string Dag::name_of(int family, const Key& key) const {
  const FamilyInfo& info = this->family(family);
  if (info.is_single) return info.name;
  std::string text = info.name + "(";
  for (int d = 0; d < info.space.dimension_count(); ++d)
    text += (d == 0 ? "" : ", ") + std::to_string(key[static_cast<std::size_t>(d)]);
  return text + ")";
}

}  // namespace sorrel::graph
