#include "tools/sorrel/trace/trace_part.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/core.h>
#include <set>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "trace/tracer.hpp"

namespace sorrel::tool {

using trace::Kind;
using trace::Record;

Result<TracePart> TracePart::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return Error{std::string("cannot be read: ") + std::strerror(errno)};
  struct stat status{};
  const bool is_file = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  const auto bytes = static_cast<std::size_t>(is_file ? status.st_size : 0);
  void* memory =
      bytes == 0 ? MAP_FAILED : mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
  ::close(descriptor);
  if (!is_file) return Error{"is not a file"};
  if (bytes == 0) return Error{"is empty"};
  if (memory == MAP_FAILED) return Error{std::string("cannot be read: ") + std::strerror(errno)};
  TracePart part;
  part.bytes_ = {static_cast<const std::byte*>(memory), bytes};
  if (!part.read_definitions()) return Error{"is not a part of a trace of this version"};
  return part;
}

TracePart::TracePart(TracePart&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})),
      process_(other.process_),
      worker_(other.worker_),
      clocks_(std::move(other.clocks_)),
      code_(std::move(other.code_)),
      ranks_(std::move(other.ranks_)),
      nodes_(std::move(other.nodes_)),
      texts_(std::move(other.texts_)) {}

TracePart& TracePart::operator=(TracePart&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  std::swap(process_, other.process_);
  std::swap(worker_, other.worker_);
  std::swap(clocks_, other.clocks_);
  std::swap(code_, other.code_);
  std::swap(ranks_, other.ranks_);
  std::swap(nodes_, other.nodes_);
  std::swap(texts_, other.texts_);
  return *this;
}

TracePart::~TracePart() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

bool TracePart::read_definitions() {
  Record head;
  if (bytes_.size() < sizeof head) return false;
  std::memcpy(&head, bytes_.data(), sizeof head);
  if (head.kind() != Kind::begin || head.first != trace::file_format ||
      head.second != trace::file_version)
    return false;
  process_ = static_cast<std::uint32_t>(head.subject >> 32);
  worker_ = static_cast<std::uint32_t>(head.subject);
  std::string_view text;
  Record record;
  for (std::size_t at = 0; read(at, record, text);) {
    if (record.kind() == Kind::clock) {
      clocks_.push_back({.cycles = record.time_and_kind >> Record::kind_bits,
                         .monotonic_ns = static_cast<std::int64_t>(record.subject),
                         .wall_ns = static_cast<std::int64_t>(record.first)});
    } else if (record.kind() == Kind::text) {
      // A path may have another number when the code is described again, and comes before it.
      texts_[record.subject] = text;
    } else if (record.kind() == Kind::rank) {
      const auto rank = static_cast<std::int32_t>(record.first);
      ranks_[record.subject] = rank;
      nodes_[rank] = static_cast<std::uint32_t>(record.second);
    } else if (record.kind() == Kind::code) {
      constexpr int offset_bits = 48;
      code_.push_back({.begin = record.subject,
                       .end = record.first,
                       .offset = record.second & ((std::uint64_t{1} << offset_bits) - 1),
                       .path = text_of(record.second >> offset_bits)});
    }
  }
  return !clocks_.empty();
}

bool TracePart::read(std::size_t& at, Record& record, std::string_view& text) const {
  // Space that was not used is of no kind.
  do {
    if (at + sizeof record > bytes_.size()) return false;
    std::memcpy(&record, bytes_.data() + at, sizeof record);
    at += sizeof record;
  } while (record.kind() == Kind::none);
  if (record.kind() != Kind::text) return true;
  if (record.first > bytes_.size() - at) return false;
  text = {reinterpret_cast<const char*>(bytes_.data() + at), record.first};
  at += (record.first + sizeof record - 1) / sizeof record * sizeof record;
  return true;
}

std::string_view TracePart::machine() const {
  return text_of(static_cast<std::uint64_t>(trace::TextName::machine));
}

std::uint32_t TracePart::node_of(std::int32_t rank) const {
  const auto found = nodes_.find(rank);
  return found == nodes_.end() ? process_ : found->second;
}

std::string_view TracePart::text_of(std::uint64_t name) const {
  const auto found = texts_.find(name);
  return found == texts_.end() ? std::string_view() : found->second;
}

Result<std::vector<TracePart>> open_trace(const std::string& folder,
                                          std::vector<std::string>& warnings) {
  std::error_code error;
  std::set<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".part") paths.insert(entry.path().string());
  }
  if (error) return Error{fmt::format("{} cannot be read: {}", folder, error.message())};
  std::vector<TracePart> parts;
  for (const std::string& path : paths) {
    Result<TracePart> part = TracePart::open(path);
    if (part.has_value()) {
      parts.push_back(std::move(part).value());
    } else {
      warnings.push_back(fmt::format("{} {}", path, part.error()));
    }
  }
  if (parts.empty()) {
    return Error{warnings.empty() ? fmt::format("{} has no part of a trace", folder)
                                  : warnings.front()};
  }
  std::ranges::sort(parts, {},
                    [](const TracePart& part) { return std::pair(part.process(), part.worker()); });
  return parts;
}

std::size_t worker_count_of(const std::vector<TracePart>& parts) {
  return static_cast<std::size_t>(
      std::ranges::count_if(parts, [](const TracePart& part) { return part.is_of_worker(); }));
}

}  // namespace sorrel::tool
