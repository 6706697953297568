#include "graph/run/model.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/check.hpp"
#include "base/text.hpp"
#include "graph/dag/accesses.hpp"
#include "graph/dag/joins.hpp"
#include "graph/run/face_copy.hpp"

namespace sorrel::graph {

namespace {

/// The tiles at a side of the block (a face, an edge or a corner) as a family with one key in each
/// dimension across.
struct Side {
  Key direction{};
  /// The coordinates of these tiles in the dimensions across.
  Key position{};
  int dimensions = 0;
  int peer = 0;

  [[nodiscard]] bool is_across(std::size_t d) const { return direction[d] != 0; }

  [[nodiscard]] Key tile_of(Key face) const {
    for (std::size_t d = 0; d < face.size(); ++d)
      if (is_across(d)) face[d] = position[d];
    return face;
  }

  /// The space of the faces of these tiles.
  [[nodiscard]] Space faces(const Space& tiles) const {
    Key extents = tiles.extents();
    for (std::size_t d = 0; d < extents.size(); ++d)
      if (is_across(d)) extents[d] = 1;
    return {extents, dimensions};
  }

  /// A face depends on its tile, or on the tile `by` further along the side.
  [[nodiscard]] Relation tile_before_face(const Key& by = {}) const {
    return relation(by, [&](std::size_t d) { return Axis(position[d]); });
  }

  /// A tile depends on its face, if it has one here, or on the face `by` further along the side.
  [[nodiscard]] Relation face_before_tile(const Key& by = {}) const {
    return relation(by, [&](std::size_t d) { return dim(static_cast<int>(d)) - position[d]; });
  }

  /// Below direction_count(); opposite() is the number that the neighbour gives to the same side.
  [[nodiscard]] int number() const {
    Index number = 0;
    for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions); ++d)
      number = number * 3 + direction[d] + 1;
    return static_cast<int>(number);
  }

  [[nodiscard]] int opposite() const { return direction_count(dimensions) - 1 - number(); }

  /// " u high i", " u low i high j".
  [[nodiscard]] std::string name(const std::string& field) const {
    std::string text = " " + field;
    for (std::size_t d = 0; d < direction.size(); ++d)
      if (is_across(d)) text += std::string(direction[d] < 0 ? " low " : " high ") + "ijkl"[d];
    return text;
  }

  /// 3 in each dimension.
  static int direction_count(int dimensions) {
    int count = 1;
    for (int d = 0; d < dimensions; ++d)
      count *= 3;
    return count;
  }

 private:
  template <class Across>
  [[nodiscard]] Relation relation(const Key& by, Across across) const {
    Relation relation;
    relation.axis_count = dimensions;
    for (int i = 0; i < dimensions; ++i) {
      const auto d = static_cast<std::size_t>(i);
      relation.axes[d] = is_across(d) ? across(d) : dim(i) + by[d];
    }
    return relation;
  }
};

/// Buffers of one exchange with one neighbour, for even and odd steps.
struct FaceBuffers {
  std::array<std::vector<std::byte>, 2> out;
  std::array<std::vector<std::byte>, 2> in;
};

/// Message tags: distinct between two ranks, and equal at both ends. Counted from the largest one
/// down, because those of a program mostly begin at 0.
struct Tags {
  int exchange_count = 0;
  int direction_count = 1;

  /// The number of tags of messages with `parts` parts.
  [[nodiscard]] Index count(Index parts) const { return parts * exchange_count * direction_count; }

  [[nodiscard]] Index of(int exchange, int direction, Index part) const {
    return tag_max - ((part * exchange_count + exchange) * direction_count + direction);
  }
};

class Lowering {
 public:
  Lowering(const Model& source, const IsNear& is_near)
      : source_(source), is_near_(is_near), model_(source) {}

  Model lower() {
    model_.sweeps.clear();
    if (source_.sweeps.empty()) return std::move(model_);
    number_fields();
    for (const DeclaredSweep& sweep : source_.sweeps)
      model_.accesses.push_back(accesses_of(sweep));
    std::vector<std::vector<int>> rotations;
    for (const std::vector<AnyField*>& rotation : source_.rotations) {
      rotations.emplace_back();
      for (AnyField* field : rotation)
        rotations.back().push_back(number_of(field));
    }
    model_.buffers = Buffers(static_cast<int>(fields().size()), std::move(rotations));
    model_.derived = derive(model_.accesses, model_.buffers);
    const Derived& derived = model_.derived;
    for (const SweepEdge& edge : derived.edges)
      add_edges(edge);
    tags_.exchange_count = static_cast<int>(derived.exchanges.size());
    tags_.direction_count = Side::direction_count(dimensions());
    for (std::size_t i = 0; i < derived.exchanges.size(); ++i)
      add_exchange(derived.exchanges[i], static_cast<int>(i));
    return std::move(model_);
  }

