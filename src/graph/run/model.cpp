#include "graph/run/model.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "base/check.hpp"
#include "base/text.hpp"
#include "graph/dag/accesses.hpp"
#include "graph/run/face_copy.hpp"

namespace sorrel::graph {

namespace {

/// The tiles at an end of the block, seen as a family of their own that has one key in `dimension`.
struct End {
  int dimension = 0;
  /// 0: the lower one.
  int end = 0;
  /// The coordinate of these tiles.
  Index position = 0;

  [[nodiscard]] Key tile_of(Key face) const {
    face[static_cast<std::size_t>(dimension)] = position;
    return face;
  }

  /// What a face comes after: its tile.
  [[nodiscard]] Relation tile_before_face(int dimensions) const {
    return relation(dimensions, Axis(position));
  }

  /// What a tile comes after: its face, if it has one here.
  [[nodiscard]] Relation face_before_tile(int dimensions) const {
    return relation(dimensions, dim(dimension) - position);
  }

 private:
  [[nodiscard]] Relation relation(int dimensions, const Axis& across) const {
    Relation relation;
    relation.axis_count = dimensions;
    for (int d = 0; d < dimensions; ++d)
      relation.axes[static_cast<std::size_t>(d)] = d == dimension ? across : dim(d);
    return relation;
  }
};

/// What two ranks send each other at one end, for even and for odd steps.
struct FaceBuffers {
  std::array<std::vector<std::byte>, 2> out;
  std::array<std::vector<std::byte>, 2> in;
};

class Lowering {
 public:
  explicit Lowering(const Model& said) : said_(said), model_(said) {}

  Model lower() {
    model_.sweeps.clear();
    if (said_.sweeps.empty()) return std::move(model_);
    number_fields();
    std::vector<Accesses> sweeps;
    for (const DeclaredSweep& sweep : said_.sweeps)
      sweeps.push_back(accesses_of(sweep));
    std::vector<std::vector<int>> rotations;
    for (const std::vector<AnyField*>& rotation : said_.rotations) {
      rotations.emplace_back();
      for (AnyField* field : rotation)
        rotations.back().push_back(number_of(field));
    }
    const Derived derived = derive(sweeps, Buffers(static_cast<int>(fields_.size()), rotations));
    for (const SweepEdge& edge : derived.edges)
      add_edges(edge);
    for (std::size_t i = 0; i < derived.exchanges.size(); ++i)
      add_exchange(derived.exchanges[i], static_cast<int>(i));
    return std::move(model_);
  }

 private:
  [[nodiscard]] const Tiling& tiling() const { return *said_.tiling; }

  [[nodiscard]] int dimensions() const { return tiling().dimension_count(); }

  void number_fields() {
    for (const std::vector<AnyField*>& rotation : said_.rotations)
      fields_.insert(fields_.end(), rotation.begin(), rotation.end());
    for (const DeclaredSweep& sweep : said_.sweeps)
      for (const Declaration& declared : sweep.declared)
        if (std::find(fields_.begin(), fields_.end(), declared.field) == fields_.end())
          fields_.push_back(declared.field);
  }

  [[nodiscard]] int number_of(const AnyField* field) const {
    return static_cast<int>(std::find(fields_.begin(), fields_.end(), field) - fields_.begin());
  }

  [[nodiscard]] std::string name_of(int sweep) const {
    return said_.dag.family(family_of(sweep)).name;
  }

  [[nodiscard]] int family_of(int sweep) const {
    return said_.sweeps[static_cast<std::size_t>(sweep)].family;
  }

  [[nodiscard]] Accesses accesses_of(const DeclaredSweep& sweep) const {
    Accesses accesses;
    for (const Declaration& declared : sweep.declared) {
      accesses.push_back({number_of(declared.field), declared.writes, declared.footprint});
      if (declared.footprint.radius > tiling().halo())
        throw GraphError(text_of("graph: %s reads %s %lld cells around, the halo has %lld",
                                 said_.dag.family(sweep.family).name.c_str(),
                                 declared.field->name().c_str(),
                                 static_cast<long long>(declared.footprint.radius),
                                 static_cast<long long>(tiling().halo())));
    }
    if (const int field = field_in_own_way(accesses); field >= 0)
      throw GraphError("graph: " + said_.dag.family(sweep.family).name + " reads " +
                       fields_[static_cast<std::size_t>(field)]->name() +
                       " around the cells in which it writes it; write another field, and rotate");
    return accesses;
  }

  void connect(int from, int to, const Relation& relation, bool crosses_step) {
    const std::string trouble = model_.dag.add_edge({from, to, relation, crosses_step});
    SORREL_CHECK(trouble.empty(), "%s", trouble.c_str());
  }

  void add_edges(const SweepEdge& edge) {
    const Relations relations = edge.reach == Reach::same   ? Relations{same_tile}
                                : edge.reach == Reach::star ? star(dimensions(), 1)
                                                            : box(dimensions(), 1);
    for (const Relation& relation : relations)
      connect(family_of(edge.from), family_of(edge.to), relation, edge.crosses_step);
  }

