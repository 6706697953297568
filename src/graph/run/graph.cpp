#include <limits>
#include <utility>
#include <vector>

#include <sorrel/graph/graph.hpp>

#include "base/text.hpp"
#include "graph/dag/dag.hpp"
#include "graph/dag/order.hpp"
#include "graph/run/compiled.hpp"
#include "graph/run/runner.hpp"

namespace sorrel::graph {

struct Graph::Parts {
  explicit Parts(std::unique_ptr<Messenger> given) : messenger(std::move(given)) {}

  int add(std::string name, const Space& space, FamilyKind kind, MessageOf message) {
    forget_compiled();
    if (dag.family_count() == Runner::family_count_max)
      throw GraphError(text_of("graph: more than %d families", Runner::family_count_max));
    bodies.emplace_back();
    messages.push_back(std::move(message));
    return dag.add_family({std::move(name), space, kind});
  }

  void compile();
  /// How many there are.
  int add_channels();

  /// The graph has changed: implied edges and channels are made anew.
  void forget_compiled() {
    if (runner == nullptr) return;
    runner.reset();
    compiled.reset();
    if (messenger != nullptr) messenger->clear();
  }

  std::unique_ptr<Messenger> messenger;
  Dag dag;
  std::vector<Body> bodies;
  std::vector<MessageOf> messages;
  /// With the implied edges.
  Dag full_dag;
  std::unique_ptr<Compiled> compiled;
  std::unique_ptr<Runner> runner;
  std::string failed_task;
};

void Graph::Parts::compile() {
  Index tasks = 0;
  for (int f = 0; f < dag.family_count(); ++f) {
    const FamilyInfo& info = dag.family(f);
    tasks += info.space.count();
    if (info.kind == FamilyKind::task && bodies[static_cast<std::size_t>(f)].call == nullptr)
      throw GraphError("graph: " + info.name + " has no body; say run(body)");
    if (info.kind != FamilyKind::task && messenger == nullptr)
      throw GraphError("graph: " + info.name + " has messages, the graph has no messenger");
  }
  if (tasks > std::numeric_limits<std::int32_t>::max())
    throw GraphError("graph: more than 2^31 - 1 tasks in a step");
  if (const std::string trouble = trouble_with_order(dag); !trouble.empty())
    throw GraphError(trouble);
  full_dag = dag;
  compiled = std::make_unique<Compiled>(full_dag, bodies);
  runner = std::make_unique<Runner>(full_dag, *compiled, messenger.get(), add_channels());
}

int Graph::Parts::add_channels() {
  int count = 0;
  for (std::size_t f = 0; f < compiled->family_count(); ++f) {
    CompiledFamily& family = compiled->family(f);
    if (family.kind == FamilyKind::task) continue;
    family.first_channel = count;
    const Direction direction =
        family.kind == FamilyKind::send ? Direction::send : Direction::receive;
    for_each_key(family.space.box(), [&](const Key& key) {
      for (const int slot : {0, 1}) {
        const Message message = messages[f](key, slot);
        if (message.tag < 0 || message.tag > tag_max)
          throw GraphError(text_of("graph: %s has tag %d; 0 to %d are possible",
                                   full_dag.name_of(family.index, key).c_str(), message.tag,
                                   tag_max));
        const int channel = messenger->add(direction, message, slot);
        SORREL_CHECK(channel == count, "channel %d, not %d", channel, count);
        ++count;
      }
    });
  }
  return count;
}

Graph::Graph() : Graph(nullptr) {}

Graph::Graph(std::unique_ptr<Messenger> messenger)
    : parts_(std::make_unique<Parts>(std::move(messenger))) {}

Graph::~Graph() = default;

Family Graph::family(std::string name, const Space& space) {
  return {*this, parts_->add(std::move(name), space, FamilyKind::task, nullptr)};
}

Family Graph::send(std::string name, const Space& space, MessageOf message) {
  return {*this, parts_->add(std::move(name), space, FamilyKind::send, std::move(message))};
}

Family Graph::receive(std::string name, const Space& space, MessageOf message) {
  return {*this, parts_->add(std::move(name), space, FamilyKind::receive, std::move(message))};
}

Report Graph::run(const RunOptions& options) {
  parts_->failed_task.clear();
  if (options.steps < 0) throw GraphError("graph: a negative number of steps");
  if (parts_->runner == nullptr) parts_->compile();
  if (options.steps == 0 || parts_->compiled->task_count() == 0) return {};
  Failure failure;
  const Report report = parts_->runner->run(options.steps, failure);
  if (failure.exception == nullptr) return report;
  const Ready& failed = failure.task;
  parts_->failed_task = parts_->dag.name_of(failed.family->index, failed.task.key) +
                        text_of(", step %lld", static_cast<long long>(failed.task.step));
  std::rethrow_exception(failure.exception);
}

std::string Graph::print() const {
  Dag full = parts_->dag;
  full.add_implied_edges();
  return full.print();
}

std::string Graph::dot(bool has_tasks) const {
  return parts_->dag.dot(has_tasks);
}

std::string Graph::failed_task() const {
  return parts_->failed_task;
}

void Family::set_body(std::shared_ptr<void> body, Call call) {
  graph_->parts_->forget_compiled();
  graph_->parts_->bodies[static_cast<std::size_t>(index_)] = {std::move(body), call};
}

Family& Family::after(const Family& other, const Relation& relation, When when) {
  graph_->parts_->forget_compiled();
  const std::string trouble = other.graph_ != graph_
                                  ? "graph: a family of another graph"
                                  : graph_->parts_->dag.add_edge({other.index_, index_, relation,
                                                                  when == When::previous_step});
  if (!trouble.empty()) throw GraphError(trouble);
  return *this;
}

Family& Family::after(const Family& other, const Relations& relations, When when) {
  for (const Relation& relation : relations)
    after(other, relation, when);
  return *this;
}

Family& Family::priority(Priority priority) {
  graph_->parts_->forget_compiled();
  graph_->parts_->dag.family(index_).fills_gaps = priority == Priority::fill;
  return *this;
}

}  // namespace sorrel::graph
