// A field and a view as std::mdspan, and a Result as std::expected, in C++23.
#include <expected>
#include <mdspan>
#include <string>
#include <type_traits>

#include <sorrel/graph.hpp>
#include <sorrel/result.hpp>

using namespace sorrel::graph;

double sum(Mdspan<const double, 2> values) {
  double result = 0;
  for (Index i = 0; i < values.extent(0); ++i)
    for (Index j = 0; j < values.extent(1); ++j)
      result += values[i, j];
  return result;
}

int main() {
  const Tiling tiling({8, 100}, {});
  Field<double, 2> now(tiling, "now"), next(tiling, "next");
  auto whole = now.to_mdspan();
  static_assert(whole.rank() == 2 && std::is_same_v<decltype(whole)::element_type, double>);
  // The first ghost of a grid without neighbours.
  whole[0, 0] = 1;
  const bool is_first = now(-1, -1) == 1 && &whole[1, 2] == &now[0, 1];
  sorrel::Graph g;
  g.over(tiling, "copy")
      .reads(now)
      .writes(next)
      .body([](const sorrel::Box<2>& cells, auto from, auto to) {
        const auto [i, j] = cells.lo;
        to.to_mdspan()[i + 1, j + 1] = from.to_mdspan()[i + 1, j + 1] + sum(from.to_mdspan());
      });
  const sorrel::Result<int> right = 5;
  const std::expected<int, std::string> as_expected = right;
  const sorrel::Result<int> wrong = std::expected<int, std::string>(std::unexpect, "a line");
  const sorrel::Result<void> none = std::expected<void, std::string>();
  return is_first && *as_expected == 5 && wrong.error() == "a line" && none ? 0 : 1;
}
