#include "body.hpp"

#include <algorithm>
#include <cmath>

namespace fem {

double Zone::middle(int step) const {
  const double phase = static_cast<double>(step % period_steps) / period_steps;
  const double there = phase < 0.5 ? 2 * phase : 2 - 2 * phase;
  const double room = (high - low) * (1 - width);
  return low + (high - low) * width / 2 + there * room;
}

Body::Body(const Chunk& chunk, const Material& material, const Zone& zone, MPI_Comm comm)
    : chunk_(chunk), material_(material), zone_(zone), seams_(chunk, comm) {
  std::vector<Vector> masses(chunk.x.size(), Vector{});
  double least = 1e300;
  for (const Element& element : chunk.elements) {
    least = std::min(least, fem::stable_step(element, material));
    for (const std::int32_t node : element.nodes)
      masses[node][0] += material.density * element.volume / 4;
  }
  seams_.begin(masses);
  seams_.wait();
  seams_.finish(masses);
  MPI_Allreduce(&least, &stable_step_, 1, MPI_DOUBLE, MPI_MIN, comm);
  for (const Vector& mass : masses)
    inverse_masses_.push_back(1 / mass[0]);
}

void Body::add_range(const std::vector<Vector>& u,
                     int step,
                     std::size_t begin,
                     std::size_t end,
                     std::vector<Vector>& f) const {
  const double lambda = material_.lambda(), shear = material_.shear();
  const Element* elements = chunk_.elements.data();
  if (!zone_.exists()) {
    for (std::size_t e = begin; e < end; ++e)
      fem::add_forces(elements[e], stress_of(strain_of(elements[e], u.data()), lambda, shear),
                      f.data());
    return;
  }
  const double middle = zone_.middle(step), half = zone_.width * (zone_.high - zone_.low) / 2;
  for (std::size_t e = begin; e < end; ++e) {
    const Symmetric strain = strain_of(elements[e], u.data());
    const bool is_costly = std::abs(chunk_.centres_x[e] - middle) <= half;
    fem::add_forces(elements[e],
                    is_costly ? iterated_stress_of(strain, material_, zone_.iterations)
                              : stress_of(strain, lambda, shear),
                    f.data());
  }
}

void Body::add_forces(const std::vector<Vector>& u, int step, std::vector<Vector>& f) {
  const double start = MPI_Wtime();
  add_range(u, step, 0, chunk_.seam_element_count, f);
  seams_.begin(f);
  add_range(u, step, chunk_.seam_element_count, chunk_.elements.size(), f);
  const double wait_start = MPI_Wtime();
  seams_.wait();
  const double wait_end = MPI_Wtime();
  seams_.finish(f);
  work_seconds += wait_start - start + MPI_Wtime() - wait_end;
}

std::vector<Symmetric> Body::stresses(const std::vector<Vector>& u, int step) const {
  const double middle = zone_.middle(step), half = zone_.width * (zone_.high - zone_.low) / 2;
  std::vector<Symmetric> found;
  for (std::size_t e = 0; e < chunk_.elements.size(); ++e) {
    const Symmetric strain = strain_of(chunk_.elements[e], u.data());
    const bool is_costly = zone_.exists() && std::abs(chunk_.centres_x[e] - middle) <= half;
    found.push_back(is_costly ? iterated_stress_of(strain, material_, zone_.iterations)
                              : stress_of(strain, material_.lambda(), material_.shear()));
  }
  return found;
}

std::vector<Vector> Body::diagonal() {
  const double lambda = material_.lambda(), shear = material_.shear();
  std::vector<Vector> found(chunk_.x.size(), Vector{});
  for (const Element& element : chunk_.elements) {
    for (int a = 0; a < 4; ++a) {
      Vector g{};
      for (int d = 0; d < 3; ++d) {
        const auto& three = element.gradients;
        g[d] = a > 0 ? three[a - 1][d] : -(three[0][d] + three[1][d] + three[2][d]);
      }
      const double square = g[0] * g[0] + g[1] * g[1] + g[2] * g[2];
      for (int d = 0; d < 3; ++d)
        found[element.nodes[a]][d] +=
            element.volume * (shear * square + (lambda + shear) * g[d] * g[d]);
    }
  }
  seams_.begin(found);
  seams_.wait();
  seams_.finish(found);
  return found;
}

}  // namespace fem