 private:
  [[nodiscard]] const AnyTiling& tiling() const { return *source_.tiling; }

  [[nodiscard]] const std::vector<AnyField*>& fields() const { return model_.fields; }

  [[nodiscard]] int dimensions() const { return tiling().dimension_count(); }

  void number_fields() {
    std::vector<AnyField*>& fields = model_.fields;
    for (const std::vector<AnyField*>& rotation : source_.rotations)
      fields.insert(fields.end(), rotation.begin(), rotation.end());
    for (const DeclaredSweep& sweep : source_.sweeps)
      for (const Declaration& declared : sweep.declared)
        if (std::find(fields.begin(), fields.end(), declared.field) == fields.end())
          fields.push_back(declared.field);
  }

  [[nodiscard]] int number_of(const AnyField* field) const {
    return static_cast<int>(std::find(fields().begin(), fields().end(), field) - fields().begin());
  }

  [[nodiscard]] std::string name_of(int sweep) const {
    return source_.dag.family(family_of(sweep)).name;
  }

  [[nodiscard]] int family_of(int sweep) const {
    return source_.sweeps[static_cast<std::size_t>(sweep)].family;
  }

  [[nodiscard]] Accesses accesses_of(const DeclaredSweep& sweep) const {
    Accesses accesses;
    for (const Declaration& declared : sweep.declared) {
      accesses.push_back({number_of(declared.field), declared.writes, declared.footprint});
      if (declared.footprint.radius > tiling().halo())
        throw GraphError(text_of("graph: %s reads %s %lld cells around, the halo has %lld",
                                 source_.dag.family(sweep.family).name.c_str(),
                                 declared.field->name().c_str(),
                                 static_cast<long long>(declared.footprint.radius),
                                 static_cast<long long>(tiling().halo())));
    }
    if (const int field = field_in_own_way(accesses); field >= 0)
      throw GraphError("graph: " + source_.dag.family(sweep.family).name + " reads " +
                       fields()[static_cast<std::size_t>(field)]->name() +
                       " around the cells in which it writes it; write another field, and rotate");
    return accesses;
  }

  void connect(int from, int to, const Relation& relation, bool crosses_step) {
    const std::string error = model_.dag.add_edge({from, to, relation, crosses_step});
    SORREL_CHECK(error.empty(), "%s", error.c_str());
  }

  void add_edges(const SweepEdge& edge) {
    const Relations relations = edge.reach == Reach::same   ? Relations{same_tile}
                                : edge.reach == Reach::star ? along_axes(dimensions(), 1)
                                                            : all_around(dimensions(), 1);
    for (const Relation& relation : relations)
      connect(family_of(edge.from), family_of(edge.to), relation, edge.crosses_step);
  }

  void add_exchange(const Exchange& exchange, int number) {
    std::vector<Side> across_first;
    std::vector<int> ghost_writers;
    for_each_key(distances(dimensions(), 1), [&](const Key& direction) {
      const auto across =
          std::count_if(direction.begin(), direction.end(), [](Index by) { return by != 0; });
      if (across == 0 || (across > 1 && !exchange.footprint.is_box)) return;
      const std::optional<int> peer = tiling().neighbour(direction);
      if (!peer) return;
      Side side{direction, {}, dimensions(), *peer};
      for (std::size_t d = 0; d < direction.size(); ++d)
        side.position[d] = direction[d] < 0 ? 0 : tiling().tiles().extents()[d] - 1;
      if (is_one_run(exchange, side)) {
        across_first.push_back(side);
      } else if (is_sent_by_tiles(side)) {
        ghost_writers.push_back(add_side_by_tiles(exchange, number, side));
      } else {
        let_tiles_within_wait(exchange.writer);
        ghost_writers.push_back(add_packed_side(exchange, number, side));
      }
    });
    for (const Side& side : across_first) {
      let_tiles_within_wait(exchange.writer);
      add_side_as_run(exchange, number, side, ghost_writers);
    }
  }

  /// Runs the tiles that no other rank waits for last.
  void let_tiles_within_wait(int sweep) {
    FamilyInfo& info = model_.dag.family(family_of(sweep));
    if (info.fills_gaps) return;
    info.fills_gaps = true;
    info.filling = tiling().inner_tiles();
  }

  [[nodiscard]] const AnyField* field_of(const Exchange& exchange) const {
    return fields()[static_cast<std::size_t>(exchange.field)];
  }

  [[nodiscard]] bool is_near(const Side& side) const {
    return is_near_ != nullptr && is_near_(side.peer);
  }

