#include <algorithm>
#include <atomic>
#include <limits>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <sorrel/graph/graph.hpp>

#include "base/text.hpp"
#include "graph/dag/dag.hpp"
#include "graph/dag/ghosts.hpp"
#include "graph/dag/order.hpp"
#include "graph/run/compiled.hpp"
#include "graph/run/ghost_filler.hpp"
#include "graph/run/model.hpp"
#include "graph/run/runner.hpp"

namespace sorrel::graph {

namespace {

constexpr Index task_count_max = std::numeric_limits<std::int32_t>::max();

bool has_neighbour(const AnyTiling& tiling) {
  for (int d = 0; d < tiling.dimension_count(); ++d)
    if (tiling.neighbour(d, 0) || tiling.neighbour(d, 1)) return true;
  return false;
}

}  // namespace

struct Graph::Parts {
  explicit Parts(std::unique_ptr<Messenger> given) : messenger(std::move(given)) {}

  int add(FamilyInfo info, Body body, MessageOf message) {
    begin_change();
    if (model.dag.family_count() == Runner::family_count_max)
      throw GraphError(text_of("graph: more than %d families", Runner::family_count_max));
    if (const std::string error = error_in(info.space, "tasks", task_count_max); !error.empty())
      throw GraphError("graph: " + info.name + " has " + error);
    return model.add(std::move(info), std::move(body), std::move(message));
  }

  void add_edge(const Edge& edge) {
    begin_change();
    if (const std::string error = model.dag.add_edge(edge); !error.empty()) throw GraphError(error);
  }

  void compile();

  [[nodiscard]] Model lowered() const {
    IsNear is_near;
    if (messenger != nullptr) is_near = [this](int peer) { return messenger->is_near(peer); };
    return lower(model, is_near);
  }

  /// Messages whose bytes are constant for all steps of one parity.
  void add_channels();

  /// Before a run, with the fields' buffers of its step 0: selects the channels of the messages
  /// that use fields directly. Adds them for buffers that the graph has not met before.
  void bind_to_buffers();

  /// Throws GraphError if a message of the program has the tag of a message between sweeps.
  void check_tag(const CompiledFamily& family, const Key& key, const Message& message);

  /// Adds a channel for each message of a family in one slot. Returns the first.
  int add_channels(CompiledFamily& family, int slot);

  /// Takes the tags of `count` more reductions over ranks; returns the last one.
  int take_tags(int count);

  /// The reductions of a subgraph become those of this graph, too.
  void add_reductions(const std::string& name, const Parts& part);

  /// Before each change. Throws GraphError while the graph runs, since threads read it then.
  void begin_change() {
    // Relaxed: set by this thread, or before the task that calls.
    if (is_running.load(std::memory_order_relaxed))
      throw GraphError("graph: it is changed while it runs; change it between runs");
    forget_compiled();
  }

  /// Discards everything that was derived from the graph.
  void forget_compiled() {
    if (runner == nullptr) return;
    runner.reset();
    compiled.reset();
    bound.clear();
    program_queues.clear();
    sweep_queues.clear();
    needed_for = left_for = -1;
    filler.clear();
    if (messenger != nullptr) messenger->clear();
  }

  /// Exists from the begin of a run to its end; a graph has one run at a time.
  class Run {
   public:
    explicit Run(std::atomic<bool>& is_running) : is_running_(is_running) {
      // Acquire, pairs with the end of the run before, perhaps of another thread.
      if (is_running.exchange(true, std::memory_order_acquire))
        throw GraphError(
            "graph: run() while it runs, from its own task or condition or from another thread");
    }

    ~Run() { is_running_.store(false, std::memory_order_release); }

    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

   private:
    std::atomic<bool>& is_running_;
  };

  std::atomic<bool> is_running{false};
  std::unique_ptr<Messenger> messenger;
  Model model;
  /// Lowered, with the implied edges.
  Model full;
  std::unique_ptr<Compiled> compiled;
  std::unique_ptr<Runner> runner;

  /// The channels of a family that use one buffer.
  struct Bound {
    const std::byte* data = nullptr;
    int first_channel = 0;
  };

  /// One entry for each family.
  std::vector<std::vector<Bound>> bound;

