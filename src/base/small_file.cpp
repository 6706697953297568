#include "base/small_file.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace sorrel {

std::string read_small_file(const std::string& path, std::size_t bytes_max, std::string& text) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) return "does not exist";
  if (status.type() == std::filesystem::file_type::directory) return "is a folder";
  if (error) return "cannot be read: " + error.message();
  if (status.type() != std::filesystem::file_type::regular)
    return "is a device, a pipe or a socket; a file is needed";
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  // Files of /proc say 0, and a file may grow meanwhile.
  std::size_t count = 0;
  std::size_t room = std::min<std::uintmax_t>(error ? 0 : size, bytes_max) + 1;
  do {
    text.resize(room);
    file.read(text.data() + count, static_cast<std::streamsize>(room - count));
    count += static_cast<std::size_t>(file.gcount());
    if (count > bytes_max) return "has more than " + std::to_string(bytes_max) + " bytes";
    if (count < room && !file.eof()) return "cannot be read";
    room = std::min(2 * room + 4096, bytes_max + 1);
  } while (!file.eof());
  text.resize(count);
  return "";
}

}  // namespace sorrel