  /// Whether each tile's face is a message of its own, straight from field to ghosts. Both ends
  /// have equally many tiles along the side, so they agree.
  [[nodiscard]] bool is_sent_by_tiles(const Side& side) const {
    return is_near(side) && tags_.count(side.faces(tiling().tiles()).count()) <= tag_max;
  }

  /// Whether a side towards another machine can be sent as one contiguous run. Across the first
  /// dimension only ghosts of the other dimensions lie between its cells, and these are filled
  /// soon.
  [[nodiscard]] bool is_one_run(const Exchange& exchange, const Side& side) const {
    if (is_near(side) || exchange.footprint.is_box) return false;
    for (int d = 1; d < dimensions(); ++d)
      if (side.is_across(static_cast<std::size_t>(d)) || !tiling().is_near(d)) return false;
    return true;
  }

  /// Distances along a side from a face to the tiles that read its ghosts.
  [[nodiscard]] std::vector<Key> tiles_beside(const Side& side, const SweepAt& reader) const {
    std::vector<Key> offsets{{}};
    for (std::size_t d = 0; reader.is_box && d < static_cast<std::size_t>(dimensions()); ++d) {
      if (side.is_across(d)) continue;
      for (std::size_t i = 0, count = offsets.size(); i < count; ++i) {
        for (const Index by : {-1, 1}) {
          offsets.push_back(offsets[i]);
          offsets.back()[d] = by;
        }
      }
    }
    return offsets;
  }

  /// Adds edges to the tasks that use the buffers: `sent` frees the cells that leave, `received`
  /// fills ghosts.
  void connect_users(const Exchange& exchange, const Side& side, int sent, int received) {
    for (const SweepAt& reader : exchange.earlier_readers)
      for (const Key& by : tiles_beside(side, reader))
        connect(family_of(reader.sweep), received, side.tile_before_face(by), reader.crosses_step);
    for (const SweepAt& reader : exchange.readers)
      for (const Key& by : tiles_beside(side, reader))
        connect(received, family_of(reader.sweep), side.face_before_tile(by), reader.crosses_step);
    for (const SweepAt& writer : exchange.later_writers)
      connect(sent, family_of(writer.sweep), side.face_before_tile(), writer.crosses_step);
  }

  /// Each tile's face is copied once, when its message is, by the thread that then has the
  /// processor. Returns the family that fills the ghosts.
  int add_side_by_tiles(const Exchange& exchange, int number, const Side& side) {
    const AnyField* field = field_of(exchange);
    const Face face = face_of(tiling(), side.direction, exchange.footprint.radius);
    const Space faces = side.faces(tiling().tiles());
    const auto message_with = [=, tags = tags_](int direction, const Box<dimension_count_max>& part,
                                                const Key& key, int slot) {
      Message message = message_of(*field, field->data(slot), part);
      message.peer = side.peer;
      message.tag = static_cast<int>(tags.of(number, direction, faces.index_of(key)));
      return message;
    };
    const std::string where = side.name(field->name());
    const int send = add_message(
        FamilyKind::send, "send" + where, faces,
        [=, tiling = &tiling()](const Key& key, int slot) {
          return message_with(side.number(), within(tiling->cells(side.tile_of(key)), face.sent),
                              key, slot);
        },
        field);
    const int receive = add_message(
        FamilyKind::receive, "receive" + where, faces,
        [=, tiling = &tiling()](const Key& key, int slot) {
          return message_with(side.opposite(),
                              beside(tiling->cells(side.tile_of(key)), face.ghosts, side.direction),
                              key, slot);
        },
        field);
    connect(family_of(exchange.writer), send, side.tile_before_face(), false);
    connect_users(exchange, side, send, receive);
    return receive;
  }

  /// One message for the whole side, straight from field to ghosts. The ghosts between its cells
  /// travel along and are ignored. No task may write them meanwhile, so the tasks that fill them
  /// wait until the message has left; their readers wait for this side anyway.
  void add_side_as_run(const Exchange& exchange,
                       int number,
                       const Side& side,
                       const std::vector<int>& ghost_writers) {
    const AnyField* field = field_of(exchange);
    const Face face = face_of(tiling(), side.direction, exchange.footprint.radius);
    const auto message_with = [=, tags = tags_](int direction, const Box<dimension_count_max>& part,
                                                int slot) {
      Message message = message_of_run(*field, field->data(slot), part);
      message.peer = side.peer;
      message.tag = static_cast<int>(tags.of(number, direction, 0));
      return message;
    };
    const std::string where = side.name(field->name());
    const int send = add_message(
        FamilyKind::send, "send" + where, {1},
        [=](const Key&, int slot) { return message_with(side.number(), face.sent, slot); }, field);
    const int receive = add_message(
        FamilyKind::receive, "receive" + where, {1},
        [=](const Key&, int slot) { return message_with(side.opposite(), face.ghosts, slot); },
        field);
    Relation tiles_of_side = side.tile_before_face();
    for (int d = 1; d < dimensions(); ++d)
      tiles_of_side.axes[static_cast<std::size_t>(d)] = every;
    const Relation message_of_tile = at(dim(0) - side.position[0]);
    connect(family_of(exchange.writer), send, tiles_of_side, false);
    for (const int writer : ghost_writers)
      connect(send, writer, message_of_tile, false);
    for (const SweepAt& reader : exchange.earlier_readers)
      connect(family_of(reader.sweep), receive, tiles_of_side, reader.crosses_step);
    for (const SweepAt& reader : exchange.readers)
      connect(receive, family_of(reader.sweep), message_of_tile, reader.crosses_step);
    for (const SweepAt& writer : exchange.later_writers)
      connect(send, family_of(writer.sweep), message_of_tile, writer.crosses_step);
  }

