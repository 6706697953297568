//! RunPlan - how `sorrel run` runs a program: the number of ranks, processes and workers, their
//! cpus, and the settings of a simulated network, a seeded schedule or a host MPI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/sorrel/host.hpp"
#include "tools/sorrel/preflight.hpp"
#include "tools/sorrel/process_choice.hpp"
#include "tools/sorrel/run_options.hpp"
#include "tools/sorrel/wire_options.hpp"

namespace sorrel::tool {

struct RunPlan {
  std::optional<ProcessChoice> choice;  ///< of --procs auto
  std::uint64_t ranks = 0;
  int processes = 1;
  int workers = 0;  ///< of each process
  /// Process mode: every rank is a process, and the program runs unchanged.
  bool process_mode = false;
  /// There are more cores than ranks, for the ranks' OpenMP threads: ranks are not bound.
  bool has_room_for_threads = false;
  std::uint64_t stack_bytes = 0;  ///< 0: by the system's limit, read in the process
  std::vector<int> cpus;          ///< process by process; empty: not bound
  bool verbose = false;
  bool label = false;
  std::string share;
  std::vector<std::string> shared;  ///< libraries that ranks may share, names or paths
  bool has_comm_worker = false;
  std::optional<WireOptions> wire;
  std::optional<std::uint64_t> seed;
  /// Under a host MPI, which decides the number of processes; ranks and workers are 0 if no
  /// number was given.
  Host host;
  bool is_bound = true;

  /// The part of `cpus` for process `index`.
  [[nodiscard]] std::span<const int> cpus_of(std::uint32_t index) const {
    const auto count = cpus.empty() ? 0 : static_cast<std::size_t>(workers);
    return std::span(cpus).subspan(index * count, count);
  }
};

/// The plan of the job for this program; nothing after an error, which was printed.
[[nodiscard]] std::optional<RunPlan> make_plan(const RunOptions& options,
                                               const RunRequest& request,
                                               const Host& host,
                                               const ProgramReport& program);

}  // namespace sorrel::tool