  void add_exchange(const Exchange& exchange, int number) {
    for (int d = 0; d < dimensions(); ++d) {
      for (const int end : {0, 1}) {
        if (!tiling().neighbour(d, end)) continue;
        if (exchange.footprint.is_box)
          throw GraphError("graph: " + name_of(exchange.readers[0].sweep) + " reads " +
                           fields_[static_cast<std::size_t>(exchange.field)]->name() +
                           " all around; between ranks, along the axes is possible: star()");
        let_tiles_within_wait(exchange.writer);
        const Index last = tiling().tiles().extents()[static_cast<std::size_t>(d)] - 1;
        add_face(exchange, number, {d, end, end == 0 ? 0 : last});
      }
    }
  }

  /// Tiles that others wait for go first.
  void let_tiles_within_wait(int sweep) {
    FamilyInfo& info = model_.dag.family(family_of(sweep));
    if (info.fills_gaps) return;
    info.fills_gaps = true;
    info.filling = tiling().inner_tiles();
  }

  /// Pack, send, receive, unpack at one end.
  void add_face(const Exchange& exchange, int number, const End& end) {
    const AnyField* field = fields_[static_cast<std::size_t>(exchange.field)];
    const Face face = face_of(tiling(), end.dimension, end.end, exchange.footprint.radius);
    auto buffers = std::make_shared<FaceBuffers>();
    const auto bytes = static_cast<std::size_t>(face.sent.count()) * field->value_bytes();
    for (const std::size_t slot : {0, 1}) {
      buffers->out[slot].resize(bytes);
      buffers->in[slot].resize(bytes);
    }
    Key extents = tiling().tiles().extents();
    extents[static_cast<std::size_t>(end.dimension)] = 1;
    const Space faces(extents, dimensions());
    const std::string where =
        " " + field->name() + (end.end == 0 ? " low " : " high ") + "ijk"[end.dimension];
    const int peer = *tiling().neighbour(end.dimension, end.end);

    const int pack = add_task("pack" + where, faces, [=, tiling = &tiling()](const Task& task) {
      const KeyBox part = within(tiling->cells(end.tile_of(task.key)), face.sent);
      copy_out(*field, field->origin(task.step), part, face.sent,
               buffers->out[static_cast<std::size_t>(task.step & 1)].data());
    });
    const int unpack = add_task("unpack" + where, faces, [=, tiling = &tiling()](const Task& task) {
      const KeyBox part = beside(tiling->cells(end.tile_of(task.key)), face.ghosts, end.dimension);
      copy_in(*field, field->origin(task.step), part, face.ghosts,
              buffers->in[static_cast<std::size_t>(task.step & 1)].data());
    });
    // A message is named by the end at which it leaves.
    const int tag = 6 * number + 2 * end.dimension;
    const int send = add_message(FamilyKind::send, "send" + where, [=](const Key&, int slot) {
      return Message{peer, tag + end.end, buffers->out[static_cast<std::size_t>(slot)]};
    });
    const int receive =
        add_message(FamilyKind::receive, "receive" + where, [=](const Key&, int slot) {
          return Message{peer, tag + 1 - end.end, buffers->in[static_cast<std::size_t>(slot)]};
        });

    const Relation tile_before_face = end.tile_before_face(dimensions());
    const Relation face_before_tile = end.face_before_tile(dimensions());
    connect(family_of(exchange.writer), pack, tile_before_face, false);
    connect(pack, send, everything, false);
    connect(receive, unpack, at_zero(), false);
    for (const SweepAt& reader : exchange.earlier_readers)
      connect(family_of(reader.sweep), unpack, tile_before_face, reader.crosses_step);
    for (const SweepAt& reader : exchange.readers)
      connect(unpack, family_of(reader.sweep), face_before_tile, reader.crosses_step);
    for (const SweepAt& writer : exchange.later_writers)
      connect(pack, family_of(writer.sweep), face_before_tile, writer.crosses_step);
  }

  static Relation at_zero() { return at(0); }

  template <class Call>
  int add_task(std::string name, const Space& space, Call call) {
    return model_.add({std::move(name), space, FamilyKind::task},
                      {std::make_shared<Call>(std::move(call)),
                       [](void* object, const Task& task) { (*static_cast<Call*>(object))(task); }},
                      nullptr);
  }

  int add_message(FamilyKind kind, std::string name, Graph::MessageOf message) {
    return model_.add({std::move(name), {1}, kind}, {}, std::move(message));
  }

  const Model& said_;
  Model model_;
  std::vector<const AnyField*> fields_;
};

}  // namespace

int Model::add(FamilyInfo info, Body body, Graph::MessageOf message) {
  bodies.push_back(std::move(body));
  messages.push_back(std::move(message));
  return dag.add_family(std::move(info));
}

Model lower(const Model& said) {
  return Lowering(said).lower();
}

}  // namespace sorrel::graph
