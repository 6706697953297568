#include "picture.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <numeric>

namespace fem {

namespace {

constexpr double picture_width = 1000;
constexpr double margin = 30;

/// Von Mises' stress of each element of the mesh on rank 0, Pa.
std::vector<double> gather(const Chunk& chunk,
                           const std::vector<Symmetric>& stresses,
                           MPI_Comm comm) {
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int count = static_cast<int>(stresses.size());
  std::vector<int> counts(size), starts(size);
  MPI_Gather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, comm);
  std::exclusive_scan(counts.begin(), counts.end(), starts.begin(), 0);
  const int total = rank == 0 ? starts.back() + counts.back() : 0;
  std::vector<double> mine(count), values(total), by_element(total);
  std::transform(stresses.begin(), stresses.end(), mine.begin(), von_mises_of);
  std::vector<std::int32_t> elements(total);
  MPI_Gatherv(mine.data(), count, MPI_DOUBLE, values.data(), counts.data(), starts.data(),
              MPI_DOUBLE, 0, comm);
  MPI_Gatherv(chunk.global_elements.data(), count, MPI_INT32_T, elements.data(), counts.data(),
              starts.data(), MPI_INT32_T, 0, comm);
  for (int i = 0; i < total; ++i)
    by_element[elements[i]] = values[i];
  return by_element;
}

/// Seen from the upper right front: right, up, and towards the eye.
Vector project(const Vector& x) {
  constexpr double c = 0.8660254037844386, s = 0.5;  // of 30 degrees
  const double along = c * x[0] - s * x[1], into = s * x[0] + c * x[1];
  constexpr double tilt_c = 0.6427876096865394, tilt_s = 0.766044443118978;  // of 50 degrees
  return {along, tilt_s * into + tilt_c * x[2], tilt_s * x[2] - tilt_c * into};
}

struct Colour {
  double red, green, blue;
};

/// From blue over white-yellow to red.
Colour heat(double part) {
  constexpr Colour stops[] = {
      {49, 54, 149}, {116, 173, 209}, {254, 248, 190}, {244, 109, 67}, {165, 0, 38}};
  const double at = std::clamp(part, 0.0, 1.0) * 4;
  const int i = std::min(3, static_cast<int>(at));
  const double f = at - i;
  const auto mix = [&](double a, double b) { return a + f * (b - a); };
  return {mix(stops[i].red, stops[i + 1].red), mix(stops[i].green, stops[i + 1].green),
          mix(stops[i].blue, stops[i + 1].blue)};
}

/// Hues at multiples of the golden angle, so that neighbouring numbers differ.
Colour colour_of_rank(int rank) {
  const double hue = std::fmod(rank * 0.6180339887498949, 1.0) * 6;
  const double value = rank % 2 == 0 ? 235 : 190, low = value * (rank % 3 == 0 ? 0.35 : 0.55);
  const auto channel = [&](double shift) {
    const double h = std::fmod(hue + shift, 6.0);
    return low + (value - low) * std::clamp(std::abs(h - 3) - 1, 0.0, 1.0);
  };
  return {channel(0), channel(4), channel(2)};
}

struct Drawn {
  double points[3][2];  ///< right and up, m
  double depth;         ///< towards the eye
  double shade;
  std::int32_t element;
};

std::vector<Drawn> visible(const Mesh& mesh) {
  std::vector<Drawn> found;
  for (const Face& face : surface_of(mesh)) {
    const Vector normal = project(doubled_area(mesh, face));
    const double length = std::hypot(normal[0], normal[1], normal[2]);
    if (normal[2] <= 0) continue;
    Drawn drawn{{}, 0, 0.55 + 0.45 * normal[2] / length, face.element};
    for (int i = 0; i < 3; ++i) {
      const Vector p = project(mesh.nodes[face.nodes[i]]);
      drawn.points[i][0] = p[0];
      drawn.points[i][1] = p[1];
      drawn.depth += p[2] / 3;
    }
    found.push_back(drawn);
  }
  std::sort(found.begin(), found.end(), [](const Drawn& a, const Drawn& b) {
    return std::pair(a.depth, a.element) < std::pair(b.depth, b.element);
  });
  return found;
}

bool write(const std::string& path,
           const Mesh& mesh,
           const Cut& cut,
           const std::vector<double>& stresses) {
  const std::vector<Drawn> faces = visible(mesh);
  double low[2] = {1e300, 1e300}, high[2] = {-1e300, -1e300};
  for (const Drawn& face : faces) {
    for (const auto& p : face.points) {
      for (int d = 0; d < 2; ++d) {
        low[d] = std::min(low[d], p[d]);
        high[d] = std::max(high[d], p[d]);
      }
    }
  }
  // The greatest stresses are at single corners; the scale ends where 99.5 % of the elements are.
  std::vector<double> sorted = stresses;
  const auto last = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() * 995 / 1000);
  std::nth_element(sorted.begin(), last, sorted.end());
  const double full = *last > 0 ? *last : 1;
  const double scale = (picture_width - 2 * margin) / (high[0] - low[0]);
  const double height = (high[1] - low[1]) * scale + 2 * margin;
  std::ofstream file(path);
  file << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << picture_width << "\" height=\""
       << 2 * height << "\" font-family=\"sans-serif\" font-size=\"16\">\n"
       << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  for (const bool is_cut : {false, true}) {
    for (const Drawn& face : faces) {
      Colour c =
          is_cut ? colour_of_rank(cut.rank_of[face.element]) : heat(stresses[face.element] / full);
      char line[200];
      std::string points;
      for (const auto& p : face.points) {
        std::snprintf(line, sizeof line, "%.1f,%.1f ", margin + (p[0] - low[0]) * scale,
                      (is_cut ? 2 : 1) * height - margin - (p[1] - low[1]) * scale);
        points += line;
      }
      std::snprintf(line, sizeof line, "#%02x%02x%02x", static_cast<int>(c.red * face.shade),
                    static_cast<int>(c.green * face.shade), static_cast<int>(c.blue * face.shade));
      file << "<path d=\"M" << points << "z\" fill=\"" << line << "\" stroke=\"" << line
           << "\" stroke-width=\".4\"/>\n";
    }
  }
  char text[200];
  std::snprintf(text, sizeof text, "von Mises' stress, blue 0 to red %.3g MPa", full / 1e6);
  file << "<text x=\"20\" y=\"26\">" << text << "</text>\n<text x=\"20\" y=\"" << height + 26
       << "\">chunks: " << cut.method << "</text>\n</svg>\n";
  file.close();
  return file.good();
}

}  // namespace

bool write_picture(const std::string& path,
                   const Mesh* mesh,
                   const Cut* cut,
                   const Chunk& chunk,
                   const std::vector<Symmetric>& stresses,
                   MPI_Comm comm) {
  const std::vector<double> by_element = gather(chunk, stresses, comm);
  int is_written = 1;
  if (mesh != nullptr) is_written = write(path, *mesh, *cut, by_element) ? 1 : 0;
  MPI_Bcast(&is_written, 1, MPI_INT, 0, comm);
  return is_written == 1;
}

}  // namespace fem
