//! Trial - the part of one run in the trials of its job (FormTrials): which form it has, and the
//! time that it adds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tools/sorrel/common/command.hpp"
#include "tools/sorrel/inspect/preflight.hpp"
#include "tools/sorrel/run/form_trials.hpp"
#include "tools/sorrel/run/run_options.hpp"
#include "tools/sorrel/run/run_plan.hpp"

namespace sorrel::tool {

struct Trial {
  std::string path;  ///< of the table
  std::uint64_t job = 0;
  FormChoice choice;

  /// After a run that ended well: adds it to the table, unless other work has disturbed it.
  void keep(double seconds, double other_work) const;
};

/// That of a run with `--procs auto`; nothing if an option or the program needs one form, or there
/// is no cache folder. `words`: the program and its arguments.
[[nodiscard]] std::optional<Trial> find_trial(const RunPlan& plan,
                                              const RunOptions& options,
                                              const RunRequest& request,
                                              const ProgramReport& program,
                                              Arguments words);

}  // namespace sorrel::tool
