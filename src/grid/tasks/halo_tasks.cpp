#include <array>
#include <cstddef>
#include <memory>
#include <utility>

#include <sorrel/grid/halo_tasks.hpp>

#include "base/text.hpp"
#include "grid/copy/runs.hpp"
#include "grid/halo/fit.hpp"
#include "grid/halo/sides.hpp"

namespace sorrel::grid {
namespace {

using graph::everything;
using graph::Family;
using graph::Graph;
using graph::Key;
using graph::Message;
using graph::Space;
using graph::Task;
using graph::When;

/// The payload of one side in one direction, for all fields.
struct Payload {
  std::vector<Runs> runs;
  std::vector<std::byte> buffer;  ///< empty if the cells are sent or received in place

  Payload(std::span<const ArrayView> fields, const Box<3>& box, MemoryOrder order) {
    for (const ArrayView& field : fields)
      runs.push_back(runs_of(field, box, order));
  }

  // Whether the payload can be sent in place: a message has at most two loops over one run.
  [[nodiscard]] bool needs_no_buffer(Pack pack) const {
    return runs.size() == 1 && runs[0].loops[2].count == 1 &&
           (runs[0].is_one() || pack == Pack::datatype);
  }

  void make_buffer() {
    std::int64_t bytes = 0;
    for (const Runs& run : runs)
      bytes += run.bytes();
    buffer.resize(static_cast<std::size_t>(bytes));
  }

  [[nodiscard]] Message message(int peer, int tag) {
    Message message{.peer = peer, .tag = tag, .bytes = buffer};
    if (!buffer.empty()) return message;
    message.bytes = {runs[0].first, static_cast<std::size_t>(runs[0].run_bytes)};
    for (std::size_t i = 0; i < runs[0].loops.size(); ++i)
      message.repeats[i] = {runs[0].loops[i].count, runs[0].loops[i].stride_bytes};
    return message;
  }
};

/// One side in even and in odd steps. Steps may overlap, so each has its buffers.
struct TaskedSide {
  Side side;
  std::array<Payload, 2> out;
  std::array<Payload, 2> in;

  [[nodiscard]] bool needs_no_buffer() const {
    return out[0].needs_no_buffer(side.pack) && out[1].needs_no_buffer(side.pack);
  }

  void make_buffers() {
    for (std::array<Payload, 2>* payloads : {&out, &in})
      for (Payload& payload : *payloads)
        payload.make_buffer();
  }

  void pack(std::size_t slot) {
    std::byte* end = out[slot].buffer.data();
    for (const Runs& runs : out[slot].runs)
      end += grid::pack(runs, side.pack, end);
  }

  void unpack(std::size_t slot) {
    const std::byte* end = in[slot].buffer.data();
    for (const Runs& runs : in[slot].runs)
      end += grid::unpack(runs, side.pack, end);
  }

  // Copies from the block's other end, where a grid is periodic and not cut.
  void copy_from(const TaskedSide& opposite, std::size_t slot) {
    std::vector<std::byte> passing;
    for (std::size_t i = 0; i < in[slot].runs.size(); ++i) {
      passing.resize(static_cast<std::size_t>(in[slot].runs[i].bytes()));
      grid::pack(opposite.out[slot].runs[i], Pack::rows, passing.data());
      grid::unpack(in[slot].runs[i], Pack::rows, passing.data());
    }
  }
};

std::size_t slot_of(const Task& task) {
  return static_cast<std::size_t>(task.step & 1);
}

std::string error_in(const TaskedHalo& halo) {
  if (halo.first_tag < 0 || halo.first_tag > graph::tag_max - 5)
    return text_of("first_tag is %d; it must be from 0 to %d", halo.first_tag, graph::tag_max - 5);
  // The messenger does not provide the number of ranks.
  std::string text = error_in(halo.problem, halo.cut, halo.cut.rank_count());
  if (!text.empty() || halo.rank >= halo.cut.rank_count()) return text;
  const Extents cells = block_of(halo.problem, halo.cut, halo.rank).extents();
  text = error_in(halo.problem, cells, halo.fields);
  if (!text.empty() || halo.fields_of_odd_steps.empty()) return text;
  return error_in(halo.problem, cells, halo.fields_of_odd_steps);
}

}  // namespace

/// The sides of one dimension: both exchange messages, or both are the block's own.
struct HaloTasks::Sides {
  int rank = 0;
  int first_tag = 0;
  /// Shared by the tasks' bodies.
  std::shared_ptr<std::vector<TaskedSide>> all = std::make_shared<std::vector<TaskedSide>>();

  [[nodiscard]] Space space() const { return {static_cast<graph::Index>(all->size())}; }

  [[nodiscard]] bool are_own() const { return all->front().side.neighbour == rank; }

