#include "tools/sorrel/common/text_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/core.h>

#include "tools/sorrel/common/diagnostic.hpp"

namespace sorrel::tool {

bool write_text_file(const std::string& path, std::string_view text) {
  const bool is_stdout = path == "-";
  errno = 0;
  std::FILE* file = is_stdout ? stdout : std::fopen(path.c_str(), "we");
  const bool is_open = file != nullptr;
  const bool is_whole = is_open && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int error = errno;
  const bool is_closed = is_open && (is_stdout ? std::fflush(file) : std::fclose(file)) == 0;
  if (is_whole && is_closed) return true;
  print_diagnostic(fmt::format("{} cannot be written: {}", is_stdout ? "standard output" : path,
                               std::strerror(is_whole ? errno : error)));
  return false;
}

}  // namespace sorrel::tool
