#include "check/finding_log.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/check.hpp"
#include "os/process_number.hpp"
#include "report/finding_line.hpp"

namespace sorrel::check {

namespace {

/// A run that goes wrong at every call would fill the disk.
constexpr std::uint64_t finding_count_max = 10'000;

}  // namespace

FindingLog::FindingLog(const std::string& folder) {
  const std::string path =
      folder + "/" + report::findings_file_name + std::to_string(os::process_number());
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
  SORREL_ASSERT(std::ranges::is_sorted(code_, {}, &os::CodeRange::begin),
                "%zu ranges of code are in no order", code_.size());
  return find();
}

CodeSite FindingLog::site_of(const CallPlace& place) {
  if (place.script != nullptr) return {.path = {}, .offset = 0, .script = place.script};
  const auto address = reinterpret_cast<std::uint64_t>(place.site);
  const os::CodeRange* range = address == 0 ? nullptr : range_of(address);
  if (range == nullptr) return {};
  SORREL_ASSERT(address >= range->begin && address < range->end, "0x%llx is in another range",
                static_cast<unsigned long long>(address));
  return {.path = range->path, .offset = address - range->begin + range->offset, .script = {}};
}

void FindingLog::add_line(std::string_view kind,
                          std::int32_t rank,
                          std::string_view call,
                          const CodeSite& site,
                          const std::string& text) {
  if (file_ == nullptr || count_ > finding_count_max) return;
  std::fputs(report::finding_line_text({.kind = kind,
                                        .rank = rank,
                                        .call = call,
                                        .path = site.path,
                                        .offset = site.offset,
                                        .script = site.script,
                                        .text = text})
                 .c_str(),
             file_.get());
  std::fflush(file_.get());
}

void FindingLog::add(const Finding& finding) {
  ++count_;
  add_line(finding.kind, finding.place.rank, finding.place.name, site_of(finding.place),
           finding.text);
}

void FindingLog::add_place(const CallPlace& place, const std::string& text) {
  add_line(report::related_call_kind, place.rank, place.name, site_of(place), text);
}

void FindingLog::add_place(std::int32_t rank,
                           const char* name,
                           const CodeSite& site,
                           const std::string& text) {
  add_line(report::related_call_kind, rank, name, site, text);
}

void FindingLog::add_outcome(std::int32_t rank, std::uint64_t decision_count, std::uint64_t hash) {
  add_line(report::outcome_kind, rank, std::to_string(decision_count), {}, std::to_string(hash));
}

}  // namespace sorrel::check
