#include "graph/dag/accesses.hpp"

#include <algorithm>
#include <cstddef>

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
      for (const Access& access : of(writer))
        if (access.writes) add_exchange(writer, access.field);
    return result_;
  }

 private:
  [[nodiscard]] const Accesses& of(int sweep) const {
    return sweeps_[static_cast<std::size_t>(sweep)];
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
    for (int sweep = 0; sweep < static_cast<int>(sweeps_.size()); ++sweep) {
      for (const Access& access : of(sweep)) {
        const bool is_same_now = buffers_.are_same(field, access.field, 0);
        const bool is_same_next = buffers_.are_same(access.field, field, 1);
        const bool was_same = buffers_.are_same(field, access.field, 1);
        const bool reads_ghosts = !access.writes && access.footprint.radius > 0;
        if (reads_ghosts && ((is_same_now && sweep > writer) || is_same_next)) {
          Footprint& all = exchange.footprint;
          all = {std::max(all.radius, access.footprint.radius),
                 all.is_box || access.footprint.is_box};
        }
        if (reads_ghosts && is_same_now) {
          if (sweep > writer) exchange.readers.push_back({sweep, false});
          if (sweep <= writer) exchange.earlier_readers.push_back({sweep, false});
        }
        if (reads_ghosts && is_same_next) exchange.readers.push_back({sweep, true});
        if (reads_ghosts && was_same) exchange.earlier_readers.push_back({sweep, true});
        if (access.writes && is_same_now && sweep > writer)
          exchange.later_writers.push_back({sweep, false});
        if (access.writes && is_same_next) exchange.later_writers.push_back({sweep, true});
      }
    }
    if (!exchange.readers.empty()) result_.exchanges.push_back(exchange);
  }

  const std::vector<Accesses>& sweeps_;
  const Buffers& buffers_;
  Derived result_;
};

}  // namespace

Buffers::Buffers(int field_count, const std::vector<std::vector<int>>& rotations) {
  for (int field = 0; field < field_count; ++field)
    slots_.push_back({-1 - field, 0, 1});
  for (std::size_t r = 0; r < rotations.size(); ++r)
    for (std::size_t i = 0; i < rotations[r].size(); ++i)
      slots_[static_cast<std::size_t>(rotations[r][i])] = {static_cast<int>(r), static_cast<int>(i),
                                                           static_cast<int>(rotations[r].size())};
}

bool Buffers::are_same(int field, int earlier, int steps) const {
  const Slot& one = slots_[static_cast<std::size_t>(field)];
  const Slot& other = slots_[static_cast<std::size_t>(earlier)];
  return one.rotation == other.rotation && (one.index + steps) % one.size == other.index;
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
