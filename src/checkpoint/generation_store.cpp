#include "checkpoint/generation_store.hpp"

#include <cstring>
#include <sstream>

#include "base/crc32c.hpp"
#include "base/text.hpp"
#include "os/file_owner.hpp"

namespace sorrel::checkpoint {

namespace {

constexpr const char* first_line = "sorrel checkpoint 2";
/// A line for each of 65536 processes.
constexpr std::int64_t manifest_bytes_max = std::int64_t{4} << 20;

}  // namespace

std::string encode_manifest(const Manifest& manifest) {
  std::ostringstream text;
  text << first_line << "\nwriter " << manifest.writer << "\ngeneration " << manifest.generation
       << "\nprocesses " << manifest.files.size() << '\n';
  for (const FileSeal& file : manifest.files)
    text << file.bytes << ' ' << file.check << '\n';
  const std::string checked = text.str();
  std::string whole = checked + text_of("check %u\n", crc32c(checked.data(), checked.size()));
  if (!manifest.code.empty()) whole += "code " + manifest.code + '\n';
  return whole;
}

std::optional<Manifest> decode_manifest(const std::string& text) {
  // What would be encoded in the same way is exactly right.
  std::istringstream input(text);
  std::string line;
  std::string word;
  Manifest manifest;
  std::size_t count = 0;
  if (!std::getline(input, line) || !(input >> word) || input.get() != ' ' ||
      !std::getline(input, manifest.writer) || !(input >> word >> manifest.generation) ||
      !(input >> word >> count) || count > text.size())
    return std::nullopt;
  manifest.files.resize(count);
  for (FileSeal& file : manifest.files)
    input >> file.bytes >> file.check;
  std::uint32_t check = 0;
  input >> word >> check;
  if (!input) return std::nullopt;
  input >> word >> manifest.code;
  if (encode_manifest(manifest) != text) return std::nullopt;
  return manifest;
}

std::uint64_t GenerationStore::next() const {
  const auto found = numbers();
  return found.empty() ? 1 : found.front() + 1;
}

std::string GenerationStore::read_manifest(std::uint64_t generation, std::string& text) const {
  const std::string path = manifest_of(generation);
  os::DiskFile file;
  if (const int error = file.open(path.c_str(), {.is_private = place() == Place::folder});
      error != 0)
    return os::private_open_error(path, error);
  std::int64_t bytes = 0;
  if (const int error = file.get_size(&bytes); error != 0)
    return path + ": " + std::strerror(error);
  if (bytes > manifest_bytes_max) return path + ": damaged";
  text.resize(static_cast<std::size_t>(bytes));
  const os::Moved moved = file.read(text.data(), text.size(), 0);
  text.resize(moved.bytes);
  return moved.error == 0 ? "" : path + ": " + std::strerror(moved.error);
}

std::optional<Manifest> GenerationStore::manifest(std::uint64_t generation) const {
  std::string text;
  return read_manifest(generation, text).empty() ? decode_manifest(text) : std::nullopt;
}

std::string GenerationStore::error_of(std::uint64_t generation) const {
  std::string text;
  if (std::string error = read_manifest(generation, text); !error.empty()) return error;
  const auto manifest = decode_manifest(text);
  if (!manifest || manifest->generation != generation) return manifest_of(generation) + ": damaged";
  const auto process_count = static_cast<std::uint32_t>(manifest->files.size());
  FileIdentity expected;
  for (std::uint32_t process = 0; process < process_count; ++process) {
    SegmentReader reader;
    const std::string file_path = path_of(generation, process);
    if (std::string error = reader.open(file_path, place()); !error.empty()) return error;
    if (process == 0) expected = reader.identity();
    expected.process = process;
    if (reader.seal() != manifest->files[process] || reader.identity() != expected ||
        expected.generation != generation || expected.process_count != process_count)
      return file_path + ": not a file of this checkpoint";
    if (std::string error = reader.verify(); !error.empty()) return error;
  }
  return "";
}

GenerationStore::Found GenerationStore::find_newest() const {
  Found found;
  for (const std::uint64_t number : numbers()) {
    std::string error = error_of(number);
    if (error.empty()) {
      found.generation = number;
      return found;
    }
    found.passed_over.push_back({.generation = number, .reason = std::move(error)});
  }
  return found;
}

}  // namespace sorrel::checkpoint
