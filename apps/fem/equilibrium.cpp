#include "equilibrium.hpp"

#include <cmath>

namespace fem {

namespace {

void clear_fixed(const Chunk& chunk, std::vector<Vector>& values) {
  for (const Chunk::Support& support : chunk.supports) {
    for (int d = 0; d < 3; ++d) {
      if ((support.fixed >> d & 1) != 0) values[support.node][d] = 0;
    }
  }
}

/// to = a * to + b * from
void combine(double a, std::vector<Vector>& to, double b, const std::vector<Vector>& from) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    for (int d = 0; d < 3; ++d)
      to[i][d] = a * to[i][d] + b * from[i][d];
  }
}

}  // namespace

Equilibrium find_equilibrium(Body& body,
                             std::vector<Vector> u,
                             double reduction,
                             int iterations_max) {
  const Chunk& chunk = body.chunk();
  const std::vector<Vector> zeros(u.size(), Vector{});
  std::vector<Vector> r = zeros, z = zeros, q = zeros;
  body.add_forces(u, 0, q);
  for (const Chunk::Support& support : chunk.supports)
    r[support.node] = support.load;
  combine(1, r, -1, q);
  clear_fixed(chunk, r);
  const std::vector<Vector> diagonal = body.diagonal();
  const auto precondition = [&] {
    for (std::size_t i = 0; i < r.size(); ++i) {
      for (int d = 0; d < 3; ++d)
        z[i][d] = r[i][d] / diagonal[i][d];
    }
  };
  precondition();
  std::vector<Vector> p = z;
  const double start = std::sqrt(chunk.dot(r, r));
  Equilibrium found{std::move(u), 0, start > 0 ? 1.0 : 0.0};
  for (double rz = chunk.dot(r, z); found.residual > reduction; ++found.iterations) {
    if (found.iterations == iterations_max) break;
    q = zeros;
    body.add_forces(p, 0, q);
    clear_fixed(chunk, q);
    const double alpha = rz / chunk.dot(p, q);
    combine(1, found.u, alpha, p);
    combine(1, r, -alpha, q);
    precondition();
    const double next = chunk.dot(r, z);
    combine(next / rz, p, 1, z);
    rz = next;
    found.residual = std::sqrt(chunk.dot(r, r)) / start;
  }
  return found;
}

}  // namespace fem
