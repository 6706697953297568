//! A body as tetrahedra of four nodes, whole, on one rank.
//!
//! Lengths are metres. Nodes and elements are numbered from 0 in the order of the file or the
//! generator. Every element's volume is positive. Errors are exceptions of type Error, whose text
//! is one line.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace fem {

using Vector = std::array<double, 3>;

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Mesh {
  std::vector<Vector> nodes;
  std::vector<std::array<std::int32_t, 4>> elements;

  /// Node coordinates of least and greatest value.
  Vector low() const;
  Vector high() const;
  Vector centre(std::size_t element) const;
};

/// A triangle of the surface; seen from outside, its nodes go counterclockwise.
struct Face {
  std::array<std::int32_t, 3> nodes;
  std::int32_t element;
};

/// The faces that belong to one element. Throws if more than two elements share one.
std::vector<Face> surface_of(const Mesh& mesh);

/// Twice the area vector of a face, outwards.
Vector doubled_area(const Mesh& mesh, const Face& face);

/// A box [0, size] of cells[0] x cells[1] x cells[2] boxes of six tetrahedra each (Kuhn's
/// division, which matches between neighbouring cells). Inner nodes are displaced by up to
/// `irregularity` of a cell's edge, at most 0.2, the same ones in each run.
Mesh make_box(const Vector& size, const std::array<int, 3>& cells, double irregularity);

/// Reads a file of gmsh, format 4.1, text or binary. Points, lines and triangles are skipped.
Mesh read_gmsh(const std::string& path);

/// Turns elements of negative volume round and drops nodes that no element uses. Throws if there is
/// no element, or one without volume.
void put_right(Mesh& mesh);

}  // namespace fem
