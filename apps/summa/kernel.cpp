// The common part of all variants: the matrices, the local product, and the check of the result.
#include <cblas.h>
#include <cmath>
#include <cstdint>
#include <limits>

#include "summa.hpp"

namespace summa {

namespace {

/// An entry of A (which = 0) or B: any number between -1 and 1, the same on all ranks.
double entry(std::uint64_t which, long i, long j) {
  std::uint64_t x =
      which << 62 ^ static_cast<std::uint64_t>(i) << 31 ^ static_cast<std::uint64_t>(j);
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return static_cast<double>(static_cast<std::int64_t>(x ^ x >> 31)) * 0x1p-63;
}

}  // namespace

Range part_of(long n, long count, long index) {
  const long length = n / count, longer = n % count;
  const long lo = length * index + std::min(index, longer);
  return {lo, lo + length + (index < longer ? 1 : 0)};
}

std::vector<Panel> panels_of(const Case& c) {
  std::vector<Panel> panels;
  int row = 0, column = 0;
  for (long k = 0; k < c.n;) {
    const long row_end = part_of(c.n, c.rows, row).hi,
               column_end = part_of(c.n, c.columns, column).hi;
    const long end = std::min({k + c.panel, row_end, column_end});
    panels.push_back({{k, end}, static_cast<int>(panels.size()), column, row});
    if (end == row_end) ++row;
    if (end == column_end) ++column;
    k = end;
  }
  return panels;
}

Blocks::Blocks(const Case& c)
    : n_(c.n),
      panel_max_(std::min(c.panel, c.n)),
      row_(c.row),
      column_(c.column),
      rows_(part_of(c.n, c.rows, c.row)),
      columns_(part_of(c.n, c.columns, c.column)),
      a_columns_(part_of(c.n, c.columns, c.column)),
      b_rows_(part_of(c.n, c.rows, c.row)),
      a_(static_cast<std::size_t>(rows_.length() * a_columns_.length())),
      b_(static_cast<std::size_t>(b_rows_.length() * columns_.length())),
      c_(static_cast<std::size_t>(rows_.length() * columns_.length())) {
  // For any OpenBLAS that is installed: the ranks are the parallelism.
  openblas_set_num_threads(1);
  double* a = a_.data();
  for (long k = a_columns_.lo; k < a_columns_.hi; ++k)
    for (long i = rows_.lo; i < rows_.hi; ++i)
      *a++ = entry(0, i, k);
  double* b = b_.data();
  for (long k = b_rows_.lo; k < b_rows_.hi; ++k)
    for (long j = columns_.lo; j < columns_.hi; ++j)
      *b++ = entry(1, k, j);
}

double* Blocks::own_a(const Panel& panel) {
  if (panel.column != column_) return nullptr;
  return a_.data() + (panel.inner.lo - a_columns_.lo) * rows_.length();
}

double* Blocks::own_b(const Panel& panel) {
  if (panel.row != row_) return nullptr;
  return b_.data() + (panel.inner.lo - b_rows_.lo) * columns_.length();
}

void Blocks::multiply(
    const double* a, const double* b, const Panel& panel, long first, long count) {
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, static_cast<int>(count),
              static_cast<int>(columns_.length()), static_cast<int>(panel.inner.length()), 1.0,
              a + first, static_cast<int>(rows_.length()), b, static_cast<int>(columns_.length()),
              1.0, c_.data() + first, static_cast<int>(rows_.length()));
}

double Blocks::error(long every) const {
  const auto width = static_cast<std::size_t>(columns_.length());
  std::vector<double> sum(width), magnitude(width), b(width);
  // Two products are compared, each within n u |A||B| of the exact one.
  const double unit = std::numeric_limits<double>::epsilon() / 2;
  const double factor = 2 * static_cast<double>(n_) * unit / (1 - static_cast<double>(n_) * unit);
  double largest = 0;
  for (long i = rows_.lo; i < rows_.hi; ++i) {
    if (i % every != 0) continue;
    std::fill(sum.begin(), sum.end(), 0.0);
    std::fill(magnitude.begin(), magnitude.end(), 0.0);
    for (long k = 0; k < n_; ++k) {
      const double a = entry(0, i, k);
      for (std::size_t j = 0; j < width; ++j)
        b[j] = a * entry(1, k, columns_.lo + static_cast<long>(j));
      for (std::size_t j = 0; j < width; ++j) {
        sum[j] += b[j];
        magnitude[j] += std::abs(b[j]);
      }
    }
    for (std::size_t j = 0; j < width; ++j) {
      const double found =
          c_[static_cast<std::size_t>(i - rows_.lo) + j * static_cast<std::size_t>(rows_.length())];
      const double share = std::abs(found - sum[j]) / (factor * magnitude[j]);
      // A value that is no number is wrong, too.
      if (!(share <= largest)) largest = std::isnan(share) ? HUGE_VAL : share;
    }
  }
  return largest;
}

}  // namespace summa
