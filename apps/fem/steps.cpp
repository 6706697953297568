#include "steps.hpp"

namespace fem {

Steps::Steps(Body& body, std::vector<Vector> u, double dt)
    : body_(body), u_(std::move(u)), v_(u_.size(), Vector{}), f_(u_.size(), Vector{}), dt_(dt) {}

void Steps::move() {
  const double start = MPI_Wtime();
  for (const Chunk::Support& support : body_.chunk().supports) {
    for (int d = 0; d < 3; ++d) {
      double& force = f_[support.node][d];
      force = (support.fixed >> d & 1) != 0 ? 0 : force - support.load[d];
    }
  }
  const double* inverse_masses = body_.inverse_masses().data();
  Vector *u = u_.data(), *v = v_.data(), *f = f_.data();
  for (std::size_t i = 0, count = u_.size(); i < count; ++i) {
    const double factor = dt_ * inverse_masses[i];
    for (int d = 0; d < 3; ++d) {
      v[i][d] -= factor * f[i][d];
      u[i][d] += dt_ * v[i][d];
      f[i][d] = 0;
    }
  }
  ++count_;
  body_.work_seconds += MPI_Wtime() - start;
}

void Steps::step() {
  body_.add_forces(u_, count_, f_);
  move();
}

Energy Steps::step_with_energy() {
  body_.add_forces(u_, count_, f_);
  const std::vector<Vector> forces = f_;
  std::vector<Vector> u = u_;
  move();
  Energy energy;
  energy.strain = body_.chunk().dot(u_, forces) / 2;
  // The middle of the step, for the loads; then M v, for the velocities.
  std::vector<Vector> loads(u.size(), Vector{});
  for (const Chunk::Support& support : body_.chunk().supports)
    loads[support.node] = support.load;
  for (std::size_t i = 0; i < u.size(); ++i) {
    for (int d = 0; d < 3; ++d)
      u[i][d] = (u[i][d] + u_[i][d]) / 2;
  }
  energy.work = body_.chunk().dot(loads, u);
  for (std::size_t i = 0; i < u.size(); ++i) {
    for (int d = 0; d < 3; ++d)
      u[i][d] = v_[i][d] / body_.inverse_masses()[i];
  }
  energy.kinetic = body_.chunk().dot(u, v_) / 2;
  return energy;
}

}  // namespace fem
