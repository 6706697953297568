#include "mesh.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace fem {

namespace {

double six_volumes(const Mesh& mesh, const std::array<std::int32_t, 4>& element) {
  const auto edge = [&](int to) {
    const Vector &a = mesh.nodes[element[0]], &b = mesh.nodes[element[to]];
    return Vector{b[0] - a[0], b[1] - a[1], b[2] - a[2]};
  };
  const Vector p = edge(1), q = edge(2), r = edge(3);
  return p[0] * (q[1] * r[2] - q[2] * r[1]) + p[1] * (q[2] * r[0] - q[0] * r[2]) +
         p[2] * (q[0] * r[1] - q[1] * r[0]);
}

Vector extreme(const Mesh& mesh, bool is_high) {
  Vector found = mesh.nodes.front();
  for (const Vector& x : mesh.nodes) {
    for (int d = 0; d < 3; ++d)
      found[d] = is_high ? std::max(found[d], x[d]) : std::min(found[d], x[d]);
  }
  return found;
}

/// A number from -1 to 1 that depends on its arguments alone.
double noise(std::uint64_t node, std::uint64_t dimension) {
  std::uint64_t x = (node * 3 + dimension + 1) * 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;  // the finalizer of SplitMix64 (Steele et al. 2014)
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  x ^= x >> 31;
  return static_cast<double>(x >> 11) * 0x1p-52 - 1;
}

}  // namespace

Vector Mesh::low() const {
  return extreme(*this, false);
}

Vector Mesh::high() const {
  return extreme(*this, true);
}

Vector Mesh::centre(std::size_t element) const {
  Vector sum{};
  for (const std::int32_t node : elements[element]) {
    for (int d = 0; d < 3; ++d)
      sum[d] += nodes[node][d] / 4;
  }
  return sum;
}

std::vector<Face> surface_of(const Mesh& mesh) {
  // The face opposite to each node, outwards for an element of positive volume.
  constexpr int faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

  struct Side {
    std::array<std::int32_t, 3> key;
    Face face;
  };

  std::vector<Side> sides;
  sides.reserve(mesh.elements.size() * 4);
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    const auto& element = mesh.elements[e];
    for (const auto& f : faces) {
      const Face face{{element[f[0]], element[f[1]], element[f[2]]}, static_cast<std::int32_t>(e)};
      auto key = face.nodes;
      std::sort(key.begin(), key.end());
      sides.push_back({key, face});
    }
  }
  std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
    return std::pair(a.key, a.face.element) < std::pair(b.key, b.face.element);
  });
  std::vector<Face> surface;
  for (std::size_t i = 0, end = 0; i < sides.size(); i = end) {
    for (end = i + 1; end < sides.size() && sides[end].key == sides[i].key;)
      ++end;
    if (end - i > 2) throw Error("mesh: more than two elements share a face");
    if (end - i == 1) surface.push_back(sides[i].face);
  }
  return surface;
}

Vector doubled_area(const Mesh& mesh, const Face& face) {
  const Vector &a = mesh.nodes[face.nodes[0]], &b = mesh.nodes[face.nodes[1]],
               &c = mesh.nodes[face.nodes[2]];
  const Vector p{b[0] - a[0], b[1] - a[1], b[2] - a[2]}, q{c[0] - a[0], c[1] - a[1], c[2] - a[2]};
  return {p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]};
}

Mesh make_box(const Vector& size, const std::array<int, 3>& cells, double irregularity) {
  Mesh mesh;
  const auto node_at = [&](int i, int j, int k) {
    return (k * (cells[1] + 1) + j) * (cells[0] + 1) + i;
  };
  for (int k = 0; k <= cells[2]; ++k) {
    for (int j = 0; j <= cells[1]; ++j) {
      for (int i = 0; i <= cells[0]; ++i) {
        const std::array<int, 3> at{i, j, k};
        const bool is_inner =
            i > 0 && j > 0 && k > 0 && i < cells[0] && j < cells[1] && k < cells[2];
        Vector x;
        for (int d = 0; d < 3; ++d) {
          const double shift = is_inner ? irregularity * noise(mesh.nodes.size(), d) : 0;
          x[d] = size[d] * (at[d] + shift) / cells[d];
        }
        mesh.nodes.push_back(x);
      }
    }
  }
  // Six paths from corner 000 to corner 111, one for each order of the dimensions.
  constexpr int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (int k = 0; k < cells[2]; ++k) {
    for (int j = 0; j < cells[1]; ++j) {
      for (int i = 0; i < cells[0]; ++i) {
        for (const auto& order : orders) {
          std::array<int, 3> corner{i, j, k};
          std::array<std::int32_t, 4> element{node_at(i, j, k), 0, 0, 0};
          for (int step = 0; step < 3; ++step) {
            ++corner[order[step]];
            element[step + 1] = node_at(corner[0], corner[1], corner[2]);
          }
          mesh.elements.push_back(element);
        }
      }
    }
  }
  put_right(mesh);
  return mesh;
}

void put_right(Mesh& mesh) {
  if (mesh.elements.empty()) throw Error("mesh: no tetrahedra");
  std::vector<std::int32_t> name(mesh.nodes.size(), -1);
  for (const auto& element : mesh.elements) {
    for (const std::int32_t node : element)
      name[node] = 0;
  }
  std::int32_t used = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] < 0) continue;
    mesh.nodes[used] = mesh.nodes[i];
    name[i] = used++;
  }
  mesh.nodes.resize(used);
  const Vector low = mesh.low(), high = mesh.high();
  const double extent = std::max({high[0] - low[0], high[1] - low[1], high[2] - low[2]});
  if (!std::isfinite(extent)) throw Error("mesh: a coordinate is not a number");
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    auto& element = mesh.elements[e];
    for (std::int32_t& node : element)
      node = name[node];
    const double volume = six_volumes(mesh, element);
    if (!(std::abs(volume) > 1e-18 * extent * extent * extent))
      throw Error("mesh: tetrahedron " + std::to_string(e + 1) + " has no volume");
    if (volume < 0) std::swap(element[2], element[3]);
  }
}

}  // namespace fem
