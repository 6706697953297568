//! Stepper - a small stencil code: blocks, their ghosts, and the steps that a cut prescribes.
//!
//! One for each rank of a communicator; make() and step() are collective.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include <sorrel/grid/halo.hpp>

#include "grid/measure/large_pages.hpp"

namespace sorrel::grid {

/// A rank's memory, which several Steppers use one after the other: allocating large pages takes
/// longer than some steps. It contains zeros only, and so do their averages.
class StepperMemory {
 public:
  /// Memory of this many bytes for each of two states.
  [[nodiscard]] std::array<std::span<std::byte>, 2> get(std::size_t bytes, int rank);

 private:
  std::array<LargePages, 2> states_;
};

class Stepper {
 public:
  /// `memory` belongs to this rank and outlives the Stepper.
  [[nodiscard]] static Result<Stepper> make(MPI_Comm comm,
                                            const Problem& problem,
                                            const Cut& cut,
                                            StepperMemory& memory);

  /// May suspend.
  void step();

 private:
  /// All fields at one step.
  struct State {
    std::vector<ArrayView> fields;
    std::vector<Halo> halo;  ///< one; a Halo cannot be empty
  };

  Stepper() = default;

  [[nodiscard]] static Result<State> make_state(MPI_Comm comm,
                                                const Problem& problem,
                                                const Cut& cut,
                                                const Extents& room,
                                                std::span<std::byte> data);
  void set_boxes(int rank);
  void update(const Box<3>& box);

  Problem problem_;
  Cut cut_;
  State now_;
  State next_;
  Box<3> whole_;
  std::vector<Box<3>> skin_;   ///< cells that neighbours need
  std::vector<Box<3>> tiles_;  ///< the rest
};

}  // namespace sorrel::grid
