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

  int add(FamilyInfo info, Body body, MessageOf message) {
    forget_compiled();
    if (model.dag.family_count() == Runner::family_count_max)
      throw GraphError(text_of("graph: more than %d families", Runner::family_count_max));
    return model.add(std::move(info), std::move(body), std::move(message));
  }

  void add_edge(const Edge& edge) {
    forget_compiled();
    if (const std::string error = model.dag.add_edge(edge); !error.empty()) throw GraphError(error);
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
  int rank_reduction_count = 0;
  /// Called after a run that has failed.
  std::vector<std::function<void()>> resets;
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
        if (message.tag < 0 || message.tag > tag_max + rank_reduction_count)
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
  return {*this, parts_->add({std::move(name), space}, {}, nullptr)};
}

Family Graph::single(std::string name) {
  FamilyInfo info{std::move(name), {1}};
  info.is_single = true;
  return {*this, parts_->add(std::move(info), {}, nullptr)};
}

Family Graph::send(std::string name, const Space& space, MessageOf message) {
  return {*this, parts_->add({std::move(name), space, FamilyKind::send}, {}, std::move(message))};
}

Family Graph::receive(std::string name, const Space& space, MessageOf message) {
  return {*this,
          parts_->add({std::move(name), space, FamilyKind::receive}, {}, std::move(message))};
}

Subgraph Graph::add(const std::string& name, const Graph& part) {
  const Model& model = part.parts_->model;
  if (&part == this) throw GraphError("graph: " + name + ": a graph cannot contain itself");
  if (!model.sweeps.empty())
    throw GraphError("graph: " + name +
                     ": the subgraph has sweeps; declare these in the graph itself");
  const auto nothing = [] {};
  Subgraph result{task(name + "/begin", nothing), task(name + "/end", nothing)};
  const int first = parts_->model.dag.family_count();
  for (int f = 0; f < model.dag.family_count(); ++f) {
    const auto place = static_cast<std::size_t>(f);
    FamilyInfo info = model.dag.family(f);
    info.name = name + "/" + info.name;
    parts_->add(std::move(info), model.bodies[place], model.messages[place]);
  }
  for (const Edge& edge : model.dag.edges())
    parts_->add_edge({first + edge.from, first + edge.to, edge.relation, edge.crosses_step});
  for (int f = 0; f < model.dag.family_count(); ++f) {
    // Families without a root, or without a sink, are between others.
    bool has_root = false;
    bool has_sink = false;
    for (const Region& region : model.dag.regions(f)) {
      has_root = has_root || region.before_in_step == 0;
      has_sink = has_sink || region.after_in_step == 0;
    }
    if (has_root) parts_->add_edge({result.begin.index_, first + f, everything});
    if (has_sink) parts_->add_edge({first + f, result.end.index_, everything});
  }
  return result;
}

int Graph::rank() const {
  return parts_->messenger == nullptr ? 0 : parts_->messenger->rank();
}

int Graph::rank_count() const {
  return parts_->messenger == nullptr ? 1 : parts_->messenger->peer_count();
}

int Graph::take_tag() {
  if (parts_->rank_reduction_count == rank_reduction_count_max)
    throw GraphError(
        text_of("graph: more than %d reductions over ranks", rank_reduction_count_max));
  return tag_max + ++parts_->rank_reduction_count;
}

void Graph::after_failure(std::function<void()> reset) {
  parts_->resets.push_back(std::move(reset));
}

Report Graph::run(const RunOptions& options) {
  parts_->failed_task.clear();
  if (options.steps < 0) throw GraphError("graph: a negative number of steps");
  if (options.check_every < 1)
    throw GraphError("graph: check_every is below 1; it is the number of steps between two checks");
  // Origins of fields before the graph is compiled, which looks at buffers.
  begin_rotation(0);
  if (parts_->runner == nullptr) parts_->compile();
  Report report;
  if (options.steps == 0 || parts_->compiled->task_count() == 0) {
    end_rotation(0);
    return report;
  }

  /// Also if the condition throws: the next run goes on with the slots of the messages.
  struct Count {
    Compiled& compiled;
    const Report& report;

    ~Count() { compiled.count_steps(report.steps); }
  };

  const Count count{*parts_->compiled, report};
  do {
    const Index left = options.steps - report.steps;
    const Report part = run_steps(
        report.steps,
        report.steps + (options.until == nullptr ? left : std::min(left, options.check_every)));
    report.steps += part.steps;
    report.tasks += part.tasks;
    report.seconds += part.seconds;
    report.waiting_seconds += part.waiting_seconds;
  } while ((options.until == nullptr || !options.until(report.steps)) &&
           report.steps < options.steps);
  return report;
}

/// Runs the steps from `first` to `steps` - 1.
Report Graph::run_steps(Index first, Index steps) {
  begin_rotation(first);
  Failure failure;
  const Report report = parts_->runner->run(first, steps, failure);
  SORREL_AUDIT_INVARIANTS(*parts_->compiled);
  end_rotation(first + report.steps);
  if (failure.exception == nullptr) return report;
  for (const std::function<void()>& reset : parts_->resets)
    reset();
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

/// The buffers from step `first` on, whose order is that of the fields.
void Graph::begin_rotation(Index first) {
  for (const std::vector<AnyField*>& rotation : parts_->model.rotations) {
    const std::size_t before = static_cast<std::size_t>(first) % rotation.size();
    for (std::size_t i = 0; i < rotation.size(); ++i) {
      rotation[i]->place_ = (i + rotation.size() - before) % rotation.size();
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
  Body& own = graph_->parts_->model.bodies[static_cast<std::size_t>(index_)];
  own.object = std::move(body);
  own.call = call;
}

void Family::set_condition(std::shared_ptr<void> condition, Test test) {
  graph_->parts_->forget_compiled();
  const FamilyInfo& info = graph_->parts_->model.dag.family(index_);
  if (info.kind != FamilyKind::task)
    throw GraphError("graph: " + info.name + " has messages, which cannot have a condition");
  Body& own = graph_->parts_->model.bodies[static_cast<std::size_t>(index_)];
  own.condition = std::move(condition);
  own.test = test;
}

Family& Family::after(const Family& other, const Relation& relation, When when) {
  if (other.graph_ != graph_) throw GraphError("graph: a family of another graph");
  graph_->parts_->add_edge({other.index_, index_, relation, when == When::previous_step});
  return *this;
}

Family& Family::after(const Family& other, const Relations& relations, When when) {
  for (const Relation& relation : relations)
    after(other, relation, when);
  return *this;
}

Family& Family::after(const Family& other, When when) {
  const auto is_single = [](const Family& family) {
    return family.graph_->parts_->model.dag.family(family.index_).is_single;
  };
  return after(other, is_single(*this) || is_single(other) ? everything : same_tile, when);
}

Family& Family::precede(Family other, const Relation& relation, When when) {
  other.after(*this, relation, when);
  return *this;
}

Family& Family::precede(Family other, const Relations& relations, When when) {
  other.after(*this, relations, when);
  return *this;
}

Family& Family::precede(Family other, When when) {
  other.after(*this, when);
  return *this;
}

const Space& Family::space() const {
  return graph_->parts_->model.dag.family(index_).space;
}

Family& Family::priority(Priority priority) {
  graph_->parts_->forget_compiled();
  FamilyInfo& info = graph_->parts_->model.dag.family(index_);
  info.fills_gaps = priority == Priority::fill;
  info.filling = info.space.box();
  return *this;
}

}  // namespace sorrel::graph
