//! The tetrahedron of constant strain, and its material.
//!
//! Shape functions are linear, so their gradients, the strain and the stress are constant in an
//! element (Zienkiewicz & Taylor, The Finite Element Method, "tetrahedral elements"). Strains are
//! small. Masses are lumped: a quarter of the element's at each node.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "mesh.hpp"

namespace fem {

/// xx, yy, zz, xy, yz, zx; tensor components, also of strains.
using Symmetric = std::array<double, 6>;

struct Material {
  double young = 210e9;         ///< Pa
  double poisson = 0.3;         ///< from 0, below 0.5
  double density = 7850;        ///< kg/m^3
  double softening = 0;         ///< of the iterated law; 0: linear
  double yield_stress = 250e6;  ///< Pa, its unit of stress

  double shear() const { return young / (2 * (1 + poisson)); }

  double lambda() const { return young * poisson / ((1 + poisson) * (1 - 2 * poisson)); }
};

struct Element {
  std::array<std::int32_t, 4> nodes;  ///< local numbers
  std::array<Vector, 3>
      gradients;  ///< of shape functions 1 to 3, 1/m; that of 0 is minus their sum
  double volume;  ///< m^3
};

Element make_element(const std::array<std::int32_t, 4>& nodes,
                     const std::array<Vector, 4>& corners);

/// A bound of the stable time step of central differences, in s: below 2 over the element's
/// highest frequency. The least of all elements holds for the mesh (Irons & Treharne 1971).
double stable_step(const Element& element, const Material& material);

inline Symmetric strain_of(const Element& element, const Vector* u) {
  const auto& n = element.nodes;
  double h[3][3];  // gradient of the displacement
  for (int i = 0; i < 3; ++i) {
    const double u0 = u[n[0]][i];
    const double a = u[n[1]][i] - u0, b = u[n[2]][i] - u0, c = u[n[3]][i] - u0;
    for (int j = 0; j < 3; ++j)
      h[i][j] =
          a * element.gradients[0][j] + b * element.gradients[1][j] + c * element.gradients[2][j];
  }
  return {h[0][0],
          h[1][1],
          h[2][2],
          0.5 * (h[0][1] + h[1][0]),
          0.5 * (h[1][2] + h[2][1]),
          0.5 * (h[2][0] + h[0][2])};
}

/// Hooke's law.
inline Symmetric stress_of(const Symmetric& strain, double lambda, double shear) {
  const double pressure = lambda * (strain[0] + strain[1] + strain[2]);
  Symmetric stress;
  for (int i = 0; i < 6; ++i)
    stress[i] = 2 * shear * strain[i] + (i < 3 ? pressure : 0);
  return stress;
}

/// The law of Ramberg and Osgood (1943) with exponent 3, as an elastic law of finite stress:
/// equivalent stress q, with q (1 + softening (q / yield_stress)^2) = 3 G (equivalent strain),
/// found by `iterations` steps of Newton's method. With softening 0 it is Hooke's law, at the same
/// cost.
Symmetric iterated_stress_of(const Symmetric& strain, const Material& material, int iterations);

/// Adds B^T sigma V, the forces by which the element resists, in N.
inline void add_forces(const Element& element, const Symmetric& stress, Vector* forces) {
  const auto& n = element.nodes;
  const double s[3][3] = {{stress[0], stress[3], stress[5]},
                          {stress[3], stress[1], stress[4]},
                          {stress[5], stress[4], stress[2]}};
  for (int i = 0; i < 3; ++i) {
    double sum = 0;
    for (int a = 0; a < 3; ++a) {
      const Vector& g = element.gradients[a];
      const double force = element.volume * (s[i][0] * g[0] + s[i][1] * g[1] + s[i][2] * g[2]);
      forces[n[a + 1]][i] += force;
      sum += force;
    }
    forces[n[0]][i] -= sum;
  }
}

inline double von_mises_of(const Symmetric& s) {
  const double xy = s[0] - s[1], yz = s[1] - s[2], zx = s[2] - s[0];
  return std::sqrt(0.5 * (xy * xy + yz * yz + zx * zx) +
                   3 * (s[3] * s[3] + s[4] * s[4] + s[5] * s[5]));
}

}  // namespace fem