  // Whether the faces are sent in place, without packing. The faces of a dimension, sent or filled,
  // all have the same shape.
  [[nodiscard]] bool need_no_buffer() const { return all->front().needs_no_buffer(); }
};

Result<HaloTasks> HaloTasks::add(Graph& graph, const TaskedHalo& halo) {
  if (std::string text = error_in(halo); !text.empty()) return Error{std::move(text)};
  HaloTasks tasks;
  if (halo.rank >= halo.cut.rank_count()) return tasks;
  const auto& odd = halo.fields_of_odd_steps.empty() ? halo.fields : halo.fields_of_odd_steps;
  Cut cut = halo.cut;
  // A dimension without messages sends no ghosts along.
  for (std::size_t d = 0; d < cut.grid.size(); ++d)
    if (cut.grid[d] == 1) cut.pack[d] = Pack::rows;
  const std::vector<Side> sides = sides_of(halo.problem, cut, halo.rank);
  for (std::size_t d = 0; d < dimension_count_max; ++d) {
    Sides of_dimension{.rank = halo.rank, .first_tag = halo.first_tag};
    for (const Side& side : sides) {
      if (side.dimension != d) continue;
      const auto payloads = [&](const Box<3>& box) {
        return std::array{Payload(halo.fields, box, halo.problem.order),
                          Payload(odd, box, halo.problem.order)};
      };
      of_dimension.all->push_back({side, payloads(side.sent), payloads(side.ghosts)});
    }
    if (of_dimension.all->empty()) continue;
    tasks.exchanges_.push_back(
        {.dimension = static_cast<int>(d), .first = {}, .reads = {}, .fills = {}});
    const std::string name = text_of("%s %zu: ", halo.name.c_str(), d);
    if (of_dimension.are_own())
      tasks.exchange_own(graph, of_dimension, name);
    else
      tasks.exchange_messages(graph, of_dimension, name);
  }
  tasks.keep_order(halo.problem);
  return tasks;
}

void HaloTasks::exchange_own(Graph& graph, const Sides& sides, const std::string& name) {
  Family copy = graph.family(name + "copy", sides.space());
  copy.body([all = sides.all](const Task& task) {
    const auto i = static_cast<std::size_t>(task.key[0]);
    (*all)[i].copy_from((*all)[1 - i], slot_of(task));
  });
  Exchange& exchange = exchanges_.back();
  exchange.first = exchange.reads = exchange.fills = {copy};
}

void HaloTasks::exchange_messages(Graph& graph, const Sides& sides, const std::string& name) {
  Exchange& exchange = exchanges_.back();
  exchange.is_wide = sides.all->front().side.pack == Pack::direct;
  const auto side_of = [all = sides.all](const Key& key) -> TaskedSide& {
    return (*all)[static_cast<std::size_t>(key[0])];
  };
  const auto tag_of = [first = sides.first_tag](const Side& side, int end) {
    return first + tag_towards(side.dimension, end);
  };
  Family send = graph.send(name + "send", sides.space(), [=](const Key& key, int slot) {
    TaskedSide& one = side_of(key);
    return one.out[static_cast<std::size_t>(slot)].message(one.side.neighbour,
                                                           tag_of(one.side, one.side.end));
  });
  Family receive = graph.receive(name + "receive", sides.space(), [=](const Key& key, int slot) {
    TaskedSide& one = side_of(key);
    return one.in[static_cast<std::size_t>(slot)].message(one.side.neighbour,
                                                          tag_of(one.side, 1 - one.side.end));
  });
  if (sides.need_no_buffer()) {
    exchange.first = {send, receive};
    exchange.reads = {send};
    exchange.fills = {receive};
    return;
  }
  for (TaskedSide& side : *sides.all)
    side.make_buffers();
  Family pack = graph.family(name + "pack", sides.space());
  pack.body([=](const Task& task) { side_of(task.key).pack(slot_of(task)); });
  send.after(pack);
  Family unpack = graph.family(name + "unpack", sides.space());
  unpack.body([=](const Task& task) { side_of(task.key).unpack(slot_of(task)); });
  unpack.after(receive);
  exchange.first = {pack, unpack};
  exchange.reads = {pack};
  exchange.fills = {unpack};
}

/// Each of the families runs after all of `earlier`.
static void run_after(std::vector<Family>& families, const std::vector<Family>& earlier) {
  for (Family& family : families)
    for (const Family& before : earlier)
      family.after(before, everything);
}

void HaloTasks::keep_order(const Problem& problem) {
  const bool is_box = problem.stencil == Stencil::box;
  for (std::size_t i = 0; i < exchanges_.size(); ++i) {
    // Faces of a box stencil include the ghosts of the dimensions before.
    if (is_box && i > 0) run_after(exchanges_[i].first, exchanges_[i - 1].fills);
    // The receiver ignores ghosts sent at no cost, but they are read: no task may write them.
    for (const Exchange& other : exchanges_) {
      const bool is_before = other.dimension < exchanges_[i].dimension;
      const bool is_after = other.dimension > exchanges_[i].dimension && !is_box;
      if (other.is_wide && (is_before || is_after)) run_after(exchanges_[i].fills, other.reads);
    }
  }
}

void HaloTasks::fill_before(Family readers, When when) const {
  for (const Exchange& exchange : exchanges_)
    fill_before(readers, exchange.dimension, when);
}

void HaloTasks::fill_before(Family readers, int dimension, When when) const {
  for (const Exchange& exchange : exchanges_)
    if (exchange.dimension == dimension)
      for (const Family& fill : exchange.fills)
        readers.after(fill, everything, when);
}

void HaloTasks::leave_before(Family writers, When when) const {
  for (const Exchange& exchange : exchanges_)
    for (const Family& read : exchange.reads)
      writers.after(read, everything, when);
}

void HaloTasks::start_after(const Family& writers, When when) {
  for (Exchange& exchange : exchanges_)
    for (Family& first : exchange.first)
      first.after(writers, everything, when);
}

}  // namespace sorrel::grid
