#include "problem.hpp"

#include <algorithm>
#include <cmath>

namespace fem {

namespace {

constexpr std::uint8_t all_fixed = 7;

}  // namespace

Supports supports_of(const Mesh& mesh, const Options& options) {
  Supports supports{std::vector<std::uint8_t>(mesh.nodes.size()),
                    std::vector<Vector>(mesh.nodes.size(), Vector{})};
  const std::vector<Face> surface = surface_of(mesh);
  if (options.problem == Case::patch) {
    for (const Face& face : surface) {
      for (const std::int32_t node : face.nodes)
        supports.fixed[node] = all_fixed;
    }
    return supports;
  }
  const Vector low = mesh.low(), high = mesh.high();
  const double tolerance = 1e-9 * (high[0] - low[0]);
  for (std::size_t i = 0; i < mesh.nodes.size(); ++i) {
    for (int d = 0; d < 3; ++d) {
      if (mesh.nodes[i][d] > low[d] + tolerance) continue;
      if (options.problem == Case::bar)
        supports.fixed[i] |= static_cast<std::uint8_t>(1 << d);
      else if (d == 0)
        supports.fixed[i] = all_fixed;
    }
  }
  bool has_end = false;
  for (const Face& face : surface) {
    const auto is_end = [&](std::int32_t node) {
      return mesh.nodes[node][0] >= high[0] - tolerance;
    };
    if (!std::all_of(face.nodes.begin(), face.nodes.end(), is_end)) continue;
    has_end = true;
    const double force = options.traction * doubled_area(mesh, face)[0] / 6;
    for (const std::int32_t node : face.nodes)
      supports.loads[node][0] += force;
  }
  if (!has_end) throw Error("mesh: no flat end at its greatest x, which the load needs");
  return supports;
}

Vector patch_displacement(const Vector& x) {
  return {1e-3 * x[0] + 4e-4 * x[1] - 2e-4 * x[2] + 1e-5, -3e-4 * x[0] + 5e-4 * x[1] + 7e-4 * x[2],
          2e-4 * x[0] - 6e-4 * x[1] - 8e-4 * x[2] - 2e-5};
}

std::vector<Vector> start_of(const Chunk& chunk, const Options& options) {
  std::vector<Vector> u(chunk.x.size(), Vector{});
  if (options.problem != Case::patch) return u;
  if (options.method == Method::steps) {
    std::transform(chunk.x.begin(), chunk.x.end(), u.begin(), patch_displacement);
    return u;
  }
  for (const Chunk::Support& support : chunk.supports) {
    if (support.fixed != 0) u[support.node] = patch_displacement(chunk.x[support.node]);
  }
  return u;
}

double mean_elongation(const Chunk& chunk, const std::vector<Vector>& u) {
  double sums[2] = {};
  for (const Chunk::Support& support : chunk.supports) {
    if (support.load == Vector{} || !chunk.is_counted[support.node]) continue;
    sums[0] += u[support.node][0];
    ++sums[1];
  }
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sums[1] > 0 ? sums[0] / sums[1] : 0;
}

Check check(const Chunk& chunk,
            const std::vector<Vector>& u,
            const Vector& low,
            const Options& options) {
  const bool is_patch = options.problem == Case::patch;
  const bool is_bar = options.problem == Case::bar && options.method == Method::equilibrium;
  if (!is_patch && !is_bar) return {};
  const double strain = options.traction / options.material.young;
  double errors[2] = {};  // the greatest difference and the greatest displacement
  for (std::size_t i = 0; i < u.size(); ++i) {
    const Vector& x = chunk.x[i];
    const double across = -options.material.poisson * strain;
    const Vector answer = is_patch ? patch_displacement(x)
                                   : Vector{strain * (x[0] - low[0]), across * (x[1] - low[1]),
                                            across * (x[2] - low[2])};
    for (int d = 0; d < 3; ++d) {
      // A value that is not a number counts as an error.
      const double error = std::abs(u[i][d] - answer[d]);
      errors[0] = error <= errors[0] ? errors[0] : (error >= 0 ? error : 1e300);
      errors[1] = std::max(errors[1], std::abs(answer[d]));
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, errors, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return {is_patch ? "displacements of the patch test" : "displacements of the bar",
          errors[1] > 0 ? errors[0] / errors[1] : errors[0], 1e-9};
}

}  // namespace fem
