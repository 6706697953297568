// Findings for programs: JSON, and SARIF 2.1.0.
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>

#include "tools/sorrel/check/findings.hpp"
#include "tools/sorrel/common/json.hpp"
#include "tools/sorrel/common/version.hpp"

namespace sorrel::tool {

namespace {

namespace fs = std::filesystem;

Json json_of(const FoundCall& call) {
  Json json;
  json["call"] = call.call;
  json["ranks"] = call.ranks;
  if (!call.place.file.empty()) json["file"] = call.place.file;
  if (call.place.line != 0) json["line"] = call.place.line;
  if (!call.place.function.empty()) json["function"] = call.place.function;
  return json;
}

/// Finds source files, of which debug information gives the names without folders, below the
/// current folder.
class SourceTree {
 public:
  /// The path from the current folder, if one file has the name; else the name.
  std::string path_of(const std::string& name) {
    if (!is_read_) read();
    const auto found = paths_.find(name);
    return found == paths_.end() || found->second.empty() ? name : found->second;
  }

 private:
  /// A larger tree is no source tree of one program.
  static constexpr int entry_count_max = 100'000;

  void read() {
    is_read_ = true;
    std::error_code error;
    auto entry =
        fs::recursive_directory_iterator(".", fs::directory_options::skip_permission_denied, error);
    for (int i = 0; !error && entry != fs::recursive_directory_iterator(); ++i) {
      if (i == entry_count_max) return paths_.clear();
      const std::string name = entry->path().filename();
      if (name.starts_with('.') && entry->is_directory(error)) {
        entry.disable_recursion_pending();
      } else if (entry->is_regular_file(error)) {
        const auto [at, is_first] =
            paths_.emplace(name, entry->path().lexically_normal().generic_string());
        if (!is_first) at->second.clear();
      }
      entry.increment(error);
    }
  }

  bool is_read_ = false;
  std::map<std::string, std::string> paths_;
};

FoundCall call_of(const Json& json) {
  return {.call = json.value("call", ""),
          .place = {.function = json.value("function", ""),
                    .file = json.value("file", ""),
                    .line = json.value("line", std::uint64_t{0})},
          .ranks = json.at("ranks").get<std::vector<std::int32_t>>()};
}

Found finding_of(const Json& json) {
  Found found{.kind = &finding_kind(json.at("kind").get<std::string>()),
              .call = call_of(json),
              .text = json.value("text", "")};
  for (const Json& related : json.at("related"))
    found.related.push_back({.call = call_of(related), .text = related.value("text", "")});
  if (json.contains("seeds")) found.seeds = json["seeds"].get<std::vector<std::uint64_t>>();
  return found;
}

Json sarif_location(const FoundCall& call, const std::string& text, SourceTree& sources) {
  Json location;
  Json& physical = location["physicalLocation"];
  physical["artifactLocation"]["uri"] = sources.path_of(call.place.file);
  if (call.place.line != 0) physical["region"]["startLine"] = call.place.line;
  if (!text.empty()) location["message"]["text"] = text;
  return location;
}

Json sarif_rule(const FindingKind& kind) {
  Json rule;
  rule["id"] = kind.name;
  rule["shortDescription"]["text"] = kind.rule;
  rule["help"]["text"] = std::string("MPI 5.0, section ") + kind.section + ": " + kind.rule;
  rule["defaultConfiguration"]["level"] = kind.is_error ? "error" : "warning";
  return rule;
}

}  // namespace

std::string json_of(const std::vector<Found>& findings) {
  Json list = Json::array();
  for (const Found& found : findings) {
    Json json;
    json["kind"] = found.kind->name;
    json["level"] = found.kind->is_error ? "error" : "warning";
    json.update(json_of(found.call));
    json["text"] = found.text;
    json["standard"] = {{"section", found.kind->section}, {"rule", found.kind->rule}};
    json["related"] = Json::array();
    for (const RelatedCall& related : found.related) {
      json["related"].push_back(json_of(related.call));
      json["related"].back()["text"] = related.text;
    }
    if (!found.seeds.empty()) json["seeds"] = found.seeds;
    list.push_back(std::move(json));
  }
  Json report;
  report["findings"] = std::move(list);
  return text_of(report);
}

Result<std::vector<Found>> findings_of(const std::string& json) {
  try {
    const Json list = Json::parse(json);
    std::vector<Found> findings;
    for (const Json& found : list.at("findings"))
      findings.push_back(finding_of(found));
    return findings;
  } catch (const Json::exception&) {
    return Error{"the list of findings is missing or damaged"};
  }
}

std::string sarif_of(const std::vector<Found>& findings, const std::string& tool) {
  SourceTree sources;
  Json rules = Json::array();
  std::map<std::string, std::size_t> rule_numbers;
  Json results = Json::array();
  for (const Found& found : findings) {
    const auto [rule, is_new] = rule_numbers.emplace(found.kind->name, rules.size());
    if (is_new) rules.push_back(sarif_rule(*found.kind));
    Json result;
    result["ruleId"] = found.kind->name;
    result["ruleIndex"] = rule->second;
    result["level"] = found.kind->is_error ? "error" : "warning";
    std::string text = found.call.call;
    if (!text.empty()) text += ": ";
    result["message"]["text"] = text + found.text;
    result["locations"] = Json::array();
    if (!found.call.place.file.empty())
      result["locations"].push_back(sarif_location(found.call, "", sources));
    Json related = Json::array();
    for (const RelatedCall& other : found.related) {
      if (!other.call.place.file.empty())
        related.push_back(sarif_location(other.call, other.call.call + ": " + other.text, sources));
    }
    if (!related.empty()) result["relatedLocations"] = std::move(related);
    result["properties"]["ranks"] = found.call.ranks;
    results.push_back(std::move(result));
  }
  Json run;
  Json& driver = run["tool"]["driver"];
  driver["name"] = tool;
  driver["version"] = version_text();
  driver["rules"] = std::move(rules);
  run["results"] = std::move(results);
  Json report;
  report["$schema"] = "https://json.schemastore.org/sarif-2.1.0.json";
  report["version"] = "2.1.0";
  report["runs"] = Json::array({std::move(run)});
  return text_of(report);
}

}  // namespace sorrel::tool
