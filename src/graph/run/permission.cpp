#include <sorrel/graph/field.hpp>

#include "base/text.hpp"

namespace sorrel::graph {

namespace {

std::string text_of_key(const Key& key, int dimensions) {
  std::string text;
  for (int d = 0; d < dimensions; ++d)
    text += (d == 0 ? "(" : ", ") + std::to_string(key[static_cast<std::size_t>(d)]);
  return text + ")";
}

}  // namespace

void Permission::check(const Key& cell) const {
  int dimensions_outside = 0;
  bool is_near = true;
  for (std::size_t d = 0; d < cell.size(); ++d) {
    const Index below = cells.lo[d] - cell[d];
    const Index above = cell[d] - (cells.hi[d] - 1);
    if (below > 0 || above > 0) ++dimensions_outside;
    is_near = is_near && below <= footprint.radius && above <= footprint.radius;
  }
  if (is_near && (dimensions_outside <= 1 || footprint.is_box)) return;
  const int dimensions = field->tiling().dimension_count();
  throw GraphError(text_of(
      "graph: %s%s, step %lld, touches %s%s outside of what it has declared: cells from %s to "
      "below %s, and %s(%lld)",
      sweep, text_of_key(task.key, dimensions).c_str(), static_cast<long long>(task.step),
      field->name().c_str(), text_of_key(cell, dimensions).c_str(),
      text_of_key(cells.lo, dimensions).c_str(), text_of_key(cells.hi, dimensions).c_str(),
      footprint.is_box ? "box" : "star", static_cast<long long>(footprint.radius)));
}

}  // namespace sorrel::graph
