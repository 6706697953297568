#include "tools/sorrel/try/trial_table.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <string_view>

#include "base/check.hpp"
#include "base/printable.hpp"
#include "tools/sorrel/common/json.hpp"
#include "tools/sorrel/common/shell_line.hpp"

namespace sorrel::tool {

namespace {

constexpr double other_work_warned = 0.1;
constexpr std::size_t bar_width = 16;

/// Three figures.
std::string three_figures(double value) {
  const int digits = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f}", value, digits);
}

/// "1.23 s", "45.6 ms".
std::string time_text(double seconds) {
  if (seconds < 0.9995) return three_figures(seconds * 1e3) + " ms";
  return three_figures(seconds) + " s";
}

const Trial* baseline_of(const TrialSummary& summary, std::span<const Trial> trials) {
  return summary.verdict.baseline == Verdict::none ? nullptr : &trials[summary.verdict.baseline];
}

/// The baseline's time / the trial's; 0 without one.
double gain_of(const TrialSummary& summary, std::span<const Trial> trials, const Trial& trial) {
  const Trial* baseline = baseline_of(summary, trials);
  if (baseline == nullptr || trial.seconds.empty()) return 0;
  return baseline->summary().mean / trial.summary().mean;
}

/// Why the trial has no times to compare, or "".
std::string note_on(const Trial& trial) {
  if (!trial.failure.empty()) return trial.failure;
  if (!trial.difference.empty()) return "other output: " + trial.difference;
  return "";
}

std::string deviation_text(const Summary& summary) {
  return summary.count < 2 ? "" : time_text(summary.deviation);
}

std::string mean_text(const Trial& trial) {
  return trial.seconds.empty() ? "-" : time_text(trial.summary().mean);
}

std::string bar(double share) {
  const auto cells = static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * bar_width));
  std::string text;
  for (std::size_t cell = 0; cell < std::max<std::size_t>(cells, 1); ++cell)
    text += "█";
  return text;
}

double longest_mean(std::span<const Trial> trials) {
  double longest = 0;
  for (const Trial& trial : trials) {
    if (trial.is_comparable()) longest = std::max(longest, trial.summary().mean);
  }
  return longest;
}

/// Its colour: green for the trial to use, blue for the rest of Sorrel, yellow for other MPIs.
std::string_view colour_of(bool is_best, const Trial& trial) {
  if (is_best) return "\033[32m";
  return trial.setup.is_sorrel ? "\033[34m" : "\033[33m";
}

std::string terminal_row(const TrialSummary& summary,
                         std::span<const Trial> trials,
                         std::size_t index,
                         std::size_t width,
                         bool has_colours) {
  SORREL_ASSERT(index < trials.size(), "row %zu of %zu", index, trials.size());
  const Trial& trial = trials[index];
  const bool is_best =
      summary.verdict.kind == Verdict::Kind::helps && index == summary.verdict.best;
  std::string row = fmt::format("{} {:<{}}", is_best ? '*' : ' ', trial.setup.label, width);
  if (const std::string note = note_on(trial); !note.empty())
    return fmt::format("{}  {}\n", row, printable(note));
  const Summary times = trial.summary();
  row += fmt::format("  {:>8}  {:>8}  {:>4}  {:>5.2f}", mean_text(trial), deviation_text(times),
                     times.count, gain_of(summary, trials, trial));
  const std::string cells = bar(times.mean / longest_mean(trials));
  if (!has_colours) return fmt::format("{}  {}\n", row, cells);
  return fmt::format("{}  {}{}\033[0m\n", row, colour_of(is_best, trial), cells);
}

std::string csv_text(const std::string& text) {
  std::string quoted = "\"";
  for (const char letter : text) {
    if (letter == '"') quoted += '"';
    quoted += letter;
  }
  return quoted + "\"";
}

std::string_view kind_name(Verdict::Kind kind) {
  switch (kind) {
    case Verdict::Kind::helps:
      return "helps";
    case Verdict::Kind::does_not_help:
      return "does not help";
    case Verdict::Kind::is_not_sure:
      return "not sure";
    default:
      return "cannot compare";
  }
}

Json json_of(const Trial& trial, double gain) {
  const Summary times = trial.summary();
  Json row;
  row["command"] = trial.setup.command;
  row["environment"] = trial.setup.environment;
  row["ranks"] = trial.setup.ranks;
  row["seconds"] = trial.seconds;
  row["mean"] = times.count == 0 ? Json() : Json(times.mean);
  row["deviation"] = times.count < 2 ? Json() : Json(times.deviation);
  row["outliers"] = times.outliers;
  row["gain"] = gain == 0 ? Json() : Json(gain);
  row["other_work"] = trial.other_work;
  row["failure"] = trial.failure;
  row["difference"] = trial.difference;
  return row;
}

}  // namespace

