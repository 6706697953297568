//! ProcessChoice - what `--procs auto` decides: the number of processes, how long idle workers
//! spin, up to which size messages are copied at once; and the reasons as text.
//!
//! Pure, over the reports of the program and the machine. Ranks share a process wherever they can:
//! a message between them is passed by pointer, and a waiting rank leaves its core to the next
//! rank. The reasons against sharing are weighed here; where there is none, earlier runs decide.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tools/sorrel/inspect/preflight.hpp"
#include "tools/sorrel/machine/kernel_features.hpp"
#include "tools/sorrel/machine/machine_probe.hpp"
#include "tools/sorrel/run/form_trials.hpp"

namespace sorrel::tool {

struct ProcessChoice {
  std::uint64_t processes = 1;
  std::int64_t spin_ns = 0;
  std::uint32_t eager_bytes = 0;
  /// No rule requires several processes or forbids them: earlier runs may decide (FormTrials).
  bool is_free = false;
  std::string process_reason;
  std::string limit_reason;  ///< of spin_ns and eager_bytes
};

/// `ranks` and `cores` of the job; `ranks_per_process_max` follows from the system's limit of
/// memory maps.
struct ChoiceInput {
  std::uint64_t ranks = 1;
  std::uint64_t cores = 1;
  std::uint64_t ranks_per_process_max = 1;
  /// What earlier runs say where the choice is free.
  std::optional<FormChoice> form = std::nullopt;
};

[[nodiscard]] ProcessChoice choose_processes(const ChoiceInput& input,
                                             const ProgramReport& program,
                                             const KernelFeatures& features,
                                             const MachineProbe& probe);

/// "2 processes: …; idle workers spin …", one line.
[[nodiscard]] std::string describe(const ProcessChoice& choice);

}  // namespace sorrel::tool
