#include "tools/sorrel/run/option_conflict.hpp"

#include <algorithm>
#include <fmt/core.h>

namespace sorrel::tool {

std::string option_conflict(const RunOptions& options,
                            const RunRequest& request,
                            const Host& host,
                            const ProgramReport& program) {
  const std::string& share = options.share;
  const bool is_not_fixed = !share.empty() && share != "fixed";
  const bool has_host = !host.name.empty();
  const std::string launcher = host.launcher.empty() ? "a host MPI" : host.launcher;
  const bool is_simulated = !options.wire.empty() || !options.seed.empty();
  const bool needs_blocks = options.balance == "steal" || options.balance == "measured";
  const bool is_checked = options.check.any();
  const bool is_saved = !options.checkpoint.empty();
  const char* simulation = options.wire.empty() ? "seed" : "wire";

  const std::vector<std::string>& shared = request.libraries.shared;
  const std::vector<std::string>& own = request.libraries.private_ones;
  const auto in_both = std::find_first_of(own.begin(), own.end(), shared.begin(), shared.end());
  const bool is_process_mode = request.procs && request.procs == request.ranks && !own.empty();

  const bool has_universe = !options.universe.empty();

  struct Row {
    bool is_given;
    bool has_opponent;
    std::string error;
  };

  const Row table[] = {
      {in_both != own.end(), true,
       fmt::format("--shared and --private exclude each other: {}",
                   in_both != own.end() ? *in_both : "")},
      {!own.empty(), !program.own_process_reason.empty(),
       fmt::format("--private needs ranks that share a process: {}", program.own_process_reason)},
      {!own.empty(), is_process_mode,
       "--private is for ranks that share a process, and with --procs as large as -n each rank is "
       "a "
       "process"},
      {options.bind == "core", is_not_fixed,
       fmt::format("--bind core requires --share fixed, not {}", share)},
      {has_universe, !program.own_process_reason.empty(),
       fmt::format("--universe needs ranks that share a process: {}", program.own_process_reason)},
      {has_universe, is_simulated,
       fmt::format("--universe and --{} exclude each other: a simulation has a fixed number of "
                   "ranks",
                   simulation)},
      {has_universe, is_saved,
       "--universe and --checkpoint exclude each other: ranks that are spawned are not saved"},
      {has_universe, options.comm_worker,
       "--universe and --comm-worker exclude each other: spawned ranks run on all workers"},
      {has_universe, options.omp, "--universe is not supported with --omp"},
      {is_saved, is_simulated,
       fmt::format("--checkpoint and --{} exclude each other: the order of a simulation is not "
                   "saved",
                   simulation)},
      {is_saved, has_host,
       fmt::format(
           "--checkpoint is not supported under {}; on one machine `sorrel run -n N --procs "
           "P --checkpoint DIR` without it is",
           launcher)},
      {is_saved, is_not_fixed, fmt::format("--checkpoint requires --share fixed, not {}", share)},
      {is_saved, options.omp, "--checkpoint and --omp exclude each other: threads are not saved"},
      {is_saved, options.comm_worker,
       "--checkpoint and --comm-worker exclude each other: tasks of graphs are not saved"},
      {is_saved, options.trace.any(),
       "--checkpoint and --trace exclude each other: a trace cannot go on after a restart"},
      {is_saved, !shared.empty(),
       "--checkpoint and --shared exclude each other: what ranks share is not saved"},
      {is_saved, !program.own_process_reason.empty(),
       fmt::format("--checkpoint needs ranks that share a process: {}",
                   program.own_process_reason)},
      {is_saved, !program.wrapper.empty(),
       fmt::format("--checkpoint needs the program itself, not {}", program.wrapper)},
      {needs_blocks, is_simulated,
       fmt::format("--balance {} and --{} exclude each other: ranks of a simulation stay on their "
                   "workers",
                   options.balance, simulation)},
      {needs_blocks, options.comm_worker,
       fmt::format("--balance {} and --comm-worker exclude each other: one worker has all ranks",
                   options.balance)},
      {needs_blocks, options.omp,
       fmt::format("--balance {} and --omp exclude each other: ranks with OpenMP threads stay on "
                   "their workers",
                   options.balance)},
      {options.comm_worker, !options.seed.empty(),
       "--comm-worker needs at least 2 workers, and --seed allows one"},
      {options.comm_worker, request.workers == 1,
       "--comm-worker needs at least 2 workers: one for messages, the rest for tasks"},
      {options.comm_worker, is_not_fixed,
       fmt::format("--comm-worker reserves a worker for messages: it requires --share fixed, not "
                   "{}",
                   share)},
      {options.comm_worker, options.omp,
       "--comm-worker and --omp exclude each other: with --omp a rank's threads run on its own "
       "worker"},
      {options.comm_worker, !program.own_process_reason.empty(),
       fmt::format("--comm-worker needs ranks that can share a process: {}",
                   program.own_process_reason)},
      {!options.junit.empty(), has_host,
       fmt::format("--junit is not supported under {}; --report-json is", launcher)},
      {options.live, has_host,
       fmt::format("--live is not supported under {}; `sorrel top` on one of its machines is",
                   launcher)},
      {options.live, request.schedules.has_value(),
       "--live and --schedules exclude each other: a page shows one run"},
      {is_checked, program.has_no_ranks(),
       fmt::format("--check observes calls of MPI, and {} makes none", program.name)},
      {options.trace.any(), program.has_no_ranks(),
       fmt::format("--trace and --profile observe calls of MPI, and {} makes none", program.name)},
      {is_checked, options.trace.any(),
       "--check and --trace or --profile exclude each other: both observe the calls of MPI"},
      {request.schedules.has_value(), has_host,
       fmt::format("--schedules needs a job of one process, but {} has started several", launcher)},
      {request.schedules.has_value(), !options.procs.empty() && request.procs != 1,
       "--schedules needs a job of one process: leave out --procs"},
      {request.schedules.has_value(), !program.own_process_reason.empty(),
       fmt::format("--schedules needs a job of one process: {}", program.own_process_reason)},
      {is_checked, request.workers.value_or(1) > 1,
       fmt::format("--check needs --workers 1, not {}", options.workers)},
      {is_checked, !options.wire.empty(),
       "--check and --wire exclude each other: simulated nodes are processes"},
      {is_checked, options.comm_worker,
       "--comm-worker needs at least 2 workers, and --check allows one"},
      {request.schedules.has_value(), !options.seed.empty(),
       "--schedules and --seed exclude each other: a schedule is a seed"},
      {is_checked, options.omp, "--check is not supported with --omp"},
      {is_simulated, !options.procs.empty(),
       fmt::format("--{} needs a job of one process: leave out --procs", simulation)},
      {is_simulated, !program.own_process_reason.empty(),
       fmt::format("--{} needs a job of one process: {}", simulation, program.own_process_reason)},
      {!options.procs.empty(), has_host,
       fmt::format("--procs is not supported under a host MPI: {} has started the processes, and "
                   "its options set their number",
                   launcher)},
      {is_simulated, has_host,
       fmt::format("--{} needs a job of one process, but {} has started several; use --host none",
                   simulation, launcher)}};
  for (const Row& row : table) {
    if (row.is_given && row.has_opponent) return row.error;
  }
  return "";
}

}  // namespace sorrel::tool
