#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include <sorrel/graph/graph.hpp>

#include "base/text.hpp"
#include "graph/dag/dag.hpp"
#include "graph/dag/order.hpp"
#include "graph/run/compiled.hpp"
#include "graph/run/model.hpp"
#include "graph/run/runner.hpp"

namespace sorrel::graph {

struct Graph::Parts {
  explicit Parts(std::unique_ptr<Messenger> given) : messenger(std::move(given)) {}

  int add(std::string name, const Space& space, FamilyKind kind, MessageOf message) {
    forget_compiled();
    if (model.dag.family_count() == Runner::family_count_max)
      throw GraphError(text_of("graph: more than %d families", Runner::family_count_max));
    return model.add({std::move(name), space, kind}, {}, std::move(message));
  }

  void compile();

  [[nodiscard]] Model lowered() const {
    IsNear is_near;
    if (messenger != nullptr) is_near = [this](int peer) { return messenger->is_near(peer); };
    return lower(model, is_near);
  }

  /// The peer of each channel.
  std::vector<int> add_channels();

  /// The graph has changed: discards everything that was derived from it.
  void forget_compiled() {
    if (runner == nullptr) return;
    runner.reset();
    compiled.reset();
    if (messenger != nullptr) messenger->clear();
  }

  std::unique_ptr<Messenger> messenger;
  Model model;
  /// Lowered, with the implied edges.
  Model full;
  std::unique_ptr<Compiled> compiled;
  std::unique_ptr<Runner> runner;
  std::string failed_task;
};

void Graph::Parts::compile() {
  full = lowered();
  Index tasks = 0;
  for (int f = 0; f < full.dag.family_count(); ++f) {
    const FamilyInfo& info = full.dag.family(f);
    tasks += info.space.count();
    if (info.kind == FamilyKind::task && full.bodies[static_cast<std::size_t>(f)].call == nullptr)
      throw GraphError("graph: " + info.name + " has no body; say run(body)");
    if (info.kind != FamilyKind::task && messenger == nullptr)
      throw GraphError("graph: " + info.name + " has messages, the graph has no messenger");
  }
  if (tasks > std::numeric_limits<std::int32_t>::max())
    throw GraphError("graph: more than 2^31 - 1 tasks in a step");
  if (const std::string error = find_order_error(full.dag); !error.empty()) throw GraphError(error);
  compiled = std::make_unique<Compiled>(full.dag, full.bodies);
  runner = std::make_unique<Runner>(full.dag, *compiled, messenger.get(), add_channels());
}

std::vector<int> Graph::Parts::add_channels() {
  std::vector<int> channel_peers;
  int count = 0;
  for (std::size_t f = 0; f < compiled->family_count(); ++f) {
    CompiledFamily& family = compiled->family(f);
    if (family.kind == FamilyKind::task) continue;
    family.first_channel = count;
    const Direction direction =
        family.kind == FamilyKind::send ? Direction::send : Direction::receive;
    for_each_key(family.space.box(), [&](const Key& key) {
      for (const int slot : {0, 1}) {
        const Message message = full.messages[f](key, slot);
        if (message.tag < 0 || message.tag > tag_max)
          throw GraphError(text_of("graph: %s has tag %d; 0 to %d are possible",
                                   full.dag.name_of(family.index, key).c_str(), message.tag,
                                   tag_max));
        if (message.peer < 0 || message.peer >= messenger->peer_count())
          throw GraphError(text_of("graph: %s has peer %d; there are 0 to %d",
                                   full.dag.name_of(family.index, key).c_str(), message.peer,
                                   messenger->peer_count() - 1));
        channel_peers.push_back(message.peer);
        const int channel = messenger->add(direction, message, slot);
        SORREL_CHECK(channel == count, "channel %d, not %d", channel, count);
        ++count;
      }
    });
  }
  return channel_peers;
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
  begin_rotation();
  if (parts_->runner == nullptr) parts_->compile();
  if (options.steps == 0 || parts_->compiled->task_count() == 0) {
    end_rotation(0);
    return {};
  }
  Failure failure;
  const Report report = parts_->runner->run(options.steps, failure);
  SORREL_AUDIT_INVARIANTS(*parts_->compiled);
  parts_->compiled->count_steps(report.steps);
  end_rotation(report.steps);
  if (failure.exception == nullptr) return report;
  const Ready& failed = failure.task;
  parts_->failed_task = parts_->full.dag.name_of(failed.family->index, failed.task.key) +
                        text_of(", step %lld", static_cast<long long>(failed.task.step));
  std::rethrow_exception(failure.exception);
}

// ---- sweeps
// --------------------------------------------------------------------------------------

void Graph::declare(const Family& tiles, const Tiling& tiling, std::vector<Declaration> declared) {
  parts_->forget_compiled();
  Model& model = parts_->model;
  const std::string& name = model.dag.family(tiles.index_).name;
  if (model.tiling != nullptr && model.tiling != &tiling)
    throw GraphError("graph: " + name + " has another tiling than the sweeps before it");
  for (const Declaration& declaration : declared)
    if (&declaration.field->tiling() != &tiling)
      throw GraphError("graph: " + name + ": " + declaration.field->name() +
                       " is a field of another tiling");
  model.tiling = &tiling;
  model.sweeps.push_back({tiles.index_, std::move(declared)});
}

void Graph::rotate_all(std::vector<AnyField*> fields) {
  parts_->forget_compiled();
  for (const auto& rotation : parts_->model.rotations)
    for (const AnyField* field : rotation)
      if (std::find(fields.begin(), fields.end(), field) != fields.end())
        throw GraphError("graph: " + field->name() + " is rotated twice");
  for (const AnyField* field : fields)
    if (field->value_bytes() != fields[0]->value_bytes() ||
        &field->tiling() != &fields[0]->tiling())
      throw GraphError("graph: " + field->name() + " cannot be rotated with " + fields[0]->name() +
                       ": it has other values or another tiling");
  parts_->model.rotations.push_back(std::move(fields));
}

void Graph::begin_rotation() {
  for (const std::vector<AnyField*>& rotation : parts_->model.rotations) {
    for (std::size_t i = 0; i < rotation.size(); ++i) {
      rotation[i]->place_ = i;
      rotation[i]->rotation_.clear();
      for (const AnyField* field : rotation)
        rotation[i]->rotation_.push_back(field->origin_);
    }
  }
}

void Graph::end_rotation(Index steps) {
  for (const std::vector<AnyField*>& rotation : parts_->model.rotations)
    for (AnyField* field : rotation)
      field->origin_ = field->origin(steps);
  for (const std::vector<AnyField*>& rotation : parts_->model.rotations) {
    for (AnyField* field : rotation) {
      field->rotation_.assign(1, field->origin_);
      field->place_ = 0;
    }
  }
}

std::string Graph::print() const {
  Model full = parts_->lowered();
  full.dag.add_implied_edges();
  return full.dag.print();
}

std::string Graph::dot(bool has_tasks) const {
  return parts_->lowered().dag.dot(has_tasks);
}

std::string Graph::failed_task() const {
  return parts_->failed_task;
}

void Family::set_body(std::shared_ptr<void> body, Call call) {
  graph_->parts_->forget_compiled();
  graph_->parts_->model.bodies[static_cast<std::size_t>(index_)] = {std::move(body), call};
}

Family& Family::after(const Family& other, const Relation& relation, When when) {
  graph_->parts_->forget_compiled();
  const std::string error =
      other.graph_ != graph_ ? "graph: a family of another graph"
                             : graph_->parts_->model.dag.add_edge(
                                   {other.index_, index_, relation, when == When::previous_step});
  if (!error.empty()) throw GraphError(error);
  return *this;
}

Family& Family::after(const Family& other, const Relations& relations, When when) {
  for (const Relation& relation : relations)
    after(other, relation, when);
  return *this;
}

Family& Family::priority(Priority priority) {
  graph_->parts_->forget_compiled();
  FamilyInfo& info = graph_->parts_->model.dag.family(index_);
  info.fills_gaps = priority == Priority::fill;
  info.filling = info.space.box();
  return *this;
}

}  // namespace sorrel::graph
