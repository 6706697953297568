#include "tools/sorrel/check/findings.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/core.h>
#include <fstream>
#include <functional>
#include <optional>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/hash.hpp"
#include "base/printable.hpp"
#include "report/finding_line.hpp"
#include "report/wait_groups.hpp"

namespace sorrel::tool {

namespace {

constexpr std::size_t rank_runs_max = 4;

FoundCall call_of(const report::FindingLine& line, CodeFiles& files) {
  FoundCall call{.call = std::string(line.call), .place = {}, .ranks = {line.rank}};
  if (!line.script.empty()) {
    call.place = code_place_of(line.script);
  } else if (!line.path.empty()) {
    call.place = files.of(std::string(line.path), line.offset);
  }
  return call;
}

auto key_of(const FoundCall& call) {
  return std::tie(call.call, call.place.file, call.place.line, call.place.function);
}

bool is_alike(const Found& a, const Found& b) {
  if (a.kind != b.kind || key_of(a.call) != key_of(b.call)) return false;
  return std::ranges::equal(a.related, b.related, [](const auto& x, const auto& y) {
    return key_of(x.call) == key_of(y.call);
  });
}

void add_ranks(FoundCall& to, const FoundCall& from) {
  for (const std::int32_t rank : from.ranks) {
    const auto at = std::ranges::lower_bound(to.ranks, rank);
    if (at == to.ranks.end() || *at != rank) to.ranks.insert(at, rank);
  }
}

}  // namespace

void add_finding(std::vector<Found>& findings, Found found) {
  const auto same =
      std::ranges::find_if(findings, [&](const Found& other) { return is_alike(other, found); });
  if (same == findings.end()) {
    findings.push_back(std::move(found));
    return;
  }
  add_ranks(same->call, found.call);
  for (std::size_t i = 0; i < found.related.size(); ++i)
    add_ranks(same->related[i].call, found.related[i].call);
  same->seeds.insert(same->seeds.end(), found.seeds.begin(), found.seeds.end());
}

namespace {

std::string place_text(const FoundCall& call) {
  const CodePlace& place = call.place;
  if (place.file.empty()) return "";
  if (place.line == 0)
    return place.function.empty() ? place.file
                                  : fmt::format("{} in {}", place.function, place.file);
  return fmt::format("{}:{}", place.file, place.line);
}

std::string ranks_text(const FoundCall& call) {
  if (call.ranks.empty()) return "all ranks";
  return fmt::format("rank {}", report::text_of_ranks(call.ranks, rank_runs_max));
}

/// Reads the findings of one process. Lines that are damaged or cut off are left out.
void read_part(const std::filesystem::path& part, CheckedRun& run, CodeFiles& files) {
  std::ifstream file(part);
  std::optional<Found> current;
  std::string text;
  const auto finish = [&] {
    if (current) add_finding(run.findings, *std::move(current));
    current.reset();
  };
  while (std::getline(file, text)) {
    const std::optional<report::FindingLine> line = report::parse_finding_line(text);
    if (!line) continue;
    if (line->kind == report::outcome_kind) {
      run.has_decisions = run.has_decisions || line->call != "0";
      // In any order of the ranks.
      run.outcome += hash_of(line->text, hash_of(std::to_string(line->rank)));
    } else if (line->kind == report::related_call_kind) {
      if (current)
        current->related.push_back({.call = call_of(*line, files), .text = printable(line->text)});
    } else {
      finish();
      current = Found{.kind = &finding_kind(line->kind),
                      .call = call_of(*line, files),
                      .text = printable(line->text)};
    }
  }
  finish();
}

}  // namespace

Result<CheckedRun> read_checked_run(const std::string& folder) {
  CheckedRun run;
  CodeFiles files;
  std::error_code error;
  std::vector<std::filesystem::path> parts;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().filename().string().starts_with(report::findings_file_name))
      parts.push_back(entry.path());
  }
  if (parts.empty()) return Error{fmt::format("no process has written into {}", folder)};
  // The first process comes first.
  std::ranges::sort(parts, std::less{}, [](const std::filesystem::path& part) {
    const std::string name = part.filename().string();
    return std::pair(name.size(), name);
  });
  for (const std::filesystem::path& part : parts)
    read_part(part, run, files);
  return run;
}

std::string text_of(const std::vector<Found>& findings) {
  std::string text;
  for (const Found& found : findings) {
    const std::string place = place_text(found.call);
    text += fmt::format("{}{}: {}{} [{}]\n    {}\n", place.empty() ? "" : place + ": ",
                        found.kind->is_error ? "error" : "warning", ranks_text(found.call),
                        found.call.call.empty() ? "" : ": " + found.call.call, found.kind->name,
                        found.text);
    for (const RelatedCall& related : found.related) {
      const std::string there = place_text(related.call);
      text += fmt::format("    {}: {}{}{}\n", ranks_text(related.call), related.call.call,
                          there.empty() ? "" : " at " + there,
                          related.text.empty() ? "" : ", " + related.text);
    }
    if (*found.kind->section != '\0')
      text += fmt::format("    MPI 5.0, {}: {}\n", found.kind->section, found.kind->rule);
  }
  return text;
}

}  // namespace sorrel::tool