  /// Direction, peer and tag of messages.
  using Queues = std::set<std::tuple<FamilyKind, int, int>>;
  Queues program_queues;
  Queues sweep_queues;

  /// Whether any rank, perhaps this one, is beside the block.
  bool has_neighbours = false;
  GhostFiller filler;

  /// ghosts_needed(), kept for runs of equally many steps, and the number of these.
  const std::vector<Footprint>& ghosts_needed_before(Index steps);
  std::vector<Footprint> needed;
  Index needed_for = -1;

  /// ghosts_left(), kept in the same way.
  const std::vector<std::optional<Footprint>>& ghosts_left_after(Index steps);
  std::vector<std::optional<Footprint>> left;
  Index left_for = -1;
  std::string failed_task;
  int rank_reduction_count = 0;
  /// Called after a run that has failed; one for each reduction, its own or of a subgraph.
  std::vector<std::shared_ptr<const std::function<void()>>> resets;
};

int Graph::Parts::take_tags(int count) {
  if (rank_reduction_count + count > rank_reduction_count_max)
    throw GraphError(
        text_of("graph: more than %d reductions over ranks", rank_reduction_count_max));
  rank_reduction_count += count;
  return tag_max + rank_reduction_count;
}

void Graph::Parts::add_reductions(const std::string& name, const Parts& part) {
  for (const auto& reset : part.resets)
    if (std::find(resets.begin(), resets.end(), reset) != resets.end())
      throw GraphError("graph: " + name +
                       ": the subgraph has a reduction and has been added before; both copies "
                       "would combine into one value");
  static_cast<void>(take_tags(part.rank_reduction_count));
  resets.insert(resets.end(), part.resets.begin(), part.resets.end());
}

void Graph::Parts::compile() {
  full = lowered();
  Index tasks = 0;
  for (int f = 0; f < full.dag.family_count(); ++f) {
    const FamilyInfo& info = full.dag.family(f);
    tasks += info.space.count();
    if (info.kind == FamilyKind::task && full.bodies[static_cast<std::size_t>(f)].call == nullptr)
      throw GraphError("graph: " + info.name + " has no body; say body(function)");
    if (info.kind != FamilyKind::task && messenger == nullptr)
      throw GraphError("graph: " + info.name +
                       " is a message, and the graph has no messenger: make it by "
                       "Graph(over_mpi(comm)); a periodic grid has messages on one rank, too");
  }
  if (tasks > task_count_max) throw GraphError("graph: more than 2^31 - 1 tasks in a step");
  if (const std::string error = find_order_error(full.dag); !error.empty()) throw GraphError(error);
  full.add_joins();
  compiled = std::make_unique<Compiled>(full.dag, full.bodies);
  runner = std::make_unique<Runner>(full.dag, *compiled, messenger.get());
  bound.resize(compiled->family_count());
  has_neighbours = full.tiling != nullptr && has_neighbour(*full.tiling);
  add_channels();
}

const std::vector<Footprint>& Graph::Parts::ghosts_needed_before(Index steps) {
  if (std::exchange(needed_for, steps) != steps)
    needed = ghosts_needed(full.accesses, full.buffers, steps);
  return needed;
}

const std::vector<std::optional<Footprint>>& Graph::Parts::ghosts_left_after(Index steps) {
  if (std::exchange(left_for, steps) != steps)
    left = ghosts_left(full.accesses, full.derived, full.buffers, steps);
  return left;
}

void Graph::Parts::add_channels() {
  for (std::size_t f = 0; f < compiled->family_count(); ++f) {
    CompiledFamily& family = compiled->family(f);
    if (family.kind == FamilyKind::task || full.followed[f] != nullptr) continue;
    for (const int slot : {0, 1})
      family.first_channels.push_back(add_channels(family, slot));
  }
}

void Graph::Parts::bind_to_buffers() {
  for (std::size_t f = 0; f < compiled->family_count(); ++f) {
    const AnyField* field = full.followed[f];
    if (field == nullptr) continue;
    CompiledFamily& family = compiled->family(f);
    family.first_channels.clear();
    for (std::size_t slot = 0; slot < field->rotation_.size(); ++slot) {
      const std::byte* data = field->rotation_[(field->place_ + slot) % field->rotation_.size()];
      auto known = std::find_if(bound[f].begin(), bound[f].end(),
                                [&](const Bound& one) { return one.data == data; });
      if (known == bound[f].end()) {
        bound[f].push_back({data, add_channels(family, static_cast<int>(slot))});
        known = bound[f].end() - 1;
      }
      family.first_channels.push_back(known->first_channel);
    }
  }
}

void Graph::Parts::check_tag(const CompiledFamily& family, const Key& key, const Message& message) {
  if (model.sweeps.empty()) return;
  const bool is_of_program = family.index < model.dag.family_count();
  const std::tuple queue{family.kind, message.peer, message.tag};
  (is_of_program ? program_queues : sweep_queues).insert(queue);
  if ((is_of_program ? sweep_queues : program_queues).contains(queue))
    throw GraphError(
        text_of("graph: tag %d, of %s, is used by a message of the program and by one "
                "between sweeps, which count tags from %d down",
                message.tag, full.dag.name_of(family.index, key).c_str(), tag_max));
}

int Graph::Parts::add_channels(CompiledFamily& family, int slot) {
  const auto f = static_cast<std::size_t>(family.index);
  std::optional<int> first;
  // Messages that use fields are sent and received in the order of steps, with one tag.
  const int parity = full.followed[f] == nullptr ? slot : 0;
  const Direction direction =
      family.kind == FamilyKind::send ? Direction::send : Direction::receive;
  for_each_key(family.space.box(), [&](const Key& key) {
    const Message message = full.messages[f](key, slot);
    if (message.tag < 0 || message.tag > tag_max + rank_reduction_count)
      throw GraphError(text_of("graph: %s has tag %d; 0 to %d are possible",
                               full.dag.name_of(family.index, key).c_str(), message.tag, tag_max));
    if (message.peer < 0 || message.peer >= messenger->peer_count())
      throw GraphError(text_of("graph: %s has peer %d; there are 0 to %d",
                               full.dag.name_of(family.index, key).c_str(), message.peer,
                               messenger->peer_count() - 1));
    check_tag(family, key, message);
    const int channel = messenger->add(direction, message, parity);
    const Index index = family.space.index_of(key);
    if (!first) first = channel;
    SORREL_CHECK(channel == *first + index, "channel %d follows %d", channel, *first);
    runner->add_channel(channel, family, index, message.peer);
  });
  return first.value_or(0);
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
  parts_->begin_change();
  if (&part == this) throw GraphError("graph: " + name + ": a graph cannot contain itself");
  if (!model.sweeps.empty())
    throw GraphError("graph: " + name +
                     ": the subgraph has sweeps; declare these in the graph itself");
  if (!model.rotations.empty())
    throw GraphError("graph: " + name +
                     ": the subgraph rotates fields; rotate these in the graph itself");
  // The tags of its reductions follow those that this graph has.
  const int tags_before = parts_->rank_reduction_count;
  parts_->add_reductions(name, *part.parts_);
  const auto nothing = [] {};
  Subgraph result{task(name + "/begin", nothing), task(name + "/end", nothing)};
  const int first = parts_->model.dag.family_count();
  for (int f = 0; f < model.dag.family_count(); ++f) {
    const auto place = static_cast<std::size_t>(f);
    FamilyInfo info = model.dag.family(f);
    info.name = name + "/" + info.name;
    MessageOf message = model.messages[place];
    if (tags_before != 0 && message != nullptr)
      message = [tags_before, message = std::move(message)](const Key& key, int slot) {
        Message moved = message(key, slot);
        if (moved.tag > tag_max) moved.tag += tags_before;
        return moved;
      };
    parts_->add(std::move(info), model.bodies[place], std::move(message));
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
  return parts_->take_tags(1);
}

void Graph::after_failure(std::function<void()> reset) {
  parts_->resets.push_back(std::make_shared<std::function<void()>>(std::move(reset)));
}

Report Graph::run(const RunOptions& options) {
  const Parts::Run run(parts_->is_running);
  parts_->failed_task.clear();
  if (options.steps < 0) throw GraphError("graph: a negative number of steps");
  if (options.check_every < 1)
    throw GraphError("graph: check_every is below 1; it is the number of steps between two checks");
  prepare();
  fill_ghosts(options.steps);
  Report report;
  if (options.steps == 0 || parts_->compiled->task_count() == 0) return report;
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

/// Compiles the graph if need be, and selects the channels of the buffers that its fields have now.
void Graph::prepare() {
  // Messages look at the buffers of fields.
  begin_rotation(0);
  try {
    if (parts_->runner == nullptr) parts_->compile();
    parts_->bind_to_buffers();
  } catch (...) {
    parts_->forget_compiled();
    end_rotation(0);
    throw;
  }
  end_rotation(0);
}

/// Runs the steps from `first` to `steps` - 1.
Report Graph::run_steps(Index first, Index steps) {
  begin_rotation(first);
  Failure failure;
  const Report report = parts_->runner->run(first, steps, failure);
  SORREL_AUDIT_INVARIANTS(*parts_->compiled);
  record_ghosts(report.steps, failure.exception != nullptr);
  end_rotation(first + report.steps);
  if (failure.exception == nullptr) return report;
  for (const auto& reset : parts_->resets)
    (*reset)();
  const Ready& failed = failure.task;
  parts_->failed_task = parts_->full.dag.name_of(failed.family->index, failed.task.key) +
                        text_of(", step %lld", static_cast<long long>(failed.task.step));
  std::rethrow_exception(failure.exception);
}

// ---- sweeps
// --------------------------------------------------------------------------------------

void Graph::declare(const Family& tiles,
                    const AnyTiling& tiling,
                    std::vector<Declaration> declared) {
  parts_->begin_change();
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
  parts_->begin_change();
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
        rotation[i]->rotation_.push_back(field->data_);
    }
  }
}

void Graph::end_rotation(Index steps) {
  for (const std::vector<AnyField*>& rotation : parts_->model.rotations) {
    std::vector<Footprint> filled;
    for (const AnyField* field : rotation)
      filled.push_back(field->filled_);
    for (AnyField* field : rotation) {
      const std::size_t buffer =
          (field->place_ + static_cast<std::size_t>(steps)) % rotation.size();
      field->data_ = field->rotation_[buffer];
      field->filled_ = filled[buffer];
    }
    for (AnyField* field : rotation) {
      field->rotation_.assign(1, field->data_);
      field->place_ = 0;
    }
  }
}

/// After the steps of a run, before the fields rotate: which ghosts it has left filled.
void Graph::record_ghosts(Index steps, bool has_failed) {
  const Model& full = parts_->full;
  if (has_failed) {
    for (AnyField* field : full.fields)
      field->filled_ = {};
    return;
  }
  const auto& left = parts_->ghosts_left_after(steps);
  for (std::size_t i = 0; i < left.size(); ++i)
    if (left[i]) full.fields[i]->filled_ = *left[i];
}

/// Fills the ghosts that the run reads before it fills them, where a graph has written the cells
/// and has not exchanged them. May suspend.
void Graph::fill_ghosts(Index steps) {
  const Model& full = parts_->full;
  if (!parts_->has_neighbours) return;
  const auto& needed = parts_->ghosts_needed_before(steps);
  GhostFiller::Wanted wanted;
  for (std::size_t i = 0; i < needed.size(); ++i) {
    AnyField* field = full.fields[i];
    if (!covers(field->filled_, needed[i]))
      wanted.push_back({field, union_of(field->filled_, needed[i])});
  }
  if (!wanted.empty()) parts_->filler.fill(wanted, full.tiling, parts_->messenger.get());
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
  graph_->parts_->begin_change();
  Body& own = graph_->parts_->model.bodies[static_cast<std::size_t>(index_)];
  own.object = std::move(body);
  own.call = call;
}

void Family::set_condition(std::shared_ptr<void> condition, Test test) {
  graph_->parts_->begin_change();
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
  graph_->parts_->begin_change();
  FamilyInfo& info = graph_->parts_->model.dag.family(index_);
  info.fills_gaps = priority == Priority::fill;
  info.filling = info.space.box();
  return *this;
}

}  // namespace sorrel::graph
