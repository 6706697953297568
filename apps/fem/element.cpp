#include "element.hpp"

namespace fem {

Element make_element(const std::array<std::int32_t, 4>& nodes,
                     const std::array<Vector, 4>& corners) {
  double e[3][3];  // edges from corner 0
  for (int a = 0; a < 3; ++a) {
    for (int d = 0; d < 3; ++d)
      e[a][d] = corners[a + 1][d] - corners[0][d];
  }
  Element element{nodes, {}, 0};
  // The gradients are the columns of the inverse of the matrix of edges.
  for (int a = 0; a < 3; ++a) {
    const double *p = e[(a + 1) % 3], *q = e[(a + 2) % 3];
    element.gradients[a] = {p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2],
                            p[0] * q[1] - p[1] * q[0]};
  }
  const Vector& g = element.gradients[0];
  const double determinant = e[0][0] * g[0] + e[0][1] * g[1] + e[0][2] * g[2];
  for (Vector& gradient : element.gradients) {
    for (double& component : gradient)
      component /= determinant;
  }
  element.volume = determinant / 6;
  return element;
}

double stable_step(const Element& element, const Material& material) {
  // With lumped masses rho V / 4 the square of the highest frequency is at most
  // 4 (3 lambda + 2 G) / rho times the sum of the squares of the gradients, as 3 lambda + 2 G is
  // the greatest factor between the square of a displacement's gradient and its energy.
  double sum = 0;
  for (int d = 0; d < 3; ++d) {
    double first = 0;
    for (const Vector& g : element.gradients) {
      sum += g[d] * g[d];
      first += g[d];
    }
    sum += first * first;
  }
  return 1 / std::sqrt((3 * material.lambda() + 2 * material.shear()) / material.density * sum);
}

Symmetric iterated_stress_of(const Symmetric& strain, const Material& material, int iterations) {
  const double shear = material.shear();
  const double mean = (strain[0] + strain[1] + strain[2]) / 3;
  Symmetric deviator = strain;
  for (int i = 0; i < 3; ++i)
    deviator[i] -= mean;
  double square = 0;
  for (int i = 0; i < 6; ++i)
    square += (i < 3 ? 1 : 2) * deviator[i] * deviator[i];
  const double trial = 3 * shear * std::sqrt(square * 2 / 3);
  const double a = material.softening / (material.yield_stress * material.yield_stress);
  double q = trial;
  for (int i = 0; i < iterations; ++i)
    q -= (q * (1 + a * q * q) - trial) / (1 + 3 * a * q * q);
  const double ratio = trial > 0 ? q / trial : 1;
  const double pressure = (3 * material.lambda() + 2 * shear) * mean;
  Symmetric stress;
  for (int i = 0; i < 6; ++i)
    stress[i] = 2 * shear * ratio * deviator[i] + (i < 3 ? pressure : 0);
  return stress;
}

}  // namespace fem
