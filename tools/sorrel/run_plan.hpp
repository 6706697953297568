//! RunPlan - how `sorrel run` runs a program: how many ranks, processes and workers, on which cpus,
//! and what of a network, a schedule or another MPI's processes belongs to it.
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
#include "tools/sorrel/run_words.hpp"
#include "tools/sorrel/wire_words.hpp"

namespace sorrel::tool {

struct RunPlan {
  std::optional<ProcessChoice> choice;  ///< of --procs auto
  std::uint64_t ranks = 0;
  int processes = 1;
  int workers = 0;  ///< of each process
  /// Every rank is a process: the program runs as it is.
  bool in_place = false;
  /// The ranks' OpenMP threads have more cores than ranks: no rank is bound to one.
  bool has_room_for_threads = false;
  std::uint64_t stack_bytes = 0;  ///< 0: the process follows the system's limit
  std::vector<int> cpus;          ///< process by process; empty: not bound
  bool verbose = false;
  bool label = false;
  std::string share;
  std::vector<std::string> shared;  ///< libraries that ranks may share, names or paths
  bool has_comm_worker = false;
  std::optional<WireWords> wire;
  std::optional<std::uint64_t> seed;
  /// Under a host MPI, which decides about processes; ranks and workers are 0 where no number was
  /// named.
  Host host;
  bool is_bound = true;

  /// The part of `cpus` that is process `index`'s.
  [[nodiscard]] std::span<const int> cpus_of(std::uint32_t index) const {
    const auto count = cpus.empty() ? 0 : static_cast<std::size_t>(workers);
    return std::span(cpus).subspan(index * count, count);
  }
};

/// The job for this program; nothing if it complained.
[[nodiscard]] std::optional<RunPlan> make_plan(const RunWords& words,
                                               const Wanted& wanted,
                                               const Host& host,
                                               const ProgramReport& program);

}  // namespace sorrel::tool
