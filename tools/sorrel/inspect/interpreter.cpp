#include "tools/sorrel/inspect/interpreter.hpp"

#include <algorithm>
#include <iterator>

namespace sorrel::tool {

namespace {

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

}  // namespace

bool is_interpreter(std::string_view path) {
  static constexpr std::string_view names[] = {"python", "pypy",  "ipython",   "julia",
                                               "perl",   "ruby",  "lua",       "node",
                                               "tclsh",  "guile", "octave-cli"};
  std::string_view name = base_name(path);
  name = name.substr(0, name.find_last_not_of("0123456789.-") + 1);
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool starts_interpreter(std::string_view path) {
  static constexpr std::string_view names[] = {"R",    "Rscript",    "uv",   "uvx",
                                               "pixi", "micromamba", "mamba"};
  return std::ranges::find(names, base_name(path)) != std::end(names);
}

}  // namespace sorrel::tool
