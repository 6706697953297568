#include "check/finding_log.hpp"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstring>

#include "os/process_number.hpp"

namespace sorrel::check {

namespace {

/// A run that goes wrong at every call would fill the disk.
constexpr std::uint64_t finding_count_max = 10'000;

/// In one line, without the tabs that separate fields.
std::string field_of(std::string text) {
  std::ranges::replace_if(text, [](char letter) { return letter == '\t' || letter == '\n'; }, ' ');
  return text;
}

}  // namespace

FindingLog::FindingLog(const std::string& folder) {
  const std::string path = folder + "/" + findings_file_name + std::to_string(os::process_number());
  file_.reset(std::fopen(path.c_str(), "we"));
  if (file_ == nullptr)
    std::fprintf(stderr, "sorrel: findings are lost: %s: %s\n", path.c_str(), std::strerror(errno));
}

const os::CodeRange* FindingLog::range_of(std::uint64_t address) {
  const auto find = [&]() -> const os::CodeRange* {
    const auto after =
        std::ranges::upper_bound(code_, address, std::ranges::less{}, &os::CodeRange::begin);
    if (after == code_.begin()) return nullptr;
    const os::CodeRange& range = *std::prev(after);
    return address < range.end ? &range : nullptr;
  };
  const os::CodeRange* range = find();
  if (range != nullptr) return range;
  // A library that the program has opened since.
  code_ = os::read_code_map();
  return find();
}

CodeSite FindingLog::site_of(const CallPlace& place) {
  if (place.script != nullptr) return {.path = {}, .offset = 0, .script = place.script};
  const auto address = reinterpret_cast<std::uint64_t>(place.site);
  const os::CodeRange* range = address == 0 ? nullptr : range_of(address);
  if (range == nullptr) return {};
  return {.path = range->path, .offset = address - range->begin + range->offset, .script = {}};
}

void FindingLog::add_line(const char* head,
                          std::int32_t rank,
                          const char* name,
                          const CodeSite& site,
                          const std::string& text) {
  if (file_ == nullptr || count_ > finding_count_max) return;
  std::fprintf(file_.get(), "%s\t%d\t%s\t%s\t%" PRIu64 "\t%s\t%s\n", head, rank, name,
               field_of(site.path).c_str(), site.offset, field_of(site.script).c_str(),
               field_of(text).c_str());
  std::fflush(file_.get());
}

void FindingLog::add(const Finding& finding) {
  ++count_;
  add_line(finding.kind, finding.place.rank, finding.place.name, site_of(finding.place),
           finding.text);
}

void FindingLog::add_place(const CallPlace& place, const std::string& text) {
  add_line("+", place.rank, place.name, site_of(place), text);
}

void FindingLog::add_place(std::int32_t rank,
                           const char* name,
                           const CodeSite& site,
                           const std::string& text) {
  add_line("+", rank, name, site, text);
}

void FindingLog::add_outcome(std::int32_t rank, std::uint64_t decision_count, std::uint64_t hash) {
  const std::string count = std::to_string(decision_count);
  add_line("=", rank, count.c_str(), {}, std::to_string(hash));
}

}  // namespace sorrel::check
