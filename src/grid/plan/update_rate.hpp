//! UpdateRate - the time in which a processor streams through cells, by the size of the data.
//!
//! Pure. Interpolates between the measured sizes of a machine, linearly in the logarithm of the
//! size, so that no cut gains by being a byte below the size of a cache. Layer conditions: Rivera,
//! Tseng, "Tiling optimizations for 3D scientific computations", 2000.
#pragma once

#include <cstdint>
#include <vector>

#include <sorrel/grid/machine.hpp>

namespace sorrel::grid {

/// A function of a size, given at some points, and constant beyond the first and the last.
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

  /// Seconds to stream one byte of a set of this size.
  [[nodiscard]] double seconds_per_byte(std::int64_t set_bytes) const;

  /// Factor on the time of cells whose neighbours lie in planes of this size.
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
