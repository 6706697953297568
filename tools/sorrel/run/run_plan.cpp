#include "tools/sorrel/run/run_plan.hpp"

#include <algorithm>
#include <fmt/core.h>
#include <sys/resource.h>
#include <utility>

#include "base/check.hpp"
#include "os/stack_slab.hpp"
#include "tools/sorrel/common/numbers.hpp"
#include "tools/sorrel/machine/worker_plan.hpp"
#include "tools/sorrel/run/option_conflict.hpp"
#include "tools/sorrel/run/part_plan.hpp"
#include "tools/sorrel/run/wire_options.hpp"

namespace sorrel::tool {

namespace {

constexpr std::uint64_t seed_max = std::uint64_t{1} << 62;
/// All stacks of a process are in one reserved range; a process has 128 TiB of addresses.
constexpr std::uint64_t all_stacks_bytes_max = std::uint64_t{64} << 40;

// Each of these returns an error, or "".

/// The stacks of a process, each with its guard, must fit into its addresses.
std::string check_stacks(const launch::JobSpec& job) {
  if (job.stack_bytes == 0 || job.process_mode || job.rank_count == 0) return "";
  const auto ranks = static_cast<std::uint64_t>(job.rank_count);
  const std::uint64_t stacks =
      std::max<std::uint64_t>((ranks + job.process_count - 1) / job.process_count, 1);
  const std::uint64_t bytes_each = all_stacks_bytes_max / stacks;
  if (job.stack_bytes <= bytes_each && os::StackSlab::pitch_of(job.stack_bytes) <= bytes_each)
    return "";
  // The pitch of the largest stack adds this much.
  constexpr std::uint64_t unit = 2u << 20;
  constexpr std::uint64_t guard_bytes = 256u << 10;
  return fmt::format(
      "{} stacks of {} do not fit into the address space; {} ranks need --stack {} or less", stacks,
      format_size(job.stack_bytes), job.rank_count,
      format_size((bytes_each / unit * unit - guard_bytes) >> 20 << 20));
}

/// Whether ranks leave cores idle that the OpenMP threads of ranks in own processes could use, and
/// no option says how to run them.
bool leave_room_for_threads(const RunPlan& plan, const RunRequest& request, std::uint64_t cores) {
  return request.has_threads && request.ranks && *request.ranks < cores && !request.procs &&
         !request.workers && !request.is_auto && !plan.job.wire && !plan.job.seed;
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

/// Whether a job that could spawn ranks can have places for them.
bool can_have_universe(const RunOptions& options, const Host& host, const ProgramReport& program) {
  RunOptions wanted = options;
  wanted.universe = "1";
  return option_conflict(wanted, {}, host, program).empty();
}

/// Places for ranks: more addresses than this would leave each less for its heap.
constexpr std::uint64_t usual_universe = 1024;
/// Size of the addresses in which stacks lie side by side.
constexpr std::uint64_t universe_stacks_bytes_max = std::uint64_t{1} << 39;

/// As far as the addresses of a process allow.
std::uint64_t usual_universe_of(std::uint64_t ranks,
                                const RunRequest& request,
                                const ProgramReport& program) {
  const std::uint64_t fitting = std::min<std::uint64_t>(
      map_budget(program).ranks_max(), request.stack_bytes == 0
                                           ? universe_stacks_bytes_max
                                           : universe_stacks_bytes_max / request.stack_bytes);
  return std::min(std::max(usual_universe, 2 * ranks), fitting);
}

/// The number of ranks that can exist at a time, where `ranks` begin; 0: no more than these.
std::uint64_t universe_of(std::uint64_t ranks,
                          const RunOptions& options,
                          const RunRequest& request,
                          const Host& host,
                          const ProgramReport& program) {
  if (request.universe) return *request.universe;
  rlimit addresses{};
  const bool are_addresses_limited =
      ::getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY;
  if (program.spawn_functions.empty() || are_addresses_limited ||
      !can_have_universe(options, host, program))
    return 0;
  return usual_universe_of(ranks, request, program);
}

/// Whether `ranks` can be divided among so many processes.
std::string process_error(std::uint64_t processes,
                          std::uint64_t ranks,
                          bool must_spread,
                          const ProgramReport& program) {
  if (processes > ranks)
    return fmt::format("--procs must be at most the number of ranks, {}, not {}", ranks, processes);
  if (must_spread && processes != ranks) {
    return fmt::format("{}; every rank must be a process: --procs {}, or leave it out",
                       program.own_process_reason, ranks);
  }
  if (processes > workers_max)
    return fmt::format("{} processes are more than {}", processes, workers_max);
  return "";
}

/// Workers without ranks are useful only beside a communication worker.
std::uint64_t useful_workers(std::uint64_t workers, std::uint64_t ranks_max, bool has_comm_worker) {
  return has_comm_worker ? std::max<std::uint64_t>(workers, 2) : std::min(workers, ranks_max);
}

/// Sets the number of ranks, processes, and workers in each.
std::string place_ranks(RunPlan& plan,
                        const RunOptions& options,
                        const RunRequest& request,
                        const MachineLimits& limits,
                        const ProgramReport& program) {
  const auto cores = static_cast<std::uint64_t>(default_workers(limits));
  launch::JobSpec& job = plan.job;
  if (request.is_auto && !program.has_no_ranks()) {
    plan.choice = choose_by_machine(request, limits, program);
    job.eager_bytes_max = plan.choice->eager_bytes;
  }
  const bool must_spread =
      !program.own_process_reason.empty() ||
      (!program.has_no_ranks() && leave_room_for_threads(plan, request, cores));
  const bool is_spread =
      request.procs.has_value() || must_spread || (plan.choice && plan.choice->processes > 1);
  const std::uint64_t processes =
      plan.choice ? plan.choice->processes
                  : request.procs.value_or(must_spread ? request.ranks.value_or(cores) : 1);
  const std::uint64_t workers =
      request.workers.value_or(std::max<std::uint64_t>(cores / processes, 1));
  const std::uint64_t ranks = request.ranks.value_or(std::max(workers * processes, processes));
  if (std::string error = process_error(processes, ranks, must_spread, program); !error.empty())
    return error;
  // By default, ranks that can have a process each have one, and no places for further ones.
  const bool may_have_universe =
      !must_spread && (request.universe || processes == 1 || processes < ranks);
  const std::uint64_t universe =
      may_have_universe ? universe_of(ranks, options, request, plan.host, program) : 0;
  if (request.universe && universe < ranks)
    return fmt::format("--universe must be at least the number of ranks, {}, not {}", ranks,
                       universe);
  if (universe > ranks) job.universe_size = static_cast<std::int32_t>(universe);
  job.rank_count = static_cast<std::int32_t>(ranks);
  job.process_count = static_cast<std::uint32_t>(processes);
  job.worker_count = static_cast<std::uint32_t>(
      useful_workers(workers, std::max(ranks, universe) / processes, job.has_comm_worker));
  // The threads of a program that runs as it is are none of the job's workers.
  job.process_mode = is_spread && processes == ranks && !job.has_comm_worker && universe <= ranks;
  plan.has_room_for_threads = request.has_threads && job.process_mode && ranks < cores;
  SORREL_ASSERT(job.process_count >= 1 && job.worker_count >= 1 && ranks >= processes,
                "%llu ranks in %u processes of %u workers", static_cast<unsigned long long>(ranks),
                job.process_count, job.worker_count);
  if (processes * job.worker_count > workers_max)
    return fmt::format("{} processes of {} workers are more than {} workers in all", processes,
                       job.worker_count, workers_max);
  return "";
}

/// Parses --wire and --seed.
std::string read_simulation_options(launch::JobSpec& job, const RunOptions& options) {
  WireOptions wire;
  if (!options.wire.empty()) {
    const std::string error = parse_wire(options.wire, wire);
    if (!error.empty()) return "--wire: " + error;
    job.wire = wire;
  }
  if (options.seed.empty()) return "";
  job.seed = parse_count(options.seed);
  if (!job.seed || *job.seed > seed_max)
    return fmt::format("--seed must be a whole number from 0 to {}, not '{}'", seed_max,
                       options.seed);
  if (!job.wire) return "";
  job.wire->seed = *job.seed;
  // By default a seed sets the jitter too: delays of one to two latencies.
  if (!wire.has_jitter) job.wire->jitter_ns = wire.latency_ns;
  return "";
}

/// Adapts the number of workers to --seed, --check and --wire.
std::string adapt_workers(launch::JobSpec& job, bool is_wanted, bool is_checked) {
  if (job.seed && job.worker_count > 1) {
    if (is_wanted) return fmt::format("--seed needs --workers 1, not {}", job.worker_count);
    job.worker_count = 1;
  }
  if (is_checked) job.worker_count = 1;
  if (!job.wire) return "";
  const std::uint32_t nodes = job.wire->node_count;
  if (static_cast<std::uint32_t>(job.rank_count) < nodes)
    return fmt::format("--wire: nodes must be at most the number of ranks, {}, not {}",
                       job.rank_count, nodes);
  // A communication worker serves all nodes.
  if (job.has_comm_worker) return "";
  const auto fits = [&] { return nodes % job.worker_count == 0 || job.worker_count % nodes == 0; };
  if (is_wanted && !fits())
    return fmt::format(
        "--wire: {} nodes cannot share {} workers: one must be a multiple of the other", nodes,
        job.worker_count);
  while (!fits())
    --job.worker_count;
  return "";
}

/// Places a job under a host MPI: most of it is decided after that has started.
std::string place_under_host(RunPlan& plan,
                             const RunRequest& request,
                             const MachineLimits& limits,
                             const ProgramReport& program,
                             bool is_checked) {
  launch::JobSpec& job = plan.job;
  const std::uint64_t ranks = request.ranks.value_or(0);
  job.rank_count = static_cast<std::int32_t>(ranks);
  job.worker_count = is_checked ? 1 : static_cast<std::uint32_t>(request.workers.value_or(0));
  job.process_count = std::max(plan.host.processes, 1u);
  if (request.universe) {
    if (*request.universe < ranks || ranks == 0) {
      return fmt::format("--universe requires -n under {}, and must not be less",
                         plan.host.launcher.empty() ? "a host MPI" : plan.host.launcher);
    }
    if (*request.universe > ranks) job.universe_size = static_cast<std::int32_t>(*request.universe);
  }
  if (plan.host.processes != 0 && ranks != 0 && ranks < plan.host.processes)
    return fmt::format(
        "-n must be at least the number of processes that {} has started, {}, not {}",
        plan.host.launcher, plan.host.processes, ranks);
  // Privatized images are for ranks that share a process; only such ranks write labels and have
  // workers beside them.
  job.process_mode = ranks != 0 && ranks == plan.host.processes && !job.has_rank_labels &&
                     !job.has_comm_worker && job.universe_size == 0;
  if (!program.own_process_reason.empty() && !job.process_mode) {
    return fmt::format("{}; every rank must be a process: -n must be their number, without --label",
                       program.own_process_reason);
  }
  plan.cpus = choose_cpus(static_cast<int>(limits.allowed_cpus.size()), limits,
                          [] { return read_topology(TopologyDetail::threads_only); });
  return "";
}

/// What the options say, whatever the programs are.
RunPlan plan_of_options(const RunOptions& options, const RunRequest& request, const Host& host) {
  RunPlan plan;
  launch::JobSpec& job = plan.job;
  job.has_rank_labels = options.label;
  job.shared_libraries = request.libraries.shared;
  job.is_verbose = options.verbose;
  job.balance = request.balance;
  job.has_comm_worker = options.comm_worker;
  job.stack_bytes = request.stack_bytes;
  job.is_unbound = options.bind == "none";
  const bool is_fixed =
      options.bind == "core" || options.comm_worker || !options.checkpoint.empty();
  plan.is_count_requested = request.ranks.has_value();
  plan.share = is_fixed ? "fixed" : options.share;
  plan.host = host;
  return plan;
}

/// Whether ranks change their process, too: where what they have can be taken there. Under a host
/// MPI the library knows how many processes and ranks there are.
bool moves_between(const launch::JobSpec& job,
                   const RunOptions& options,
                   const RunRequest& request,
                   const Host& host,
                   const ProgramReport& program) {
  const bool has_several = !host.name.empty() || job.process_count > 1;
  return job.balance == launch::Balance::measured && has_several && !job.process_mode &&
         !options.check.any() && job.rank_count <= launch::moving_rank_count_max &&
         !options.trace.any() && request.libraries.shared.empty() && program.wrapper.empty() &&
         job.universe_size == 0;
}

void bind_workers(RunPlan& plan, const RunOptions& options, const MachineLimits& limits) {
  if (plan.job.is_unbound) return;
  const launch::ProcessShare last = launch::shares_of(plan.job).back();
  const auto workers = static_cast<int>(last.first_worker + last.worker_count);
  plan.cpus =
      choose_cpus(workers, limits, [] { return read_topology(TopologyDetail::threads_only); });
  if (plan.cpus.empty() && options.bind == "core") plan.cpus = share_cpus(workers, limits);
  SORREL_ASSERT(plan.cpus.empty() || plan.cpus.size() == static_cast<std::size_t>(workers),
                "%zu cores of %d workers", plan.cpus.size(), workers);
}

/// Options that a job of several programs cannot have.
std::string conflict_of_several(const RunOptions& options, const Host& host) {
  const auto needs_one = [](const char* option) {
    return fmt::format("{} is for a job of one program, and ':' starts several", option);
  };
  if (!options.checkpoint.empty()) return needs_one("--checkpoint");
  if (!options.wire.empty()) return needs_one("--wire");
  if (options.check.any()) return needs_one("--check");
  if (!options.seed.empty()) return needs_one("--seed");
  if (options.comm_worker) return needs_one("--comm-worker");
  if (options.procs == "auto") return needs_one("--procs auto");
  if (!host.name.empty()) {
    return fmt::format(
        "several programs (':') are not supported under a host MPI ({}); --host none "
        "runs a job of its own in each process",
        host.launcher.empty() ? host.name : host.launcher);
  }
  return "";
}

/// Places for ranks in a job of several programs: if one of them waits for such ranks, or
/// `--universe` says so. Returns an error, or "".
std::string give_universe(RunPlan& plan,
                          std::span<const RunRequest> requests,
                          std::span<const ProgramReport> programs) {
  launch::JobSpec& job = plan.job;
  const auto ranks = static_cast<std::uint64_t>(job.rank_count);
  std::uint64_t universe = requests.front().universe.value_or(0);
  for (std::size_t i = 0; i < programs.size(); ++i) {
    if (job.parts[i].rank_count != 0) continue;
    if (programs[i].has_no_ranks()) {
      return fmt::format("{} uses no MPI: -n 0 is for a program of which others spawn ranks",
                         programs[i].name);
    }
    if (!programs[i].own_process_reason.empty()) {
      return fmt::format("{}; -n 0 is for a program whose ranks share a process",
                         programs[i].own_process_reason);
    }
    const std::uint64_t usual = usual_universe_of(ranks, requests[i], programs[i]);
    if (!requests.front().universe) universe = universe == 0 ? usual : std::min(universe, usual);
  }
  if (universe == 0) return "";
  if (universe < ranks) {
    return fmt::format("--universe must be at least the number of ranks, {}, not {}", ranks,
                       universe);
  }
  for (std::size_t i = 0; i < programs.size(); ++i) {
    if (plan.process_modes[i]) {
      return fmt::format(
          "{} has a process for each rank, and a job with places for further ranks (-n 0, "
          "--universe) needs ranks that share a process: {}",
          programs[i].name,
          programs[i].own_process_reason.empty() ? "give fewer --procs"
                                                 : programs[i].own_process_reason);
    }
  }
  if (universe > ranks) job.universe_size = static_cast<std::int32_t>(universe);
  return "";
}

}  // namespace

launch::JobSpec RunPlan::job_of(std::uint32_t index, const launch::ProcessShare& process) const {
  SORREL_ASSERT(index < job.process_count, "process %u of %u", index, job.process_count);
  SORREL_ASSERT(cpus.empty() || process.first_worker + process.worker_count <= cpus.size(),
                "workers %u to %u of %zu", process.first_worker,
                process.first_worker + process.worker_count, cpus.size());
  launch::JobSpec own = job;
  own.own_process = index;
  own.worker_count = process.worker_count;
  if (!job.parts.empty()) own.process_mode = process_modes[process.part];
  if (!cpus.empty()) {
    const std::span<const int> mine =
        std::span(cpus).subspan(process.first_worker, process.worker_count);
    own.cpus.assign(mine.begin(), mine.end());
  }
  return own;
}

Result<RunPlan> make_plan(const RunOptions& options,
                          const RunRequest& request,
                          const Host& host,
                          const ProgramReport& program) {
  std::string error = option_conflict(options, request, host, program);
  if (!error.empty()) return Error{error};
  RunPlan plan = plan_of_options(options, request, host);
  launch::JobSpec& job = plan.job;
  error = read_simulation_options(job, options);
  const MachineLimits limits = read_machine_limits();
  if (error.empty()) {
    error = host.name.empty()
                ? place_ranks(plan, options, request, limits, program)
                : place_under_host(plan, request, limits, program, options.check.any());
  }
  if (error.empty() && host.name.empty())
    error = adapt_workers(job, request.workers.has_value(), options.check.any());
  if (error.empty()) error = check_stacks(job);
  if (!error.empty()) return Error{error};
  if (plan.has_room_for_threads && options.bind != "core") job.is_unbound = true;
  if (host.name.empty()) bind_workers(plan, options, limits);
  job.moves_between = moves_between(job, options, request, host, program);
  return plan;
}

Result<RunPlan> make_plan(const RunOptions& options,
                          std::span<const RunRequest> requests,
                          const Host& host,
                          std::span<const ProgramReport> programs) {
  if (std::string error = conflict_of_several(options, host); !error.empty()) return Error{error};
  const MachineLimits limits = read_machine_limits();
  const PartLimits part_limits{.cores = static_cast<std::uint64_t>(default_workers(limits)),
                               .processes = requests.front().procs,
                               .workers = requests.front().workers};
  std::vector<PartRequest> wanted;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    if (std::string error = option_conflict(options, requests[i], host, programs[i]);
        !error.empty())
      return Error{error};
    wanted.push_back(
        {.ranks = *requests[i].ranks, .must_spread = !programs[i].own_process_reason.empty()});
  }
  Result<std::vector<launch::PartSpec>> parts = plan_parts(wanted, part_limits);
  if (!parts.has_value()) return Error{parts.error()};
  RunPlan plan = plan_of_options(options, requests.front(), host);
  launch::JobSpec& job = plan.job;
  job.rank_count = 0;
  job.process_count = 0;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const launch::PartSpec& part = parts.value()[i];
    plan.process_modes.push_back(is_process_mode(part, wanted[i], part_limits));
    launch::JobSpec own = job;
    own.rank_count = part.rank_count;
    own.process_count = part.process_count;
    own.process_mode = plan.process_modes.back();
    if (std::string error = check_stacks(own); !error.empty()) return Error{error};
    job.rank_count += part.rank_count;
    job.process_count += part.process_count;
  }
  job.parts = std::move(parts).value();
  SORREL_ASSERT(job.parts.size() == plan.process_modes.size(), "%zu parts, %zu modes",
                job.parts.size(), plan.process_modes.size());
  if (std::string error = give_universe(plan, requests, programs); !error.empty())
    return Error{error};
  job.worker_count = launch::workers_per_process(job);
  bind_workers(plan, options, limits);
  return plan;
}

}  // namespace sorrel::tool
