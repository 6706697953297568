#include "tools/sorrel/common/output_files.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/core.h>
#include <system_error>

#include "tools/sorrel/common/diagnostic.hpp"

namespace sorrel::tool {

Result<std::string> make_temporary_folder(const char* option, const char* name) {
  std::error_code error;
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(error);
  if (error)
    return Error{fmt::format("{}: no folder for temporary files: {}", option, error.message())};
  std::string folder = (temporary / fmt::format("sorrel-{}-XXXXXX", name)).string();
  if (mkdtemp(folder.data()) == nullptr) {
    return Error{
        fmt::format("{}: the folder {} cannot be made: {}", option, folder, std::strerror(errno))};
  }
  return folder;
}

bool write_output_file(const std::string& path, std::string_view text) {
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
