// `sorrel run`: checks everything, reports an error in one line, then executes the program in this
// process, or becomes the parent of the job's processes.

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <string>
#include <sys/personality.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "os/cpu_set.hpp"
#include "os/library_search.hpp"
#include "tools/sorrel/common/command.hpp"
#include "tools/sorrel/common/command_line.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/common/host.hpp"
#include "tools/sorrel/common/installation.hpp"
#include "tools/sorrel/inspect/preflight.hpp"
#include "tools/sorrel/inspect/wrapper.hpp"
#include "tools/sorrel/run/host_launch.hpp"
#include "tools/sorrel/run/launch.hpp"
#include "tools/sorrel/run/openmp.hpp"
#include "tools/sorrel/run/run_environment.hpp"
#include "tools/sorrel/run/run_options.hpp"
#include "tools/sorrel/run/run_plan.hpp"

namespace sorrel::tool {

namespace {

bool is_share(const std::string& word) {
  // `polite` is an earlier name of `yielding`.
  return word.empty() || word == "fair" || word == "yielding" || word == "fixed" ||
         word == "polite";
}

/// Notes about decisions that may surprise the user; with --verbose all decisions.
void print_notes(const RunPlan& plan, const RunRequest& request, const ProgramReport& program) {
  const launch::JobSpec& job = plan.job;
  if (job.is_verbose) {
    print_diagnostic(fmt::format(
        "note: {} ranks in {} process{} of {} worker{}, {}", job.rank_count, job.process_count,
        job.process_count == 1 ? "" : "es", job.worker_count, job.worker_count == 1 ? "" : "s",
        plan.cpus.empty() ? "not bound" : "on cpus " + os::format_cpu_list(plan.cpus)));
    if (!job.private_libraries.empty()) {
      print_diagnostic(
          fmt::format("note: each rank has its own {}", fmt::join(job.private_libraries, ", ")));
    }
    if (plan.choice) print_diagnostic("note: --procs auto: " + describe(*plan.choice));
  }
  if (!program.own_process_reason.empty() && job.rank_count > 1 && !request.procs &&
      !request.is_auto) {
    print_diagnostic(fmt::format("note: {}: every rank is a process, as with --procs {}",
                                 program.own_process_reason, job.rank_count));
  }
  if (!program.absent_functions.empty()) {
    print_diagnostic(
        fmt::format("note: {} references {}", program.name,
                    describe_functions(program, program.absent_functions,
                                       "will fail with MPI_ERR_UNSUPPORTED_OPERATION if called")));
  }
}

/// The program's arguments for execv(), with a null pointer at the end.
std::vector<char*> arguments_to_start(const ProgramReport& program, Arguments words) {
  std::vector<char*> started;
  for (const std::string& word : program.leading_arguments)
    started.push_back(const_cast<char*>(word.c_str()));
  // A script's own name is among the leading arguments, as a path.
  const std::size_t first = program.leading_arguments.empty() ? 0 : 1;
  for (std::size_t i = first; i < words.size(); ++i)
    started.push_back(words[i]);
  started.push_back(nullptr);
  return started;
}

/// What the library needs to know about a wrapper.
launch::WrapperSpec wrapper_spec(const ProgramReport& program, const Installation& installation) {
  return {.name = program.wrapper,
          .program = program.wrapped_path,
          .command = installation.executable,
          .library_path = std::getenv("LD_LIBRARY_PATH"),
          .claims_descriptor = std::nullopt};
}

int launch_host_process(const RunPlan& plan,
                        const Installation& installation,
                        const ProgramReport& program,
                        const std::vector<char*>& words) {
  launch::JobSpec job = plan.job;
  job.cpus = plan.cpus;
  job.host_mpi = {.name = plan.host.name,
                  .plugin_folder = installation.library_dir,
                  .library = plan.host.library,
                  .status_descriptor = std::nullopt,
                  .daemon = getppid(),
                  .must_abort = plan.host.is_slurm};
  if (!program.wrapper.empty()) job.wrapper = wrapper_spec(program, installation);
  return launch_under_host({.program = program.path,
                            .words = words.data(),
                            .host = plan.host.name,
                            .wrapper = program.wrapper,
                            .is_first = plan.host.is_first,
                            .has_hydra = plan.host.name != "openmpi" && !plan.host.is_slurm,
                            .has_sleepy_daemon = plan.host.name == "openmpi" && !plan.host.is_slurm,
                            .set_environment = [&](int host_status) {
                              job.host_mpi.status_descriptor = host_status;
                              set_job_variable(job);
                            }});
}

int launch_processes(const RunPlan& plan,
                     const Installation& installation,
                     const ProgramReport& program,
                     const std::vector<char*>& words) {
  launch::JobSpec job = plan.job;
  const bool has_labels = job.has_rank_labels && job.process_mode;
  if (has_labels) job.has_rank_labels = false;
  const auto set_environment = [&](std::uint32_t index, int segment, int claims) {
    job.own_process = index;
    const std::span<const int> cpus = plan.cpus_of(index);
    job.cpus.assign(cpus.begin(), cpus.end());
    if (job.process_count > 1 || job.process_mode) job.memory_descriptor = segment;
    if (!program.wrapper.empty()) {
      job.wrapper = wrapper_spec(program, installation);
      job.wrapper.claims_descriptor = claims;
      job.launcher = getppid();
    }
    set_rank_variables(job);
    set_job_variable(job);
  };
  return launch(
      {.rank_count = static_cast<std::uint64_t>(job.rank_count),
       .shape = {.process_count = job.process_count, .workers_per_process = job.worker_count},
       .label_lines = has_labels,
       .program = program.path,
       .words = words.data(),
       .wrapper = program.wrapper,
       .is_mpi_seen = !program.wrapped_path.empty(),
       .set_environment = set_environment});
}

/// An error if the ranks of one process need more maps than the system allows, or "".
std::string check_maps(const RunPlan& plan, const ProgramReport& program) {
  // If the program is not known, the library counts.
  const bool is_known = program.wrapper.empty() || !program.wrapped_path.empty();
  const MapBudget budget = map_budget(program);
  const auto ranks = static_cast<std::uint64_t>(plan.job.rank_count);
  if (!is_known || plan.job.process_mode || ranks / plan.job.process_count <= budget.ranks_max())
    return "";
  const std::size_t libraries = program.private_libraries.size();
  return fmt::format(
      "{} ranks need more memory maps than vm.max_map_count = {} allows; at most {} ranks of {} "
      "fit (or raise it: sysctl -w vm.max_map_count=N){}",
      ranks, budget.map_count_max, budget.ranks_max(), program.name,
      libraries == 0 ? ""
                     : fmt::format("; each of {} private librar{} takes 2 maps (--shared LIB)",
                                   libraries, libraries == 1 ? "y" : "ies"));
}

}  // namespace

int run_command(Arguments arguments) {
  RunOptions words;
  const auto app = make_run_app(words);
  const SplitArguments split = split_arguments(*app, arguments);
  if (!split.error.empty()) return report_error("{}", split.error);
  if (const auto status = parse_options(*app, split.options)) return *status;
  if (split.program.empty()) return report_error("no program given; usage: {}", run_usage);
  if (!is_share(words.share))
    return report_error("--share must be fair, yielding or fixed, not '{}'", words.share);
  if (words.omp && !concerns_ranks(words)) return run_openmp(split.program.data(), words.share);
  const Result<RunRequest> read = read_options(words);
  if (!read.has_value()) return report_error("{}", read.error());
  const RunRequest& request = read.value();

  const Installation installation = find_installation();
  const Host host =
      find_host(words.host, [](const char* name) { return std::getenv(name); }, installation);
  if (!host.error.empty()) return report_error("{}", host.error);
  if (installation.library_dir.empty()) {
    return report_error("{} is not beside this command: expected it in ../lib of {}", library_name,
                        installation.executable);
  }
  const ProgramReport program = inspect_arguments(split.program, installation, request.libraries);
  if (!program.refusal.empty()) return report_error("{}", program.refusal);
  if (const auto error = check_library_options(program, request.libraries, installation);
      !error.empty())
    return report_error("{}", error);
  Result<RunPlan> made = make_plan(words, request, host, program);
  if (!made.has_value()) return report_error("{}", made.error());
  RunPlan plan = std::move(made).value();
  print_notes(plan, request, program);
  if (const std::string refusal = check_maps(plan, program); !refusal.empty())
    return report_error("{}", refusal);
  std::string preloaded = program.must_preload ? installation.library() : "";
  if (!plan.job.private_libraries.empty())
    preloaded = installation.early_library() + (preloaded.empty() ? "" : ":") + preloaded;
  std::string library_folders = installation.library_dir;
  if (words.omp) {
    const OpenmpReport openmp = inspect_openmp(
        program.wrapped_path.empty() ? split.program.front() : program.wrapped_path, installation);
    if (!openmp.refusal.empty()) return report_error("{}", openmp.refusal);
    preloaded += (preloaded.empty() ? "" : ":") + openmp_library(installation);
    library_folders += ":" + os::folder_of(openmp_library(installation));
  }
  launch::JobSpec& job = plan.job;
  set_loader_variables(job, library_folders, preloaded);
  // Without the option, the user's variable is used.
  if (!plan.share.empty()) setenv("SORREL_SHARE", plan.share.c_str(), 1);
  // Addresses are visible to a program: with a seed they are the same in each run.
  if (job.seed) (void)personality(ADDR_NO_RANDOMIZE);
  const std::vector<char*> started = arguments_to_start(program, split.program);
  if (!plan.host.name.empty()) return launch_host_process(plan, installation, program, started);
  if (job.process_count > 1 || job.process_mode || !program.wrapper.empty())
    return launch_processes(plan, installation, program, started);
  job.cpus = plan.cpus;
  set_rank_variables(job);
  set_job_variable(job);
  execv(program.path.c_str(), started.data());
  print_diagnostic(fmt::format("cannot start {}: {}", program.name, std::strerror(errno)));
  return exit_cannot_execute;
}

}  // namespace sorrel::tool
