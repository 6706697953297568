#include "grid/plan/figures.hpp"

#include <cstddef>

#include "base/text.hpp"

namespace sorrel::grid {

std::string seconds_text(double seconds) {
  if (seconds >= 1) return text_of("%.3g s", seconds);
  if (seconds >= 1e-3) return text_of("%.3g ms", seconds * 1e3);
  return text_of("%.3g us", seconds * 1e6);
}

std::string size_text(std::int64_t bytes) {
  const double size = static_cast<double>(bytes);
  if (size >= 1 << 20) return text_of("%.3g MiB", size / (1 << 20));
  if (size >= 1 << 10) return text_of("%.3g KiB", size / (1 << 10));
  return text_of("%lld bytes", static_cast<long long>(bytes));
}

std::string extents_text(const Extents& extents, const Problem& problem) {
  std::string text;
  for (std::size_t d = 0; d < extents.size(); ++d)
    if (d == 0 || problem.extents[d] > 1)
      text += text_of("%s%lld", d == 0 ? "" : " x ", static_cast<long long>(extents[d]));
  return text;
}

}  // namespace sorrel::grid
