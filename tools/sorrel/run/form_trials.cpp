#include "tools/sorrel/run/form_trials.hpp"

#include <algorithm>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <sstream>

namespace sorrel::tool {

namespace {

/// Of each form: the less of two times is nearly free of disturbances.
constexpr std::size_t trials_of_form = 2;
/// Processes must be that much faster: they take more memory.
constexpr double gain_min = 1.05;

/// Times in seconds, each finite and above 0; empty if any is not.
std::vector<double> read_times(const std::string& text) {
  std::vector<double> times;
  std::istringstream words(text);
  for (double value = 0; words >> value;) {
    if (!(value > 0 && value < 1e9)) return {};
    times.push_back(value);
  }
  return words.eof() ? times : std::vector<double>();
}

}  // namespace

FormChoice choose_form(const FormTrials& trials) {
  const std::size_t done = std::min(trials.one_process_s.size(), trials_of_form) +
                           std::min(trials.process_per_core_s.size(), trials_of_form);
  if (done < 2 * trials_of_form) {
    const bool is_one = trials.one_process_s.size() <= trials.process_per_core_s.size();
    return {
        .form = is_one ? Form::one_process : Form::process_per_core,
        .is_trial = true,
        .reason = fmt::format("run {} of {} that try both forms", done + 1, 2 * trials_of_form)};
  }
  const double one = std::ranges::min(trials.one_process_s);
  const double several = std::ranges::min(trials.process_per_core_s);
  const std::string times = fmt::format(
      "earlier runs took {:.3g} s in one process and {:.3g} s in a process for each core", one,
      several);
  if (one > gain_min * several) return {.form = Form::process_per_core, .reason = times};
  return {.form = Form::one_process, .reason = times};
}

FormTable FormTable::parse(const std::string& text) {
  FormTable table;
  std::istringstream lines(text);
  // NUMBER: TIMES; TIMES
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(": ");
    const std::size_t semicolon = line.find(';');
    if (colon == std::string::npos || semicolon == std::string::npos || semicolon < colon + 2)
      continue;
    std::istringstream number(line.substr(0, colon));
    std::uint64_t job = 0;
    if (!(number >> std::hex >> job) || !number.eof()) continue;
    table.jobs_.emplace_back(job,
                             FormTrials{read_times(line.substr(colon + 2, semicolon - colon - 2)),
                                        read_times(line.substr(semicolon + 1))});
  }
  return table;
}

std::string FormTable::text() const {
  std::string text;
  for (const auto& [job, trials] : jobs_) {
    text += fmt::format("{:x}: {:.6g}; {:.6g}\n", job, fmt::join(trials.one_process_s, " "),
                        fmt::join(trials.process_per_core_s, " "));
  }
  return text;
}

FormTrials FormTable::find(std::uint64_t job) const {
  const auto found = std::ranges::find(jobs_, job, &decltype(jobs_)::value_type::first);
  return found == jobs_.end() ? FormTrials() : found->second;
}

void FormTable::add(std::uint64_t job, Form form, double seconds) {
  FormTrials trials = find(job);
  (form == Form::one_process ? trials.one_process_s : trials.process_per_core_s).push_back(seconds);
  std::erase_if(jobs_, [&](const auto& entry) { return entry.first == job; });
  jobs_.emplace_back(job, std::move(trials));
  if (jobs_.size() > job_count_max) jobs_.erase(jobs_.begin());
}

std::uint64_t number_of(std::string_view description) {
  // FNV-1a. Two jobs with one number would share their trials: a slower form, no wrong result.
  std::uint64_t number = 0xcbf29ce484222325;
  for (const char letter : description) {
    number ^= static_cast<unsigned char>(letter);
    number *= 0x100000001b3;
  }
  return number;
}

}  // namespace sorrel::tool
