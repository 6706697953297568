#include "graph/dag/accesses.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace sorrel::graph {

namespace {

Reach reach_of(const Access& one, const Access& other) {
  if (std::max(one.footprint.radius, other.footprint.radius) == 0) return Reach::same;
  return one.footprint.is_box || other.footprint.is_box ? Reach::box : Reach::star;
}

class Deriver {
 public:
  Deriver(const std::vector<Accesses>& sweeps, const Buffers& buffers)
      : sweeps_(sweeps), buffers_(buffers) {}

  Derived derive() {
    const int count = static_cast<int>(sweeps_.size());
    for (int to = 0; to < count; ++to) {
      for (int from = 0; from < to; ++from)
        add_edge(from, to, false);
      for (int from = 0; from < count; ++from)
        add_edge(from, to, true);
    }
    for (int writer = 0; writer < count; ++writer)
      for (const int field : fields_written_by(writer))
        add_exchange(writer, field);
    return result_;
  }

 private:
  [[nodiscard]] const Accesses& of(int sweep) const {
    return sweeps_[static_cast<std::size_t>(sweep)];
  }

  /// Each once, in the order of declaration.
  [[nodiscard]] std::vector<int> fields_written_by(int sweep) const {
    std::vector<int> fields;
    for (const Access& access : of(sweep))
      if (access.writes && std::find(fields.begin(), fields.end(), access.field) == fields.end())
        fields.push_back(access.field);
    return fields;
  }

  void add_edge(int from, int to, bool crosses_step) {
    Reach reach = Reach::none;
    for (const Access& earlier : of(from))
      for (const Access& later : of(to))
        if ((earlier.writes || later.writes) &&
            buffers_.are_same(later.field, earlier.field, crosses_step ? 1 : 0))
          reach = std::max(reach, reach_of(earlier, later));
    if (reach != Reach::none) result_.edges.push_back({from, to, crosses_step, reach});
  }

  void add_exchange(int writer, int field) {
    Exchange exchange;
    exchange.writer = writer;
    exchange.field = field;
    bool is_needed = false;
    for (int sweep = 0; sweep < static_cast<int>(sweeps_.size()); ++sweep) {
      for (const Access& access : of(sweep)) {
        if (access.writes) {
          add_writer(exchange, sweep, access);
        } else if (access.footprint.radius != 0) {
          is_needed |= add_reader(exchange, sweep, access);
        }
      }
    }
    if (is_needed) result_.exchanges.push_back(exchange);
  }

  void add_writer(Exchange& exchange, int sweep, const Access& access) const {
    if (sweep > exchange.writer && buffers_.are_same(exchange.field, access.field, 0))
      exchange.later_writers.push_back({sweep, false});
    if (buffers_.are_same(access.field, exchange.field, 1))
      exchange.later_writers.push_back({sweep, true});
  }

  /// An access that reads ghosts; returns whether it reads those that the exchange fills.
  bool add_reader(Exchange& exchange, int sweep, const Access& access) const {
    const bool is_box = access.footprint.is_box;
    if (sweep < exchange.writer && buffers_.are_same(exchange.field, access.field, 0))
      exchange.earlier_readers.push_back({sweep, false, is_box});
    if (buffers_.are_same(exchange.field, access.field, 1))
      exchange.earlier_readers.push_back({sweep, true, is_box});
    const LastWrite last = last_write_before(sweeps_, buffers_, sweep, access.field);
    if (last.sweep != exchange.writer || last.field != exchange.field) return false;
    Footprint& all = exchange.footprint;
    all = {std::max(all.radius, access.footprint.radius), all.is_box || is_box};
    if (last.steps <= 1) exchange.readers.push_back({sweep, last.steps == 1, is_box});
    return true;
  }

  const std::vector<Accesses>& sweeps_;
  const Buffers& buffers_;
  Derived result_;
};

}  // namespace

Buffers::Buffers(int field_count, std::vector<std::vector<int>> rotations)
    : rotations_(std::move(rotations)) {
  for (int field = 0; field < field_count; ++field)
    slots_.push_back({-1 - field, 0, 1});
  for (std::size_t r = 0; r < rotations_.size(); ++r)
    for (std::size_t i = 0; i < rotations_[r].size(); ++i)
      slots_[static_cast<std::size_t>(rotations_[r][i])] = {
          static_cast<int>(r), static_cast<int>(i), static_cast<int>(rotations_[r].size())};
}

int Buffers::first_name(int field, Index step) const {
  const Slot& slot = slots_[static_cast<std::size_t>(field)];
  if (slot.size == 1) return field;
  return rotations_[static_cast<std::size_t>(slot.rotation)]
                   [static_cast<std::size_t>((slot.index + step) % slot.size)];
}

bool Buffers::are_same(int field, int earlier, int steps) const {
  const Slot& one = slots_[static_cast<std::size_t>(field)];
  const Slot& other = slots_[static_cast<std::size_t>(earlier)];
  return one.rotation == other.rotation && (one.index + steps) % one.size == other.index;
}

std::optional<int> Buffers::steps_since(int field, int earlier, int least) const {
  const Slot& one = slots_[static_cast<std::size_t>(field)];
  const Slot& other = slots_[static_cast<std::size_t>(earlier)];
  if (one.rotation != other.rotation) return std::nullopt;
  const int steps = (other.index - one.index + one.size) % one.size;
  return steps < least ? steps + one.size : steps;
}

LastWrite last_write_before(const std::vector<Accesses>& sweeps,
                            const Buffers& buffers,
                            int reader,
                            int field) {
  LastWrite last;
  for (int sweep = 0; sweep < static_cast<int>(sweeps.size()); ++sweep) {
    for (const Access& access : sweeps[static_cast<std::size_t>(sweep)]) {
      if (!access.writes) continue;
      const std::optional<int> steps =
          buffers.steps_since(field, access.field, sweep < reader ? 0 : 1);
      // Sweeps ascend, so of one step the later one replaces the earlier one.
      if (steps && (last.sweep < 0 || *steps <= last.steps)) last = {sweep, access.field, *steps};
    }
  }
  return last;
}

Derived derive(const std::vector<Accesses>& sweeps, const Buffers& buffers) {
  return Deriver(sweeps, buffers).derive();
}

int field_in_own_way(const Accesses& sweep) {
  for (const Access& read : sweep)
    for (const Access& write : sweep)
      if (!read.writes && write.writes && read.field == write.field && read.footprint.radius > 0)
        return read.field;
  return -1;
}

}  // namespace sorrel::graph
