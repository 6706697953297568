#include "checkpoint/generations.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <string_view>
#include <system_error>

#include "base/crc32c.hpp"
#include "base/text.hpp"
#include "os/disk_folder.hpp"

namespace sorrel::checkpoint {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "ckpt.";
constexpr std::string_view in_making = ".tmp";
constexpr const char* manifest_name = "MANIFEST";
constexpr const char* first_line = "sorrel checkpoint 1";

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

std::string encode_manifest(std::uint64_t generation, const std::vector<FileSeal>& files) {
  std::ostringstream text;
  text << first_line << "\ngeneration " << generation << "\nprocesses " << files.size() << '\n';
  for (const FileSeal& file : files)
    text << file.bytes << ' ' << file.check << '\n';
  const std::string checked = text.str();
  return checked + text_of("check %u\n", crc32c(checked.data(), checked.size()));
}

std::optional<Manifest> decode_manifest(const std::string& text) {
  // What would be encoded in the same way is exactly right.
  std::istringstream input(text);
  std::string line;
  std::string word;
  Manifest manifest;
  std::size_t count = 0;
  if (!std::getline(input, line) || !(input >> word >> manifest.generation >> word >> count) ||
      count > text.size())
    return std::nullopt;
  manifest.files.resize(count);
  for (FileSeal& file : manifest.files)
    input >> file.bytes >> file.check;
  if (!input || encode_manifest(manifest.generation, manifest.files) != text) return std::nullopt;
  return manifest;
}

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

std::uint64_t Generations::next() const {
  const auto found = numbers();
  return found.empty() ? 1 : found.front() + 1;
}

std::string Generations::folder_of(std::uint64_t generation) const {
  return folder_ + '/' + std::string(prefix) + std::to_string(generation);
}

std::string Generations::path_of(std::uint64_t generation, std::uint32_t process) const {
  return folder_of(generation) + '/' + file_name(process);
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

/// Why a generation is not whole; empty: it is.
std::string Generations::error_of(std::uint64_t generation, std::uint32_t& process_count) const {
  const std::string path = folder_of(generation) + '/' + manifest_name;
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto manifest = decode_manifest(text);
  if (!manifest || manifest->generation != generation)
    return path + (file.is_open() ? ": damaged" : ": cannot be read");
  process_count = static_cast<std::uint32_t>(manifest->files.size());
  FileIdentity expected;
  for (std::uint32_t process = 0; process < process_count; ++process) {
    SegmentReader reader;
    const std::string file_path = path_of(generation, process);
    if (std::string error = reader.open(file_path); !error.empty()) return error;
    if (process == 0) expected = reader.identity();
    expected.process = process;
    if (reader.seal() != manifest->files[process] || reader.identity() != expected ||
        expected.generation != generation || expected.process_count != process_count)
      return file_path + ": not a file of this checkpoint";
    if (std::string error = reader.verify(); !error.empty()) return error;
  }
  return "";
}

std::string Generations::set_aside(std::uint64_t generation) const {
  const std::string folder = folder_of(generation);
  std::error_code error;
  fs::rename(folder, folder + ".damaged", error);
  return error ? error_text(folder, error) : "";
}

Generations::Found Generations::find_newest() const {
  Found found;
  for (const std::uint64_t number : numbers()) {
    std::string error = error_of(number, found.process_count);
    if (error.empty()) {
      found.generation = number;
      return found;
    }
    found.passed_over.push_back({.generation = number, .reason = std::move(error)});
  }
  found.process_count = 0;
  return found;
}

}  // namespace sorrel::checkpoint
