#include "tools/sorrel/inspect/loader_answer.hpp"

#include <algorithm>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include "tools/sorrel/common/command_output.hpp"

namespace sorrel::tool {

LoaderAnswer parse_loader_answer(std::string_view text) {
  constexpr std::string_view arrow = " => ";
  constexpr std::string_view address = " (0x";
  constexpr std::string_view error = "error while loading shared libraries: ";
  LoaderAnswer answer;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (const std::size_t at = line.find(error); at != line.npos) {
      line.remove_prefix(at + error.size());
      answer.missing = line.substr(0, line.find(": "));
    } else if (const std::size_t middle = line.find(arrow); middle != line.npos) {
      const std::size_t begin = line.find_first_not_of(" \t");
      const std::size_t end = line.rfind(address);
      if (end == line.npos || end < middle + arrow.size()) continue;
      answer.paths.emplace(line.substr(begin, middle - begin),
                           line.substr(middle + arrow.size(), end - middle - arrow.size()));
    }
  }
  return answer;
}

LoaderAnswer ask_loader(const os::ElfFile& program,
                        const std::string& path,
                        const std::vector<std::string>& folders) {
  if (program.is_static()) return {};
  const CommandOutput output =
      output_of({std::string(program.interpreter), "--library-path",
                 fmt::format("{}", fmt::join(folders, ":")), "--list", path});
  return parse_loader_answer(output.text);
}

}  // namespace sorrel::tool
