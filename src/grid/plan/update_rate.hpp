//! UpdateRate - how fast a processor streams through cells, by what it works on.
//!
//! Pure. What a machine has measured at some sizes, and between them by interpolation: linear in
//! the logarithm of the size, so that no cut gains by being a byte below the size of a cache. Layer
//! conditions: Rivera, Tseng, "Tiling optimizations for 3D scientific computations", 2000.
#pragma once

#include <cstdint>
#include <vector>

#include <sorrel/grid/machine.hpp>

namespace sorrel::grid {

/// A function of a size, given at some. Beyond its ends it is what it is there.
class Curve {
 public:
  void add(double size, double value);

  [[nodiscard]] double at(double size) const;

 private:
  struct Point {
    double size;
    double value;
  };

  std::vector<Point> points_;  ///< in ascending size
};

class UpdateRate {
 public:
  explicit UpdateRate(const Machine& machine);

  /// Seconds in which a byte of a set of so many bytes is streamed.
  [[nodiscard]] double seconds_per_byte(std::int64_t set_bytes) const;

  /// How much longer cells take when their neighbours lie in planes of so many bytes.
  [[nodiscard]] double plane_slowdown(std::int64_t plane_bytes, std::int64_t set_bytes) const;

 private:
  struct PlanesOfSet {
    std::int64_t set_bytes;
    Curve slowdown;
  };

  Curve memory_;
  std::vector<PlanesOfSet> planes_;
};

}  // namespace sorrel::grid
