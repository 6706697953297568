#include "checkpoint/memory_generations.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <utility>

#include "base/check.hpp"
#include "base/text.hpp"
#include "os/free_memory.hpp"
#include "os/memory_file.hpp"

namespace sorrel::checkpoint {

namespace {

/// Even and odd generations.
constexpr std::size_t place_count = 2;

/// One part in so many of the machine's memory stays free for the ranks, which copy pages while
/// they are written.
constexpr std::uint64_t free_part = 20;

std::string path_of_descriptor(int descriptor) {
  return text_of("/proc/self/fd/%d", descriptor);
}

}  // namespace

std::string MemoryGenerations::make_files(std::uint32_t process_count, std::vector<int>& files) {
  for (std::size_t i = 0; i < place_count * (process_count + 1); ++i) {
    const int descriptor = os::make_memory_file();
    if (descriptor < 0) return text_of("cannot make files in memory: %s", std::strerror(errno));
    files.push_back(descriptor);
  }
  return "";
}

MemoryGenerations::MemoryGenerations(std::vector<int> files) : files_(std::move(files)) {
  SORREL_ASSERT(!files_.empty() && files_.size() % place_count == 0,
                "%zu files for %zu generations", files_.size(), place_count);
}

void MemoryGenerations::keep_from_children() const {
  for (const int descriptor : files_)
    os::keep_from_programs(descriptor);
}

std::vector<int> MemoryGenerations::place_of(std::uint64_t generation) const {
  const auto count = static_cast<std::ptrdiff_t>(files_.size() / place_count);
  const auto begin = files_.begin() + static_cast<std::ptrdiff_t>(generation % place_count) * count;
  return {begin, begin + count};
}

std::string MemoryGenerations::clear(std::uint64_t generation) const {
  const std::vector<int> place = place_of(generation);
  // The manifest first: without it the generation is not visible.
  for (auto at = place.rbegin(); at != place.rend(); ++at) {
    if (const int error = os::clear_memory_file(*at); error != 0)
      return text_of("a checkpoint in memory: %s", std::strerror(error));
  }
  return "";
}

std::string MemoryGenerations::begin(std::uint64_t generation) const {
  return clear(generation);
}

std::string MemoryGenerations::path_to_write(std::uint64_t generation,
                                             std::uint32_t process) const {
  return path_of(generation, process);
}

std::string MemoryGenerations::room_error(std::uint64_t bytes) const {
  const os::FreeMemory memory = os::free_memory();
  const std::uint64_t kept = memory.all_bytes / free_part;
  if (bytes + kept <= memory.bytes) return "";
  return text_of(
      "no memory for a checkpoint: %llu MiB of %llu MiB are free, and a twentieth is left to the "
      "ranks; --checkpoint DIR writes files",
      static_cast<unsigned long long>(memory.bytes >> 20),
      static_cast<unsigned long long>(memory.all_bytes >> 20));
}

std::string MemoryGenerations::commit(std::uint64_t generation,
                                      const std::vector<FileSeal>& files) const {
  const std::string text =
      encode_manifest({.writer = "this job", .generation = generation, .files = files, .code = ""});
  os::DiskFile file;
  int error = file.open(manifest_of(generation).c_str(), {.reads = false, .writes = true});
  if (error == 0) error = file.write(text.data(), text.size(), 0).error;
  return error == 0 ? "" : text_of("a checkpoint in memory: %s", std::strerror(error));
}

void MemoryGenerations::discard(std::uint64_t generation) const {
  static_cast<void>(clear(generation));
}

std::string MemoryGenerations::set_aside(std::uint64_t generation) const {
  return clear(generation);
}

std::string MemoryGenerations::path_of(std::uint64_t generation, std::uint32_t process) const {
  const std::vector<int> place = place_of(generation);
  SORREL_CHECK(process + 1 < place.size(), "process %u of %zu", process, place.size() - 1);
  return path_of_descriptor(place[process]);
}

std::string MemoryGenerations::manifest_of(std::uint64_t generation) const {
  return path_of_descriptor(place_of(generation).back());
}

std::vector<std::uint64_t> MemoryGenerations::numbers() const {
  std::vector<std::uint64_t> found;
  for (std::uint64_t place = 0; place < place_count; ++place) {
    std::string text;
    // An interrupted generation has no manifest, or a part of one.
    if (!read_manifest(place, text).empty()) continue;
    const auto manifest = decode_manifest(text);
    if (manifest) found.push_back(manifest->generation);
  }
  std::ranges::sort(found, std::greater());
  return found;
}

}  // namespace sorrel::checkpoint
