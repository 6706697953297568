// Task Bench's graphs as a sorrel::Graph: a family for each graph, a task for each point, Task
// Bench's timesteps as steps. Compiled against the header of a checkout, see README.md.
//
// A pattern that is symmetric in its distances becomes edges. In other patterns, whose distances
// change from step to step, a point follows all points of the step before: correct, and slower.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <sorrel/graph.hpp>

#include "core.h"

namespace {

using sorrel::graph::Family;
using sorrel::graph::Index;

/// The outputs of the points of a graph. A point of step t writes slot t mod 3. The readers of the
/// old value are of step t - 2, which is done before step t begins.
class Points {
 public:
  explicit Points(const TaskGraph& graph)
      : graph_(graph),
        width_(static_cast<std::size_t>(graph.max_width)),
        // Neighbouring points may be written by different cores.
        stride_((graph.output_bytes_per_task + 63) / 64 * 64),
        outputs_(3 * width_ * stride_ + 64),
        scratch_(width_ * graph.scratch_bytes_per_task) {
    if (!scratch_.empty()) TaskGraph::prepare_scratch(scratch_.data(), scratch_.size());
    for (long set = 0; set < graph.max_dependence_sets(); ++set) {
      inputs_.emplace_back();
      for (long point = 0; point < graph.max_width; ++point) {
        inputs_.back().emplace_back();
        for (const auto& [first, last] : graph.dependencies(set, point))
          for (long p = first; p <= last; ++p)
            inputs_.back().back().push_back(p);
        most_inputs_ = std::max(most_inputs_, inputs_.back().back().size());
      }
    }
    if (most_inputs_ > inputs_max) {
      std::fprintf(stderr, "graph: more than %zu inputs of a point\n", inputs_max);
      std::exit(1);
    }
  }

  void execute(long step, long point) {
    if (step >= graph_.timesteps) return;
    thread_local Shape shape;
    if (shape.points != this || shape.step != step) shape = shape_of(step);
    if (point < shape.begin || point >= shape.end) return;
    std::array<const char*, inputs_max> inputs;
    std::array<std::size_t, inputs_max> sizes;
    std::size_t count = 0;
    for (const long p : inputs_[shape.set][static_cast<std::size_t>(point)]) {
      if (p < shape.last_begin || p >= shape.last_end) continue;
      inputs[count] = output(step - 1, p);
      sizes[count] = graph_.output_bytes_per_task;
      ++count;
    }
    const std::size_t scratch_bytes = graph_.scratch_bytes_per_task;
    graph_.execute_point(
        step, point, output(step, point), graph_.output_bytes_per_task, inputs.data(), sizes.data(),
        count, scratch_.data() + static_cast<std::size_t>(point) * scratch_bytes, scratch_bytes);
  }

 private:
  static constexpr std::size_t inputs_max = 256;

  /// The points of a step and of the one before: computed once, not by every point.
  struct Shape {
    const Points* points = nullptr;
    long step = 0;
    long begin = 0, end = 0;
    long last_begin = 0, last_end = 0;
    std::size_t set = 0;
  };

  Shape shape_of(long step) const {
    Shape shape{.points = this, .step = step};
    shape.begin = graph_.offset_at_timestep(step);
    shape.end = shape.begin + graph_.width_at_timestep(step);
    shape.last_begin = graph_.offset_at_timestep(step - 1);
    shape.last_end = shape.last_begin + graph_.width_at_timestep(step - 1);
    shape.set = static_cast<std::size_t>(graph_.dependence_set_at_timestep(step));
    return shape;
  }

  char* output(long step, long point) {
    const auto slot = static_cast<std::size_t>(step % 3);
    return outputs_.data() + (slot * width_ + static_cast<std::size_t>(point)) * stride_;
  }

  TaskGraph graph_;
  std::size_t width_;
  std::size_t stride_;
  std::vector<char> outputs_;
  std::vector<char> scratch_;
  /// By dependence set and point.
  std::vector<std::vector<std::vector<long>>> inputs_;
  std::size_t most_inputs_ = 0;
};

/// The distance to both sides from which a point reads, or -1.
long radius_of(const TaskGraph& graph) {
  switch (graph.dependence) {
    case TRIVIAL:
    case NO_COMM:
      return 0;
    case STENCIL_1D:
    case DOM:
      return 1;
    case NEAREST:
      return graph.radix / 2;
    default:
      return -1;
  }
}

void connect(Family points, const TaskGraph& graph) {
  using namespace sorrel::graph;
  const long radius = radius_of(graph);
  if (radius < 0) {
    points.after(points, everything, previous_step);
    return;
  }
  for (long by = -radius; by <= radius; ++by)
    points.after(points, offset(by), previous_step);
}

}  // namespace

int main(int argc, char** argv) {
  App app(argc, argv);
  app.display();
  sorrel::Graph g;
  std::vector<std::unique_ptr<Points>> all;
  Index steps = 0;
  for (const TaskGraph& graph : app.graphs) {
    Points* points = all.emplace_back(std::make_unique<Points>(graph)).get();
    Family family = g.family("points" + std::to_string(graph.graph_index), {graph.max_width});
    family.body(
        [points](const sorrel::graph::Task& task) { points->execute(task.step, task.key[0]); });
    connect(family, graph);
    steps = std::max<Index>(steps, graph.timesteps);
  }
  // As in Task Bench's own backends: one run to warm up, and one more.
  double seconds = 0;
  for (int round = 0; round < 2; ++round) {
    const auto began = std::chrono::steady_clock::now();
    g.run({.steps = steps});
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  }
  app.report_timing(seconds);
}
