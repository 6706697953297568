//! ProcessChoice - what `--procs auto` decides: the number of processes, up to which size messages
//! are copied at once; and the reasons as text.
//!
//! Pure, over the reports of the program and the machine. Ranks share a process wherever they can:
//! a message between them is passed by pointer, and a waiting rank leaves its core to the next
//! rank. The reasons against sharing are weighed here.
#pragma once

#include <cstdint>
#include <string>

#include "tools/sorrel/inspect/preflight.hpp"
#include "tools/sorrel/machine/kernel_features.hpp"
#include "tools/sorrel/machine/machine_probe.hpp"

namespace sorrel::tool {

struct ProcessChoice {
  std::uint64_t processes = 1;
  std::uint32_t eager_bytes = 0;
  std::string process_reason;
  std::string limit_reason;  ///< of eager_bytes
};

/// `ranks` and `cores` of the job; `ranks_per_process_max` follows from the system's limit of
/// memory maps.
struct ChoiceInput {
  std::uint64_t ranks = 1;
  std::uint64_t cores = 1;
  std::uint64_t ranks_per_process_max = 1;
};

[[nodiscard]] ProcessChoice choose_processes(const ChoiceInput& input,
                                             const ProgramReport& program,
                                             const KernelFeatures& features,
                                             const MachineProbe& probe);

/// "2 processes: …; messages up to …", one line.
[[nodiscard]] std::string describe(const ProcessChoice& choice);

}  // namespace sorrel::tool
