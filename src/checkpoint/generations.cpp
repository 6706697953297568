#include "checkpoint/generations.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/text.hpp"
#include "os/disk_folder.hpp"

namespace sorrel::checkpoint {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "ckpt.";
constexpr std::string_view in_making = ".tmp";
constexpr const char* manifest_name = "MANIFEST";

std::string error_text(const std::string& path, const std::error_code& error) {
  return path + ": " + error.message();
}

std::string error_text(const std::string& path, int error) {
  return path + ": " + std::strerror(error);
}

std::string file_name(std::uint32_t process) {
  return text_of("process.%04u", process);
}

/// The number in the name of a visible generation.
std::optional<std::uint64_t> number_in(std::string_view name) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool is_whole = error == std::errc() && end == name.data() + name.size();
  return is_whole && number != 0 ? std::optional(number) : std::nullopt;
}

std::string write_file(const std::string& path, const std::string& text) {
  os::DiskFile file;
  int error = file.open(path.c_str(),
                        {.reads = false, .writes = true, .creates = true, .is_exclusive = true});
  if (error == 0) error = file.write(text.data(), text.size(), 0).error;
  if (error == 0) error = file.sync();
  return error == 0 ? "" : error_text(path, error);
}

}  // namespace

std::vector<std::uint64_t> Generations::numbers() const {
  std::vector<std::uint64_t> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder_, error), end; !error && entry != end;
       entry.increment(error)) {
    if (const auto number = number_in(entry->path().filename().string())) found.push_back(*number);
  }
  std::ranges::sort(found, std::greater());
  return found;
}

std::string Generations::folder_of(std::uint64_t generation) const {
  return folder_ + '/' + std::string(prefix) + std::to_string(generation);
}

std::string Generations::path_of(std::uint64_t generation, std::uint32_t process) const {
  return folder_of(generation) + '/' + file_name(process);
}

std::string Generations::manifest_of(std::uint64_t generation) const {
  return folder_of(generation) + '/' + manifest_name;
}

std::string Generations::path_to_write(std::uint64_t generation, std::uint32_t process) const {
  return folder_of(generation) + std::string(in_making) + '/' + file_name(process);
}

std::string Generations::begin(std::uint64_t generation) const {
  std::error_code error;
  std::vector<fs::path> left;
  for (fs::directory_iterator entry(folder_, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with(prefix) && name.ends_with(in_making)) left.push_back(entry->path());
  }
  if (error) return error_text(folder_, error);
  for (const fs::path& path : left) {
    fs::remove_all(path, error);
    if (error) return error_text(path.string(), error);
  }
  const std::string folder = folder_of(generation) + std::string(in_making);
  fs::create_directory(folder, error);
  return error ? error_text(folder, error) : "";
}

std::string Generations::commit(std::uint64_t generation,
                                const std::vector<FileSeal>& files) const {
  const std::string folder = folder_of(generation);
  const std::string making = folder + std::string(in_making);
  if (std::string error =
          write_file(making + '/' + manifest_name, encode_manifest(generation, files));
      !error.empty())
    return error;
  if (const int error = os::sync_folder(making.c_str()); error != 0)
    return error_text(making, error);
  std::error_code error;
  fs::rename(making, folder, error);
  if (error) return error_text(folder, error);
  // Before anything older is removed.
  if (const int failed = os::sync_folder(folder_.c_str()); failed != 0)
    return error_text(folder_, failed);
  const auto found = numbers();
  for (std::size_t i = 2; i < found.size(); ++i)
    fs::remove_all(folder_of(found[i]), error);
  // What cannot be removed takes room, but harms nothing.
  return "";
}

void Generations::discard(std::uint64_t generation) const {
  std::error_code error;
  fs::remove_all(folder_of(generation) + std::string(in_making), error);
}

std::string Generations::set_aside(std::uint64_t generation) const {
  const std::string folder = folder_of(generation);
  std::error_code error;
  fs::rename(folder, folder + ".damaged", error);
  return error ? error_text(folder, error) : "";
}

}  // namespace sorrel::checkpoint
