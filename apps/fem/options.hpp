//! The command line.
#pragma once

#include <array>
#include <string>

#include "body.hpp"
#include "chunk.hpp"
#include "cut.hpp"
#include "element.hpp"

namespace fem {

enum class Case {
  pull,   ///< any body, held at its least x, pulled at its greatest
  bar,    ///< a straight bar on planes of symmetry, pulled: the answer is known
  patch,  ///< any body, its surface displaced linearly: the answer is known
};

enum class Method { steps, equilibrium };

struct Options {
  std::string mesh;  ///< a file; empty: a box
  std::array<int, 3> cells{40, 10, 10};
  Vector size{0.4, 0.1, 0.1};  ///< m
  double irregularity = 0.2;
  Case problem = Case::pull;
  Method method = Method::steps;
  int steps = 200;
  int energy_every = 0;  ///< 0: a tenth of the steps
  Material material;
  double traction = 1e8;  ///< Pa
  Zone zone;
  CutMethod cut = CutMethod::metis;
  Order order = Order::near;
  std::string vtu, picture;  ///< files to write
  bool is_csv = false;
  bool is_help = false;
};

extern const char* const help;

/// Throws Error with a line for the user.
Options read_options(int argc, char** argv);

}  // namespace fem
