#include "base/small_file.hpp"

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
  std::ifstream file(path, std::ios::binary);
  text.resize(bytes_max + 1);
  if (!file || (!file.read(text.data(), static_cast<std::streamsize>(text.size())) && file.bad()))
    return "cannot be read";
  const auto count = static_cast<std::size_t>(file.gcount());
  if (count > bytes_max) return "has more than " + std::to_string(bytes_max) + " bytes";
  text.resize(count);
  return "";
}

}  // namespace sorrel
