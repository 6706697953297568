#include "runtime/python/stack.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace sorrel::runtime {

void PythonStack::take(std::size_t index, PythonState state, std::size_t count_max) {
  text_.clear();
  if (!has_python()) return;
  std::array<symbols::SourceText, depth_max> functions;
  const std::size_t count =
      describe_python_of(index, state, std::span(functions).first(std::min(count_max, depth_max)));
  for (const symbols::SourceText& function : std::span(functions).first(count)) {
    const std::string_view line = function.data();
    if (text_.text().size() + line.size() + 2 > bytes_max) return;
    text_.add(line).add("\n");
  }
}

}  // namespace sorrel::runtime
