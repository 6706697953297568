//! Stepper - a stencil code in small: blocks, their ghosts, and steps as a candidate says.
//!
//! One for each rank of a communicator; make() and step() are collective.
#pragma once

#include <vector>

#include <sorrel/grid/halo.hpp>

#include "grid/measure/large_pages.hpp"

namespace sorrel::grid {

class Stepper {
 public:
  [[nodiscard]] static Result<Stepper> make(MPI_Comm comm,
                                            const Problem& problem,
                                            const Candidate& candidate);

  /// May suspend.
  void step();

 private:
  /// All fields, at one time.
  struct State {
    LargePages data;
    std::vector<ArrayView> fields;
    std::vector<Halo> halo;  ///< one; a Halo cannot be empty
  };

  Stepper() = default;

  [[nodiscard]] static Result<State> make_state(MPI_Comm comm,
                                                const Problem& problem,
                                                const Candidate& candidate,
                                                const Extents& room,
                                                int color);
  void set_boxes(int rank);
  void update(const Box& box);

  Problem problem_;
  Candidate candidate_;
  State now_;
  State next_;
  Box whole_;
  std::vector<Box> skin_;   ///< what neighbours need
  std::vector<Box> tiles_;  ///< the rest
};

}  // namespace sorrel::grid
