//! accesses - derives from declared reads and writes which tiles depend on which, and what ranks
//! must exchange.
//!
//! Pure. In every step, sweeps have the order of their declaration. A field is a name for a buffer;
//! the fields of a rotation change buffers after each step: the first gets the second's, the last
//! one the first's. Two accesses to one buffer, of which one writes, keep their order, within a
//! step and from one to the next. The step before the last is always done before a step begins.
//! Ghosts are filled once for each write that a later sweep reads around its cells, however many
//! steps later. src/graph/README.md has the rule and its proof.
#pragma once

#include <optional>
#include <vector>

#include <sorrel/graph/tiling.hpp>

namespace sorrel::graph {

struct Access {
  int field = 0;
  bool writes = false;
  Footprint footprint;
};

/// What one sweep declares.
using Accesses = std::vector<Access>;

/// The tiles of another sweep that a tile depends on.
enum class Reach { none, same, star, box };

struct SweepEdge {
  int from = 0;
  int to = 0;
  bool crosses_step = false;
  Reach reach = Reach::none;
};

/// A sweep before or after an exchange.
struct SweepAt {
  int sweep = 0;
  bool crosses_step = false;
  /// A reader: whether it reads diagonally, and so the ghosts beside its neighbours along a side.
  bool is_box = false;
};

/// Ghosts of `field` that are filled after `writer`, the last sweep that writes the buffer before
/// some sweep reads around its cells.
struct Exchange {
  int writer = 0;
  int field = 0;
  Footprint footprint;
  /// Sweeps that read the ghosts once these are filled; in the step after, if `crosses_step`. Those
  /// of later steps have no edge: the step of the exchange is done before these begin.
  std::vector<SweepAt> readers;
  /// Sweeps that read the old contents of the ghosts; in the step before, if `crosses_step`.
  std::vector<SweepAt> earlier_readers;
  /// Sweeps that overwrite sent cells once these are packed.
  std::vector<SweepAt> later_writers;
};

struct Derived {
  std::vector<SweepEdge> edges;
  std::vector<Exchange> exchanges;
};

class Buffers {
 public:
  Buffers(int field_count, std::vector<std::vector<int>> rotations);

  /// Whether `field` has the buffer that `earlier` had `steps` (0 or 1) before.
  [[nodiscard]] bool are_same(int field, int earlier, int steps) const;

  [[nodiscard]] int field_count() const { return static_cast<int>(slots_.size()); }

  /// The number of steps after which `field` has the same buffer again.
  [[nodiscard]] int period(int field) const { return slots_[static_cast<std::size_t>(field)].size; }

  /// The field that has in step 0 the buffer that `field` has in `step`.
  [[nodiscard]] int first_name(int field, Index step) const;

  /// The number of steps, at least `least` (0 or 1), since `earlier` had the buffer that `field`
  /// has; at most the length of the rotation. None if it never had it.
  [[nodiscard]] std::optional<int> steps_since(int field, int earlier, int least) const;

 private:
  struct Slot {
    int rotation = 0;
    int index = 0;
    int size = 1;
  };

  std::vector<Slot> slots_;
  std::vector<std::vector<int>> rotations_;
};

/// The write whose values an access finds.
struct LastWrite {
  /// -1: the graph does not write the buffer.
  int sweep = -1;
  int field = 0;
  /// How many steps before the access; 0: in its step.
  int steps = 0;
};

/// The last write to the buffer of `field` before the sweep `reader` of the same step.
[[nodiscard]] LastWrite last_write_before(const std::vector<Accesses>& sweeps,
                                          const Buffers& buffers,
                                          int reader,
                                          int field);

[[nodiscard]] Derived derive(const std::vector<Accesses>& sweeps, const Buffers& buffers);

/// A field that a sweep both writes and reads around its cells, which no order of tiles makes
/// right. Returns its number, or -1.
[[nodiscard]] int field_in_own_way(const Accesses& sweep);

}  // namespace sorrel::graph
