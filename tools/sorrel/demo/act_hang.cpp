// Act B: a hang is found at once, and explained.

#include <algorithm>
#include <filesystem>
#include <fmt/core.h>
#include <fstream>
#include <string_view>

#include "tools/sorrel/common/child_command.hpp"
#include "tools/sorrel/common/json.hpp"
#include "tools/sorrel/common/output_files.hpp"
#include "tools/sorrel/demo/act.hpp"

namespace sorrel::tool {

namespace {

constexpr int hang_ranks = 1000;

std::string text_at(const Json& row, const char* name) {
  const auto found = row.find(name);
  if (found == row.end()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

/// The rank that waits for a message, not in a collective; null: there is none.
const Json* receiving(const Json& report) {
  for (const Json& wait : report["waits"]) {
    if (text_at(wait, "call") == "MPI_Recv") return &wait;
  }
  return nullptr;
}

/// What the report of the end says, in one line; "" if it does not say it.
std::string explanation(const Json& report) {
  if (text_at(report, "kind") != "deadlock" || !report.contains("waits")) return "";
  const Json* wait = receiving(report);
  if (wait == nullptr || !report.contains("unreceived") || report["unreceived"].empty()) return "";
  const Json& message = report["unreceived"].front();
  // "from 617 with tag 11 (4 bytes, MPI_COMM_WORLD): it waits for tag 10"
  const std::string what = text_at(message, "what");
  return fmt::format(
      "rank {} waits in {} for a message {} with tag {}, {}; the one {} matches no receive",
      text_at(*wait, "rank"), text_at(*wait, "call"), text_at(*wait, "peer"), text_at(*wait, "tag"),
      text_at(*wait, "place"), what.substr(0, what.find(" (")));
}

}  // namespace

ActResult act_hang(const DemoStage& stage) {
  const Result<std::string> folder = make_temporary_folder("demo", "demo");
  if (!folder.has_value()) return {false, folder.error()};
  const std::string file = folder.value() + "/report.json";
  ChildCommand child(
      stage.run({"-n", fmt::format("{}", hang_ranks), "--report-json", file}, "hang"), {});
  const bool has_ended = child.run_to_end(act_limit);
  std::ifstream stream(file);
  const Json report = Json::parse(stream, nullptr, false);
  std::error_code error;
  std::filesystem::remove_all(folder.value(), error);
  const std::string text = report.is_object() ? explanation(report) : "";
  if (!has_ended || text.empty())
    return {false, fmt::format("no report: the program {}",
                               has_ended ? child.text_of_end() : "still runs")};
  return {true, fmt::format("found after {:.2f} s: {}", child.seconds(), text)};
}

}  // namespace sorrel::tool
