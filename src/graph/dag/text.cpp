// Text of a graph: print() and dot().
#include "base/text.hpp"

#include <string>

#include "graph/dag/dag.hpp"

namespace sorrel::graph {

namespace {

std::string text_of_axis(const Axis& axis) {
  if (axis.kind == Axis::Kind::every) return "every";
  std::string text;
  if (axis.kind == Axis::Kind::follows) {
    text = "ijkl"[axis.dimension];
    if (axis.offset != 0)
      text += text_of(" %c %lld", axis.offset < 0 ? '-' : '+',
                      static_cast<long long>(axis.offset < 0 ? -axis.offset : axis.offset));
    return text;
  }
  return std::to_string(axis.offset);
}

/// "(i - 1, every)"
std::string text_of_relation(const Relation& relation, int dimensions) {
  std::string text = "(";
  for (int d = 0; d < dimensions; ++d)
    text += (d == 0 ? "" : ", ") + text_of_axis(relation.axes[static_cast<std::size_t>(d)]);
  return text + ")";
}

std::string text_of_space(const Space& space) {
  std::string text;
  for (int d = 0; d < space.dimension_count(); ++d)
    text += (d == 0 ? "" : " x ") + std::to_string(space.extents()[static_cast<std::size_t>(d)]);
  return text;
}

/// A string of Graphviz.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return result + '"';
}

struct KindText {
  const char* name;
  const char* shape;  // of Graphviz
};

const KindText& text_of_kind(FamilyKind kind) {
  static constexpr KindText texts[] = {{"task", "box"}, {"send", "rarrow"}, {"receive", "larrow"}};
  return texts[static_cast<std::size_t>(kind)];
}

}  // namespace

std::string Dag::print() const {
  std::string text;
  for (int f = 0; f < family_count(); ++f) {
    const FamilyInfo& info = family(f);
    text += text_of("%-8s %s, %s%s\n", text_of_kind(info.kind).name, info.name.c_str(),
                    text_of_space(info.space).c_str(),
                    info.fills_gaps ? (info.filling == info.space.box() ? ", fills gaps"
                                                                        : ", fills gaps within")
                                    : "");
    for (const Edge& edge : edges_into(f)) {
      const FamilyInfo& from = family(edge.from);
      text += text_of("         after %s%s%s%s\n", from.name.c_str(),
                      text_of_relation(edge.relation, from.space.dimension_count()).c_str(),
                      edge.crosses_step ? " of the step before" : "",
                      edge.is_implied ? ", as every task" : "");
    }
  }
  return text;
}

namespace {

/// Graphviz text of the tasks of a graph, and of the edges between them.
class TaskNodes {
 public:
  explicit TaskNodes(const Dag& dag) : dag_(dag), step_count_(dag.crosses_steps() ? 2 : 1) {}

  [[nodiscard]] std::string text() const {
    std::string text;
    for (int step = 0; step < step_count_; ++step) {
      for (int f = 0; f < dag_.family_count(); ++f)
        for_each_key(dag_.family(f).space.box(),
                     [&](const Key& key) { text += text_of_task(f, key, step); });
    }
    return text;
  }

 private:
  [[nodiscard]] std::string node(int f, const Key& key, int step) const {
    return quoted(dag_.name_of(f, key) + (step_count_ == 1 ? "" : text_of(" @%d", step)));
  }

  [[nodiscard]] std::string text_of_task(int f, const Key& key, int step) const {
    const std::string own = node(f, key, step);
    std::string text = "  " + own + " [shape=" + text_of_kind(dag_.family(f).kind).shape + "];\n";
    for (const Edge& edge : dag_.edges_into(f)) {
      if (edge.crosses_step && step == 0) continue;
      const int before = edge.crosses_step ? step - 1 : step;
      const char* end = edge.crosses_step ? " [style=dashed];\n" : ";\n";
      for_each_key(dag_.predecessors(edge, key), [&](const Key& from) {
        text += "  " + node(edge.from, from, before) + " -> " + own + end;
      });
    }
    return text;
  }

  const Dag& dag_;
  const int step_count_;
};

}  // namespace

std::string Dag::dot(bool has_tasks) const {
  std::string text = "digraph graph_of_tasks {\n  rankdir=TB;\n";
  if (has_tasks) return text + TaskNodes(*this).text() + "}\n";
  for (const FamilyInfo& info : families_)
    text += "  " + quoted(info.name) + " [shape=" + text_of_kind(info.kind).shape +
            ",label=" + quoted(info.name + "\n" + text_of_space(info.space)) + "];\n";
  for (const Edge& edge : edges_) {
    const FamilyInfo& from = family(edge.from);
    text += "  " + quoted(from.name) + " -> " + quoted(family(edge.to).name) +
            " [label=" + quoted(text_of_relation(edge.relation, from.space.dimension_count())) +
            (edge.crosses_step ? ",style=dashed];\n" : "];\n");
  }
  return text + "}\n";
}

}  // namespace sorrel::graph
