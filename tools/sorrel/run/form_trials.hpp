//! FormTrials - what earlier runs of a job have shown about its two forms, for `--procs auto`: all
//! ranks in one process, or a process for each core.
//!
//! The first runs of a job try both forms in turn; later runs use the faster one. A run is never
//! made twice: the trials are the user's own runs. The table of all jobs is one file in the user's
//! cache folder. docs/decisions/0026-trials-of-both-forms.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sorrel::tool {

enum class Form { one_process, process_per_core };

struct FormTrials {
  std::vector<double> one_process_s;  ///< the time of each whole run
  std::vector<double> process_per_core_s;
};

struct FormChoice {
  Form form = Form::one_process;
  bool is_trial = false;  ///< The run is to be timed.
  std::string reason;
};

/// The form of the next run.
[[nodiscard]] FormChoice choose_form(const FormTrials& trials);

/// The latest jobs with trials. A damaged text is read as far as it is sound.
class FormTable {
 public:
  static constexpr std::size_t job_count_max = 512;

  [[nodiscard]] static FormTable parse(const std::string& text);
  [[nodiscard]] std::string text() const;

  [[nodiscard]] FormTrials find(std::uint64_t job) const;

  /// The job becomes the latest one; beyond the limit the oldest is dropped.
  void add(std::uint64_t job, Form form, double seconds);

 private:
  std::vector<std::pair<std::uint64_t, FormTrials>> jobs_;
};

/// A number that stands for a description.
[[nodiscard]] std::uint64_t number_of(std::string_view description);

}  // namespace sorrel::tool
