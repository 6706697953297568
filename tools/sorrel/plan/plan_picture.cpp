#include "tools/sorrel/plan/plan_picture.hpp"

#include <algorithm>
#include <cstddef>
#include <fmt/core.h>
#include <vector>

namespace sorrel::tool {

namespace {

constexpr std::size_t bar_count_max = 200;
constexpr int row_height = 18;
constexpr int label_width = 190;
constexpr int bars_width = 560;
constexpr int value_width = 130;
constexpr int head_height = 64;

struct Term {
  const char* name;
  const char* colour;
  double grid::Prediction::* seconds;
};

constexpr Term terms[] = {{"compute", "#4477aa", &grid::Prediction::compute_s},
                          {"pack", "#ee6677", &grid::Prediction::pack_s},
                          {"wire", "#ccbb44", &grid::Prediction::wire_s},
                          {"wait", "#bbbbbb", &grid::Prediction::wait_s}};

std::vector<const grid::Cut*> best_of_each_grid(const grid::Plan& plan) {
  std::vector<const grid::Cut*> best;
  for (const grid::Cut& cut : plan.cuts()) {
    if (best.size() == bar_count_max) break;
    const bool is_there = std::any_of(best.begin(), best.end(),
                                      [&](const auto* other) { return other->grid == cut.grid; });
    if (!is_there) best.push_back(&cut);
  }
  return best;
}

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char letter : text) {
    if (letter == '<')
      safe += "&lt;";
    else if (letter == '&')
      safe += "&amp;";
    else
      safe += letter;
  }
  return safe;
}

std::string legend() {
  std::string svg;
  int x = label_width;
  for (const Term& term : terms) {
    svg += fmt::format(
        "<rect x='{}' y='36' width='12' height='12' fill='{}'/><text x='{}' y='47'>{}</text>\n", x,
        term.colour, x + 17, term.name);
    x += 90;
  }
  return svg;
}

std::string bar(const grid::Plan& plan, const grid::Cut& cut, int y, double scale) {
  std::string label = name_of(cut.grid, plan.problem());
  if (cut.overlap.kind != grid::Overlap::Kind::none) label += ", " + name_of(cut.overlap);
  std::string svg = fmt::format("<text x='{}' y='{}' text-anchor='end'>{}</text>\n",
                                label_width - 8, y + 13, label);
  double x = label_width;
  for (const Term& term : terms) {
    const double width = cut.time.*term.seconds * scale;
    svg += fmt::format("<rect x='{:.2f}' y='{}' width='{:.2f}' height='{}' fill='{}'/>\n", x, y + 2,
                       width, row_height - 4, term.colour);
    x += width;
  }
  const double slower = 100 * (cut.time.step_s() / plan.time().step_s() - 1);
  return svg + fmt::format("<text x='{:.2f}' y='{}'>{:.3g} ms, +{:.1f} %</text>\n", x + 6, y + 13,
                           cut.time.step_s() * 1e3, slower);
}

}  // namespace

std::string picture_of(const grid::Plan& plan, const std::string& title) {
  const auto bars = best_of_each_grid(plan);
  const int height = head_height + row_height * static_cast<int>(bars.size()) + 10;
  const int width = label_width + bars_width + value_width;
  std::string svg = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' width='{0}' height='{1}' viewBox='0 0 {0} {1}' "
      "font-family='sans-serif' font-size='12'>\n<rect width='100%' height='100%' fill='white'/>\n"
      "<text x='10' y='22' font-size='15'>{2}</text>\n",
      width, height, escaped(title));
  svg += legend();
  const double scale = bars_width / bars.back()->time.step_s();
  int y = head_height;
  for (const grid::Cut* cut : bars) {
    svg += bar(plan, *cut, y, scale);
    y += row_height;
  }
  return svg + "</svg>\n";
}

}  // namespace sorrel::tool
