// The common part of all variants: the sweep, and the answer.
#include <cmath>

#include "jacobi.hpp"

namespace jacobi {

void relax(
    double* to, const double* from, long plane, long row, const Cells& extents, double source) {
  for (long i = 0; i < extents[0]; ++i) {
    for (long j = 0; j < extents[1]; ++j) {
      double* __restrict__ v = to + i * plane + j * row;
      const double* __restrict__ u = from + i * plane + j * row;
      for (long k = 0; k < extents[2]; ++k)
        v[k] = (u[k - plane] + u[k + plane] + u[k - row] + u[k + row] + u[k - 1] + u[k + 1]) *
                   (1.0 / 6) -
               source;
    }
  }
}

Answer::Answer(const Case& c, int after_steps) : n_(c.n) {
  const double pi = std::acos(-1.0), h = 1.0 / static_cast<double>(n_ + 1);
  amplitude_ = std::pow(std::cos(pi * h), after_steps);
  for (long i = 0; i < n_; ++i)
    sines_.push_back(std::sin(pi * static_cast<double>(i + 1) * h));
}

double Answer::at(long i, long j, long k) const {
  const double h = 1.0 / static_cast<double>(n_ + 1);
  const double x = static_cast<double>(i + 1) * h, y = static_cast<double>(j + 1) * h,
               z = static_cast<double>(k + 1) * h;
  const double solution = x * x + 2 * y * y + 3 * z * z + x * y * z;
  const bool is_on_surface = i < 0 || j < 0 || k < 0 || i >= n_ || j >= n_ || k >= n_;
  if (is_on_surface) return solution;
  const auto sine = [&](long at) { return sines_[static_cast<std::size_t>(at)]; };
  return solution + amplitude_ * sine(i) * sine(j) * sine(k);
}

double Case::source() const {
  const double h = 1.0 / static_cast<double>(n + 1);
  return h * h / 6 * 12;
}

Array::Array(const Case& c)
    : lo_(c.lo),
      plane_((c.hi[1] - c.lo[1] + 2) * (c.hi[2] - c.lo[2] + 2)),
      row_(c.hi[2] - c.lo[2] + 2),
      values_(static_cast<std::size_t>((c.hi[0] - c.lo[0] + 2) * plane_)) {}

void Array::fill(const Case& c) {
  const Answer beginning(c, 0);
  for (long i = c.lo[0] - 1; i <= c.hi[0]; ++i)
    for (long j = c.lo[1] - 1; j <= c.hi[1]; ++j)
      for (long k = c.lo[2] - 1; k <= c.hi[2]; ++k)
        *at(i, j, k) = beginning.at(i, j, k);
}

}  // namespace jacobi
