//! accesses - from what sweeps read and write to which tiles come before which, and what ranks must
//! exchange.
//!
//! Pure. Sweeps have the order in which they were said, in every step. A field is a name for a
//! buffer; the fields of a rotation change buffers after each step: the first gets the second's,
//! the last one the first's. Two accesses to one buffer of which one writes keep their order,
//! within a step and from one to the next; the step before the last is done before a step begins
//! anyhow.
#pragma once

#include <string>
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

/// Which tiles of another sweep a tile comes after.
enum class Reach { none, same, star, box };

struct SweepEdge {
  int from = 0;
  int to = 0;
  bool crosses_step = false;
  Reach reach = Reach::none;
};

/// A sweep that comes before or after an exchange.
struct SweepAt {
  int sweep = 0;
  bool crosses_step = false;
};

/// Ghosts of `field` that are filled after `writer`.
struct Exchange {
  int writer = 0;
  int field = 0;
  Footprint footprint;
  /// They read the ghosts once these are filled; in the step after, if `crosses_step`.
  std::vector<SweepAt> readers;
  /// They read what the ghosts hold before; in the step before, if `crosses_step`.
  std::vector<SweepAt> earlier_readers;
  /// They write what is sent once it is packed.
  std::vector<SweepAt> later_writers;
};

struct Derived {
  std::vector<SweepEdge> edges;
  std::vector<Exchange> exchanges;
};

class Buffers {
 public:
  Buffers(int field_count, const std::vector<std::vector<int>>& rotations);

  /// Whether `field` has the buffer that `earlier` had so many steps (0 or 1) before.
  [[nodiscard]] bool are_same(int field, int earlier, int steps) const;

 private:
  struct Place {
    int rotation = 0;
    int place = 0;
    int size = 1;
  };

  std::vector<Place> places_;
};

[[nodiscard]] Derived derive(const std::vector<Accesses>& sweeps, const Buffers& buffers);

/// What no order of tiles can make right: a sweep that reads around a cell what it writes. The
/// number of the field, or -1.
[[nodiscard]] int field_in_own_way(const Accesses& sweep);

}  // namespace sorrel::graph