  /// One message for the whole side: pack, send, receive, unpack. Returns the family that fills the
  /// ghosts.
  int add_packed_side(const Exchange& exchange, int number, const Side& side) {
    const AnyField* field = field_of(exchange);
    const Face face = face_of(tiling(), side.direction, exchange.footprint.radius);
    auto buffers = std::make_shared<FaceBuffers>();
    const auto bytes = static_cast<std::size_t>(face.sent.count()) * field->value_bytes();
    for (const std::size_t slot : {0, 1}) {
      buffers->out[slot].resize(bytes);
      buffers->in[slot].resize(bytes);
    }
    const Space faces = side.faces(tiling().tiles());
    const std::string where = side.name(field->name());

    const int pack = add_task("pack" + where, faces, [=, tiling = &tiling()](const Task& task) {
      const Box<dimension_count_max> part =
          within(tiling->cells(side.tile_of(task.key)), face.sent);
      copy_out(*field, field->data(task.step), part, face.sent,
               buffers->out[static_cast<std::size_t>(task.step & 1)].data());
    });
    const int unpack = add_task("unpack" + where, faces, [=, tiling = &tiling()](const Task& task) {
      const Box<dimension_count_max> part =
          beside(tiling->cells(side.tile_of(task.key)), face.ghosts, side.direction);
      copy_in(*field, field->data(task.step), part, face.ghosts,
              buffers->in[static_cast<std::size_t>(task.step & 1)].data());
    });
    // A message is named by the side at which it leaves.
    const int send = add_message(
        FamilyKind::send, "send" + where, {1},
        [=, tag = static_cast<int>(tags_.of(number, side.number(), 0))](const Key&, int slot) {
          return Message{side.peer, tag, buffers->out[static_cast<std::size_t>(slot)], {}};
        });
    const int receive = add_message(
        FamilyKind::receive, "receive" + where, {1},
        [=, tag = static_cast<int>(tags_.of(number, side.opposite(), 0))](const Key&, int slot) {
          return Message{side.peer, tag, buffers->in[static_cast<std::size_t>(slot)], {}};
        });

    connect(family_of(exchange.writer), pack, side.tile_before_face(), false);
    connect(pack, send, everything, false);
    connect(receive, unpack, at(0), false);
    connect_users(exchange, side, pack, unpack);
    return unpack;
  }

  template <class Call>
  int add_task(std::string name, const Space& space, Call call) {
    return model_.add({std::move(name), space, FamilyKind::task},
                      {std::make_shared<Call>(std::move(call)),
                       [](void* object, const Task& task) { (*static_cast<Call*>(object))(task); }},
                      nullptr);
  }

  int add_message(FamilyKind kind,
                  std::string name,
                  const Space& space,
                  Graph::MessageOf message,
                  const AnyField* follows = nullptr) {
    return model_.add({std::move(name), space, kind}, {}, std::move(message), follows);
  }

  const Model& source_;
  const IsNear& is_near_;
  Tags tags_;
  Model model_;
};

}  // namespace

int Model::add(FamilyInfo info, Body body, Graph::MessageOf message, const AnyField* follows) {
  bodies.push_back(std::move(body));
  messages.push_back(std::move(message));
  followed.push_back(follows);
  return dag.add_family(std::move(info));
}

void Model::add_joins() {
  dag = with_joins(dag);
  bodies.resize(static_cast<std::size_t>(dag.family_count()),
                Body{nullptr, [](void* /*object*/, const Task& /*task*/) {}});
  messages.resize(bodies.size());
  followed.resize(bodies.size());
}

Model lower(const Model& source, const IsNear& is_near) {
  return Lowering(source, is_near).lower();
}

}  // namespace sorrel::graph
