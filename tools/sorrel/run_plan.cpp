#include "tools/sorrel/run_plan.hpp"

#include <algorithm>

#include "os/stack_slab.hpp"
#include "tools/sorrel/diagnostic.hpp"
#include "tools/sorrel/numbers.hpp"
#include "tools/sorrel/worker_plan.hpp"

namespace sorrel::tool {

namespace {

constexpr std::uint64_t seed_max = std::uint64_t{1} << 62;
/// All stacks of a process are in one reserved range; a process has 128 TiB of addresses.
constexpr std::uint64_t all_stacks_bytes_max = std::uint64_t{64} << 40;

/// Whether the stacks of a process, each with its guard, fit into its addresses; prints an error if
/// not.
bool do_stacks_fit(const RunPlan& plan) {
  if (plan.stack_bytes == 0 || plan.process_mode || plan.ranks == 0) return true;
  const auto processes = static_cast<std::uint64_t>(plan.processes);
  const std::uint64_t stacks = (plan.ranks + processes - 1) / processes;
  const std::uint64_t bytes_each = all_stacks_bytes_max / stacks;
  if (plan.stack_bytes <= bytes_each && os::StackSlab::pitch_of(plan.stack_bytes) <= bytes_each)
    return true;
  // The pitch of the largest stack adds this much.
  constexpr std::uint64_t unit = 2u << 20;
  constexpr std::uint64_t guard_bytes = 256u << 10;
  (void)report_error(
      "{} stacks of {} do not fit into the address space; {} ranks need --stack {} or less", stacks,
      format_size(plan.stack_bytes), plan.ranks,
      format_size((bytes_each / unit * unit - guard_bytes) >> 20 << 20));
  return false;
}

/// Whether ranks leave cores idle that the OpenMP threads of ranks in own processes could use, and
/// no option says how to run them.
bool leave_room_for_threads(const RunPlan& plan, const RunRequest& request, std::uint64_t cores) {
  return request.has_threads && request.ranks && *request.ranks < cores && !request.procs &&
         !request.workers && !request.is_auto && !plan.wire && !plan.seed;
}

/// The choice of `--procs auto` for this request.
ProcessChoice choose_by_machine(const RunRequest& request,
                                const MachineLimits& limits,
                                const ProgramReport& program) {
  const auto cores = static_cast<std::uint64_t>(default_workers(limits));
  return choose_processes({.ranks = request.ranks.value_or(request.workers.value_or(cores)),
                           .cores = cores,
                           .ranks_per_process_max = map_budget(program).ranks_max()},
                          program, read_kernel_features(), probe_machine());
}

/// Sets the number of ranks, processes, and workers in each; false after an error, which was
/// printed.
bool place_ranks(RunPlan& plan,
                 const RunRequest& request,
                 const MachineLimits& limits,
                 const ProgramReport& program) {
  const auto cores = static_cast<std::uint64_t>(default_workers(limits));
  if (request.is_auto) plan.choice = choose_by_machine(request, limits, program);
  const bool must_spread =
      !program.own_process_reason.empty() || leave_room_for_threads(plan, request, cores);
  const bool is_spread =
      request.procs.has_value() || must_spread || (plan.choice && plan.choice->processes > 1);
  const std::uint64_t processes =
      plan.choice ? plan.choice->processes
                  : request.procs.value_or(must_spread ? request.ranks.value_or(cores) : 1);
  const std::uint64_t workers =
      request.workers.value_or(std::max<std::uint64_t>(cores / processes, 1));
  plan.ranks = request.ranks.value_or(std::max(workers * processes, processes));
  if (processes > plan.ranks) {
    (void)report_error("--procs must be at most the number of ranks, {}, not {}", plan.ranks,
                       processes);
    return false;
  }
  if (must_spread && processes != plan.ranks) {
    (void)report_error("{}; every rank must be a process: --procs {}, or leave it out",
                       program.own_process_reason, plan.ranks);
    return false;
  }
  if (processes > workers_max) {
    (void)report_error("{} processes are more than {}", processes, workers_max);
    return false;
  }
  plan.processes = static_cast<int>(processes);
  // Workers without ranks are useful only beside a communication worker.
  plan.workers = static_cast<int>(plan.has_comm_worker ? std::max<std::uint64_t>(workers, 2)
                                                       : std::min(workers, plan.ranks / processes));
  plan.process_mode = is_spread && processes == plan.ranks;
  plan.has_room_for_threads = request.has_threads && plan.process_mode && plan.ranks < cores;
  if (plan.process_mode && plan.has_comm_worker) {
    (void)report_error("--comm-worker needs ranks that share a process; {}",
                       program.own_process_reason.empty() ? "here every rank is a process"
                                                          : program.own_process_reason);
    return false;
  }
  if (processes * static_cast<std::uint64_t>(plan.workers) > workers_max) {
    (void)report_error("{} processes of {} workers are more than {} workers in all", processes,
                       plan.workers, workers_max);
    return false;
  }
  return true;
}

/// Parses --wire and --seed, which need one process; false after an error, which was printed.
bool read_simulation_options(RunPlan& plan,
                             const RunOptions& options,
                             const ProgramReport& program) {
  if (!options.wire.empty()) {
    const std::string error = parse_wire(options.wire, plan.wire.emplace());
    if (!error.empty()) {
      (void)report_error("--wire: {}", error);
      return false;
    }
  }
  if (!options.seed.empty()) {
    plan.seed = parse_count(options.seed);
    if (!plan.seed || *plan.seed > seed_max) {
      (void)report_error("--seed must be a whole number from 0 to {}, not '{}'", seed_max,
                         options.seed);
      return false;
    }
  }
  const char* option = plan.wire ? "wire" : "seed";
  if (!options.procs.empty() && (plan.wire || plan.seed)) {
    (void)report_error("--{} needs a job of one process: leave out --procs", option);
    return false;
  }
  if (!program.own_process_reason.empty() && (plan.wire || plan.seed)) {
    (void)report_error("--{} needs a job of one process: {}", option, program.own_process_reason);
    return false;
  }
  // By default a seed sets the jitter too: delays of one to two latencies.
  if (plan.seed && plan.wire && !plan.wire->has_jitter)
    plan.wire->jitter_ns = plan.wire->latency_ns;
  return true;
}

/// Adapts the number of workers to --seed and --wire; false after an error, which was printed.
bool adapt_workers(RunPlan& plan, bool is_wanted) {
  if (plan.seed && plan.workers > 1) {
    if (is_wanted) {
      (void)report_error("--seed needs --workers 1, not {}", plan.workers);
      return false;
    }
    plan.workers = 1;
  }
  if (!plan.wire) return true;
  const auto nodes = static_cast<int>(plan.wire->nodes);
  if (plan.ranks < plan.wire->nodes) {
    (void)report_error("--wire: nodes must be at most the number of ranks, {}, not {}", plan.ranks,
                       nodes);
    return false;
  }
  // A communication worker serves all nodes.
  if (plan.has_comm_worker) return true;
  const auto fits = [&] { return nodes % plan.workers == 0 || plan.workers % nodes == 0; };
  if (is_wanted && !fits()) {
    (void)report_error(
        "--wire: {} nodes cannot share {} workers: one must be a multiple of the other", nodes,
        plan.workers);
    return false;
  }
  while (!fits())
    --plan.workers;
  return true;
}

/// The same under a host MPI: most of it is decided after that has started.
bool place_under_host(RunPlan& plan,
                      const RunRequest& request,
                      const MachineLimits& limits,
                      const ProgramReport& program) {
  if (request.procs || request.is_auto) {
    (void)report_error("--procs is not supported under a host MPI; {} has started the processes",
                       plan.host.launcher.empty() ? "a host MPI" : plan.host.launcher);
    return false;
  }
  if (plan.wire || plan.seed) {
    (void)report_error(
        "--{} needs a job of one process, but {} has started several; use --host none",
        plan.wire ? "wire" : "seed",
        plan.host.launcher.empty() ? "a host MPI" : plan.host.launcher);
    return false;
  }
  plan.ranks = request.ranks.value_or(0);
  plan.workers = static_cast<int>(request.workers.value_or(0));
  plan.processes = std::max(static_cast<int>(plan.host.processes), 1);
  if (plan.host.processes != 0 && plan.ranks != 0 && plan.ranks < plan.host.processes) {
    (void)report_error(
        "-n must be at least the number of processes that {} has started, {}, not {}",
        plan.host.launcher, plan.host.processes, plan.ranks);
    return false;
  }
  // Privatized images are for ranks that share a process, and only such ranks write labels.
  plan.process_mode = plan.ranks != 0 && plan.ranks == plan.host.processes && !plan.label;
  if (!program.own_process_reason.empty() && !plan.process_mode) {
    (void)report_error("{}; every rank must be a process: -n must be their number, without --label",
                       program.own_process_reason);
    return false;
  }
  plan.cpus = choose_cpus(static_cast<int>(limits.allowed_cpus.size()), limits,
                          [] { return read_topology(TopologyDetail::threads_only); });
  return true;
}

/// Whether the other options allow `--comm-worker`; prints an error if not.
bool may_have_comm_worker(const RunOptions& options, const RunRequest& request, const Host& host) {
  if (!options.seed.empty()) {
    (void)report_error("--comm-worker needs at least 2 workers, and --seed allows one");
  } else if (request.workers == 1) {
    (void)report_error(
        "--comm-worker needs at least 2 workers: one for messages, the rest for tasks");
  } else if (!options.share.empty() && options.share != "fixed") {
    (void)report_error(
        "--comm-worker reserves a worker for messages: it requires --share fixed, not {}",
        options.share);
  } else if (options.omp) {
    (void)report_error(
        "--comm-worker and --omp exclude each other: with --omp a rank's threads run on its own "
        "worker");
  } else if (!host.name.empty()) {
    (void)report_error(
        "--comm-worker is not supported under a host MPI; {} carries the messages of this job",
        host.launcher.empty() ? "a host MPI" : host.launcher);
  } else {
    return true;
  }
  return false;
}

}  // namespace

std::optional<RunPlan> make_plan(const RunOptions& options,
                                 const RunRequest& request,
                                 const Host& host,
                                 const ProgramReport& program) {
  RunPlan plan;
  plan.label = options.label;
  plan.share = options.bind == "core" ? "fixed" : options.share;
  plan.shared = request.shared;
  plan.verbose = options.verbose;
  plan.has_comm_worker = options.comm_worker;
  if (plan.has_comm_worker) {
    if (!may_have_comm_worker(options, request, host)) return std::nullopt;
    plan.share = "fixed";
  }
  plan.stack_bytes = request.stack_bytes;
  if (!read_simulation_options(plan, options, program)) return std::nullopt;
  const MachineLimits limits = read_machine_limits();
  plan.host = host;
  plan.is_bound = options.bind != "none";
  const bool is_placed = host.name.empty() ? place_ranks(plan, request, limits, program) &&
                                                 adapt_workers(plan, request.workers.has_value())
                                           : place_under_host(plan, request, limits, program);
  if (!is_placed) return std::nullopt;
  if (!do_stacks_fit(plan)) return std::nullopt;
  if (plan.has_room_for_threads && options.bind != "core") plan.is_bound = false;
  if (plan.is_bound && host.name.empty()) {
    plan.cpus = choose_cpus(plan.processes * plan.workers, limits,
                            [] { return read_topology(TopologyDetail::threads_only); });
    if (plan.cpus.empty() && options.bind == "core")
      plan.cpus = share_cpus(plan.processes * plan.workers, limits);
  }
  return plan;
}

}  // namespace sorrel::tool
