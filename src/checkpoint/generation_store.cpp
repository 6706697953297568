#include "checkpoint/generation_store.hpp"

#include <fstream>
#include <iterator>
#include <sstream>

#include "base/crc32c.hpp"
#include "base/text.hpp"

namespace sorrel::checkpoint {

namespace {

constexpr const char* first_line = "sorrel checkpoint 1";

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

std::uint64_t GenerationStore::next() const {
  const auto found = numbers();
  return found.empty() ? 1 : found.front() + 1;
}

std::string GenerationStore::read_manifest(const std::string& path, bool& is_there) {
  std::ifstream file(path, std::ios::binary);
  is_there = file.is_open();
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Why a generation is not whole; empty: it is.
std::string GenerationStore::error_of(std::uint64_t generation,
                                      std::uint32_t& process_count) const {
  const std::string path = manifest_of(generation);
  bool is_there = false;
  const auto manifest = decode_manifest(read_manifest(path, is_there));
  if (!manifest || manifest->generation != generation)
    return path + (is_there ? ": damaged" : ": cannot be read");
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

GenerationStore::Found GenerationStore::find_newest() const {
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
