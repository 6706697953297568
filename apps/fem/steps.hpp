//! Explicit steps in time by central differences.
//!
//! Velocities belong to the middles of steps, displacements to their ends. For a linear body under
//! a constant load this conserves, up to rounding,
//!
//!     v(n+1/2) M v(n+1/2) / 2  +  u(n+1) K u(n) / 2  -  p (u(n) + u(n+1)) / 2
//!
//! (kinetic energy, strain energy, external work), as M (v(n+1/2) - v(n-1/2)) = dt (p - K u(n)).
#pragma once

#include <vector>

#include "body.hpp"

namespace fem {

struct Energy {  ///< J, of the whole body
  double kinetic = 0, strain = 0, work = 0;

  double total() const { return kinetic + strain - work; }
};

class Steps {
 public:
  /// Starts at rest with displacements `u`, m.
  Steps(Body& body, std::vector<Vector> u, double dt);

  /// May suspend.
  void step();

  /// A step that also returns the energy in its middle. Collective. May suspend.
  Energy step_with_energy();

  const std::vector<Vector>& displacements() const { return u_; }

  int count() const { return count_; }

 private:
  /// Velocities and displacements after the forces, which it sets to 0.
  void move();

  Body& body_;
  std::vector<Vector> u_, v_, f_;
  double dt_;
  int count_ = 0;
};

}  // namespace fem
