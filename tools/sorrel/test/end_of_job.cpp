#include "tools/sorrel/test/end_of_job.hpp"

#include <algorithm>
#include <cstdint>
#include <fmt/core.h>
#include <optional>
#include <string_view>
#include <utility>

#include "tools/sorrel/common/json.hpp"
#include "tools/sorrel/common/numbers.hpp"

namespace sorrel::tool {

namespace {

constexpr std::size_t places_max = 8;

/// "main (hang.c:7)".
std::optional<CodePlace> place_of(std::string_view text) {
  const std::size_t open = text.find(" (");
  const std::size_t colon = text.rfind(':');
  if (open == std::string_view::npos || colon == std::string_view::npos || colon < open ||
      !text.ends_with(')'))
    return std::nullopt;
  const std::optional<std::uint64_t> line =
      parse_count(text.substr(colon + 1, text.size() - colon - 2));
  if (!line) return std::nullopt;
  return CodePlace{.function = std::string(text.substr(0, open)),
                   .file = std::string(text.substr(open + 2, colon - open - 2)),
                   .line = *line};
}

/// The calls in which ranks wait: one for each place, the first places only.
std::vector<FoundCall> waiting_calls(const Json& waits) {
  std::vector<FoundCall> calls;
  for (const Json& wait : waits) {
    const std::optional<CodePlace> place = place_of(wait.value("place", ""));
    if (!place) continue;
    const std::string name = wait.value("call", "");
    const auto known = std::ranges::find_if(calls, [&](const FoundCall& call) {
      return call.call == name && call.place.file == place->file && call.place.line == place->line;
    });
    if (known != calls.end()) {
      known->ranks.push_back(wait.value("rank", 0));
    } else if (calls.size() < places_max) {
      calls.push_back({.call = name, .place = *place, .ranks = {wait.value("rank", 0)}});
    }
  }
  return calls;
}

Found deadlock_of(std::vector<FoundCall> calls) {
  Found found{.kind = &finding_kind("deadlock"),
              .call = std::move(calls.front()),
              .text = "the ranks wait, and none of them can be released"};
  for (std::size_t i = 1; i < calls.size(); ++i)
    found.related.push_back({.call = std::move(calls[i]), .text = "waits too"});
  return found;
}

std::optional<Found> crash_of(const Json& report) {
  for (const Json& call : report.at("calls")) {
    const std::optional<CodePlace> place = place_of(call.get<std::string>());
    if (!place) continue;
    return Found{.kind = &finding_kind("crash"),
                 .call = {.call = "", .place = *place, .ranks = {report.value("rank", 0)}},
                 .text = report.value("what", "")};
  }
  return std::nullopt;
}

}  // namespace

EndOfJob end_of_job(const std::string& text) {
  EndOfJob end;
  try {
    const Json report = Json::parse(text);
    const std::string kind = report.value("kind", "");
    if (kind == "deadlock") {
      end.is_deadlock = true;
      std::vector<FoundCall> calls = waiting_calls(report.at("waits"));
      if (!calls.empty()) end.findings.push_back(deadlock_of(std::move(calls)));
    }
    if (kind == "crash") {
      if (std::optional<Found> found = crash_of(report)) end.findings.push_back(*std::move(found));
    }
  } catch (const Json::exception&) {
    // A job that was killed may have left a part of the file.
  }
  return end;
}

}  // namespace sorrel::tool
