#include "tools/sorrel/trace/trace_part.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/core.h>
#include <set>
#include <system_error>
#include <utility>

#include "trace/tracer.hpp"

namespace sorrel::tool {

using trace::Kind;
using trace::Record;

Result<TracePart> TracePart::open(const std::string& path) {
  Result<PartBytes> bytes = PartBytes::read(path);
  if (!bytes.has_value()) return Error{bytes.error()};
  TracePart part(std::move(bytes).value());
  if (!part.read_definitions()) return Error{"is not a part of a trace of this version"};
  return part;
}

bool TracePart::read_definitions() {
  Records records(bytes_.bytes());
  std::string_view text;
  Record record;
  if (!records.next(record, text) || record.kind() != Kind::begin ||
      record.first != trace::file_format || record.second != trace::file_version)
    return false;
  process_ = static_cast<std::uint32_t>(record.subject >> 32);
  worker_ = static_cast<std::uint32_t>(record.subject);
  while (records.next(record, text)) {
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

bool TracePart::Records::next(Record& record, std::string_view& text) {
  std::size_t count = decoder_.decode(rest_, record);
  // Behind damage there may be any byte in the place of a kind.
  if (count == 0 || record.kind() == Kind::none || record.kind() > Kind::code) return false;
  if (record.kind() == Kind::text) {
    if (record.first > rest_.size() - count) return false;
    text = {reinterpret_cast<const char*>(rest_.data() + count), record.first};
    count += record.first;
  }
  rest_ = rest_.subspan(count);
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