std::vector<std::string> warnings_on(std::span<const Trial> trials, std::size_t unsteady_count) {
  std::vector<std::string> warnings;
  double other_work = 0;
  std::size_t differing = 0;
  for (const Trial& trial : trials) {
    other_work = std::max(other_work, trial.other_work);
    if (!trial.difference.empty()) ++differing;
    const Summary times = trial.summary();
    if (times.outliers > 0)
      warnings.push_back(fmt::format("{} of {} runs of `{}` took {} to {}: outliers",
                                     times.outliers, times.count, trial.setup.label,
                                     time_text(times.least), time_text(times.most)));
  }
  if (other_work > other_work_warned)
    warnings.push_back(
        fmt::format("other programs took up to {:.0f} % of the cores: compare ratios, not times",
                    100 * other_work));
  if (differing > 0)
    warnings.push_back(fmt::format(
        "{} of {} commands print other results; lines that are no results: --ignore REGEX",
        differing, trials.size()));
  if (unsteady_count > 0)
    warnings.push_back(
        fmt::format("{} numbers or lines of the output differ from run to run of one command, and "
                    "were not compared",
                    unsteady_count));
  return warnings;
}

std::string terminal_table(const TrialSummary& summary,
                           std::span<const Trial> trials,
                           bool has_colours) {
  std::size_t width = 0;
  for (const Trial& trial : trials)
    width = std::max(width, trial.setup.label.size());
  std::string text =
      fmt::format("{}: {} runs in {:.0f} s on {}\n\n", printable(shell_line(summary.program)),
                  summary.run_count, summary.elapsed_s, summary.machine);
  text += fmt::format("  {:<{}}  {:>8}  {:>8}  {:>4}  {:>5}\n", "", width, "mean", "spread", "runs",
                      "gain");
  for (std::size_t i = 0; i < trials.size(); ++i)
    text += terminal_row(summary, trials, i, width, has_colours);
  text += '\n';
  for (const std::string& warning : summary.warnings)
    text += fmt::format("Warning: {}\n", warning);
  return text;
}

std::string markdown_table(const TrialSummary& summary, std::span<const Trial> trials) {
  std::string text =
      "| Command | Ranks | Mean | Spread | Runs | Gain |\n|---|--:|--:|--:|--:|--:|\n";
  for (const Trial& trial : trials) {
    const Summary times = trial.summary();
    const std::string note = note_on(trial);
    std::string label = printable(note.empty() ? "" : ": " + note);
    for (std::size_t at = 0; (at = label.find('|', at)) != std::string::npos; at += 2)
      label.insert(at, 1, '\\');
    const double gain = note.empty() ? gain_of(summary, trials, trial) : 0;
    text += fmt::format("| `{}`{} | {} | {} | {} | {} | {} |\n", trial.setup.label, label,
                        trial.setup.ranks, mean_text(trial), deviation_text(times), times.count,
                        gain == 0 ? "-" : fmt::format("{:.2f}", gain));
  }
  text += fmt::format("\n{}\n", summary.sentence);
  for (const std::string& warning : summary.warnings)
    text += fmt::format("\nWarning: {}\n", warning);
  return text;
}

std::string csv_table(const TrialSummary& summary, std::span<const Trial> trials) {
  std::string text = "command,ranks,mean,deviation,least,most,runs,gain,other_work,note\n";
  for (const Trial& trial : trials) {
    const Summary times = trial.summary();
    text += fmt::format(
        "{},{},{},{},{},{},{},{},{:.3f},{}\n", csv_text(shell_line(trial.setup.command)),
        trial.setup.ranks, times.mean, times.deviation, times.least, times.most, times.count,
        gain_of(summary, trials, trial), trial.other_work, csv_text(printable(note_on(trial))));
  }
  return text;
}

std::string json_table(const TrialSummary& summary, std::span<const Trial> trials) {
  Json json;
  json["version"] = 1;
  json["program"] = summary.program;
  json["machine"] = summary.machine;
  json["cores"] = summary.cores;
  json["elapsed"] = summary.elapsed_s;
  json["is_sure"] = summary.is_sure;
  json["verdict"] = kind_name(summary.verdict.kind);
  json["sentence"] = summary.sentence;
  json["gain"] = summary.verdict.best == Verdict::none
                     ? Json()
                     : Json({{"value", summary.verdict.gain.value},
                             {"low", summary.verdict.gain.low},
                             {"high", std::isfinite(summary.verdict.gain.high)
                                          ? Json(summary.verdict.gain.high)
                                          : Json()}});
  json["warnings"] = summary.warnings;
  json["trials"] = Json::array();
  for (const Trial& trial : trials)
    json["trials"].push_back(json_of(trial, gain_of(summary, trials, trial)));
  return text_of(json) + "\n";
}

}  // namespace sorrel::tool
