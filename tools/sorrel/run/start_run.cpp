// The last stage of `sorrel run`: executes the program in this process, or becomes the parent of
// the job's processes.

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/core.h>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/personality.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include "checkpoint/generations.hpp"
#include "checkpoint/memory_generations.hpp"
#include "tools/sorrel/check/junit.hpp"
#include "tools/sorrel/checkpoint/restarts.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/common/output_files.hpp"
#include "tools/sorrel/common/shell_line.hpp"
#include "tools/sorrel/run/host_launch.hpp"
#include "tools/sorrel/run/launch.hpp"
#include "tools/sorrel/run/run_environment.hpp"
#include "tools/sorrel/run/run_stages.hpp"
#include "tools/sorrel/trace/trace_run.hpp"

namespace sorrel::tool {

namespace {

/// Sets what the loader and the library read in a process that executes `part`.
void set_environment(launch::JobSpec& job, const Part& part, const Installation& installation) {
  set_loader_variables(job, part.library_folders, part.preloaded);
  job.private_libraries = part.private_libraries;
  // mpi4py's wheel has a module for each of several interfaces, and takes this one.
  if (part.has_every_interface) setenv("MPI4PY_MPIABI", "mpich", 0);
  if (part.program.wrapper.empty()) return;
  job.wrapper = {.name = part.program.wrapper,
                 .program = part.program.wrapped_path,
                 .command = installation.executable,
                 .library_path = std::getenv("LD_LIBRARY_PATH"),
                 .claims_descriptor = job.wrapper.claims_descriptor};
}

/// The calls of the recorder, which may be null.
std::function<void()> on_start_of(FlightRecorder* recorder) {
  if (recorder == nullptr) return {};
  return [=] { recorder->begin(); };
}

std::function<void()> on_end_request_of(FlightRecorder* recorder) {
  if (recorder == nullptr) return {};
  return [=] { recorder->on_end_request(); };
}

int start_under_host(const PreparedRun& run) {
  const RunPlan& plan = run.plan;
  const Installation& installation = run.resolved.installation;
  const Part& part = run.parts.front();
  const TraceRequest& trace = run.options().trace;
  const CheckRequest& check = run.options().check;
  run.blocked().end();
  if (trace.any() && plan.host.is_first && !plan.random) {
    print_diagnostic(
        fmt::format("note: for the trace, when the job has ended: sorrel trace -o {} {}",
                    trace.trace, plan.job.trace_folder));
  }
  launch::JobSpec job = plan.job;
  job.cpus = plan.cpus;
  job.host_mpi = {.name = plan.host.name,
                  .plugin = plan.host.plugin,
                  .library = plan.host.library,
                  .status_descriptor = std::nullopt,
                  .daemon = getppid(),
                  .must_abort = plan.host.is_slurm};
  set_environment(job, part, installation);
  std::function<int(std::uint32_t, std::uint32_t, bool)> on_end;
  FlightRecorder* recorder = run.recorder.get();
  if (trace.any() && plan.random) {
    on_end = [&](std::uint32_t process, std::uint32_t process_count, bool has_failed) {
      finish_host_trace(trace, plan.job.trace_folder,
                        {.index = process,
                         .count = process_count,
                         .job = name_of_host_job(plan),
                         .has_failed = has_failed});
      return 0;
    };
  } else if (check.any()) {
    on_end = [&](std::uint32_t process, std::uint32_t process_count, bool /*has_failed*/) {
      return finish_host_check(check, plan.job.check_folder, process, process_count).status;
    };
  }
  const int status = launch_under_host(
      {.program = part.program.path,
       .words = part.words.data(),
       .host = plan.host.name,
       .wrapper = part.program.wrapper,
       .may_have_no_ranks = part.program.wrapped_path.empty() && !plan.is_count_requested,
       .is_first = plan.host.is_first,
       .has_hydra = plan.host.name != "openmpi" && !plan.host.is_slurm,
       .has_sleepy_daemon = plan.host.name == "openmpi" && !plan.host.is_slurm,
       .report_file = plan.job.report_file,
       .is_equal = plan.job.moves_between,
       .random = plan.random,
       .on_start = on_start_of(recorder),
       .on_end_request = on_end_request_of(recorder),
       .on_end =
           [&](std::uint32_t process, std::uint32_t process_count, bool has_failed) {
             if (recorder != nullptr) recorder->end();
             return on_end ? on_end(process, process_count, has_failed) : 0;
           },
       .set_environment =
           [&](int host_status) {
             job.host_mpi.status_descriptor = host_status;
             set_job_variable(job);
           }});
  // Findings are left if the program has not joined the job.
  std::error_code ignored;
  if (check.any()) std::filesystem::remove_all(plan.job.check_folder, ignored);
  return status;
}

/// Where the job's checkpoints are.
std::unique_ptr<const checkpoint::GenerationStore> store_of(const launch::JobSpec& job) {
  if (job.checkpoint_files.empty())
    return std::make_unique<checkpoint::Generations>(job.checkpoint_folder);
  return std::make_unique<checkpoint::MemoryGenerations>(job.checkpoint_files);
}

std::vector<LaunchedProgram> programs_of(const PreparedRun& run) {
  std::vector<LaunchedProgram> programs;
  for (const Part& part : run.parts) {
    programs.push_back({.path = part.program.path,
                        .words = part.words.data(),
                        .wrapper = part.program.wrapper,
                        .has_no_ranks = part.program.has_no_ranks(),
                        .is_mpi_seen = !part.program.wrapped_path.empty()});
  }
  return programs;
}

/// In a process that is about to execute its program: sets what the program and the library read.
void set_process_environment(const PreparedRun& run,
                             launch::JobSpec job,
                             const launch::ProcessShare& share,
                             int segment,
                             int claims) {
  const Part& part = run.parts[share.part];
  // Lines of a process that is a rank are labelled by its parent.
  if (job.process_mode) job.has_rank_labels = false;
  if (job.process_count > 1 || job.process_mode) job.memory_descriptor = segment;
  if (!part.program.wrapper.empty()) job.wrapper.claims_descriptor = claims;
  if (!part.program.wrapper.empty() || run.is_watched()) job.launcher = getppid();
  set_environment(job, part, run.resolved.installation);
  set_rank_variables(job, share);
  set_job_variable(job);
}

/// `plan`: that of the run, with what this start adds.
int launch_processes(const PreparedRun& run,
                     const RunPlan& plan,
                     const std::function<void()>& on_end) {
  const std::vector<launch::ProcessShare> shares = launch::shares_of(plan.job);
  const std::vector<LaunchedProgram> programs = programs_of(run);
  Restarts restarts(store_of(plan.job), plan.restart_count_max, plan.job.restart_generation);
  LaunchPlan started{.rank_count = static_cast<std::uint64_t>(plan.job.rank_count),
                     .is_count_requested = plan.is_count_requested,
                     .shape = {.process_count = plan.job.process_count,
                               .workers_per_process = launch::workers_per_process(plan.job)},
                     .processes = {},
                     .random = plan.random,
                     .is_saved = plan.job.is_saved(),
                     .report_file = plan.job.report_file,
                     .mask = run.blocked().mask_before(),
                     .set_environment =
                         [&](std::uint32_t index, int segment, int claims) {
                           launch::JobSpec job = plan.job_of(index, shares[index]);
                           job.restart_generation = restarts.generation();
                           job.restart_note_descriptor = restarts.note_descriptor();
                           set_process_environment(run, std::move(job), shares[index], segment,
                                                   claims);
                         },
                     .restarts = {},
                     .on_start =
                         [&] {
                           if (run.recorder != nullptr) run.recorder->begin();
                           if (run.live != nullptr) run.live->begin();
                         },
                     .on_end_request = on_end_request_of(run.recorder.get()),
                     .on_end =
                         [&] {
                           if (run.live != nullptr) run.live->end();
                           if (run.recorder != nullptr) run.recorder->end();
                           if (on_end) on_end();
                         }};
  if (restarts.note_descriptor())
    started.restarts = [&](int signal) { return restarts.begin_next(signal); };
  for (std::uint32_t i = 0; i < shares.size(); ++i) {
    const launch::JobSpec job = plan.job_of(i, shares[i]);
    const bool has_label = job.has_rank_labels && job.process_mode;
    started.processes.push_back(
        {.program = &programs[shares[i].part],
         .first_rank = static_cast<std::uint64_t>(shares[i].first_rank),
         .rank_count = static_cast<std::uint64_t>(shares[i].rank_count),
         .label = has_label ? fmt::format("[{}] ", shares[i].first_rank) : std::string()});
  }
  return launch(started);
}

/// The command that repeats one schedule of a checked run; it prints, and writes no files.
std::string replay_of(const SplitArguments& given, std::uint64_t seed) {
  constexpr std::string_view replaced[] = {
      "--schedules=", "--check-json=", "--check-sarif=", "--junit="};
  std::vector<std::string> words = {"sorrel", "run", "--check", "--seed", fmt::format("{}", seed)};
  for (const std::string& word : given.options) {
    const bool is_left_out =
        word == "--check" || std::ranges::any_of(replaced, [&](std::string_view option) {
          return word.starts_with(option);
        });
    if (!is_left_out) words.push_back(word);
  }
  words.insert(words.end(), given.program.begin(), given.program.end());
  return shell_line(words);
}

/// `--check`, once or with several schedules. The status is that of the command.
CheckResult run_checked(const PreparedRun& run) {
  const CheckRequest& check = run.options().check;
  RunPlan own = run.plan;
  if (run.schedules()) {
    return explore_schedules(
        check, *run.schedules(),
        [&](std::uint64_t seed) { return replay_of(run.resolved.parsed.given, seed); },
        [&](std::uint64_t seed, const std::string& folder) {
          own.job.seed = seed;
          own.job.check_folder = folder;
          return launch_processes(run, own, {});
        });
  }
  Result<std::string> folder = make_check_folder();
  if (!folder.has_value()) return {.status = report_error("{}", folder.error()), .findings = {}};
  own.job.check_folder = std::move(folder).value();
  CheckResult result;
  const int status = launch_processes(
      run, own, [&] { result = finish_check(check, own.job.check_folder, own.job.process_count); });
  if (result.status != exit_findings && status != 0) result.status = status;
  return result;
}

/// Runs the job as the parent of its processes, until it has ended, and writes what the options ask
/// for.
int run_as_parent(const PreparedRun& run) {
  const RunOptions& options = run.options();
  const auto begin = std::chrono::steady_clock::now();
  CheckResult result;
  if (options.check.any()) {
    result = run_checked(run);
  } else {
    result.status = launch_processes(run, run.plan, [&] {
      if (options.trace.any()) finish_trace(options.trace, run.plan.job.trace_folder);
    });
  }
  if (options.junit.empty()) return result.status;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const std::string text = junit_of(run.parts.front().program.name,
                                    cases_of(JunitRun{.status = result.status,
                                                      .seconds = seconds.count(),
                                                      .findings = result.findings,
                                                      .is_checked = options.check.any()}));
  return write_output_file(options.junit, text) || result.status != 0 ? result.status : 1;
}

/// Executes the program in this process; returns if that is not possible.
int execute(const PreparedRun& run) {
  const Part& part = run.parts.front();
  launch::JobSpec job = run.plan.job;
  job.cpus = run.plan.cpus;
  job.blocks_requests = run.blocked().are_own();
  set_environment(job, part, run.resolved.installation);
  set_rank_variables(job, launch::shares_of(job).front());
  set_job_variable(job);
  execv(part.program.path.c_str(), part.words.data());
  print_diagnostic(fmt::format("cannot start {}: {}", part.program.name, std::strerror(errno)));
  return exit_cannot_execute;
}

/// Whether the command stays: for several processes, for the end of one, or for what is written
/// after it.
bool needs_parent(const PreparedRun& run) {
  const launch::JobSpec& job = run.plan.job;
  const RunOptions& options = run.options();
  const bool has_processes =
      job.process_count > 1 || job.process_mode || !run.parts.front().program.wrapper.empty();
  const bool is_written_after = options.trace.any() || options.check.any() ||
                                !options.junit.empty() || !options.report_json.empty() ||
                                run.is_watched();
  // The system gives the first process of a container no signal for which it has no handler:
  // neither SIGTERM nor Ctrl-C would end the program in its place.
  const bool is_first_of_system = ::getpid() == 1;
  return has_processes || is_written_after || job.is_saved() || is_first_of_system;
}

}  // namespace

int start_run(const PreparedRun& run) {
  // Without the option, the user's variable is used.
  if (!run.plan.share.empty()) setenv("SORREL_SHARE", run.plan.share.c_str(), 1);
  if (run.recorder != nullptr) setenv(flight_variable, "1", 1);
  // Addresses are visible to a program: with a seed they are the same in each run.
  if (run.plan.job.seed || run.schedules()) (void)personality(ADDR_NO_RANDOMIZE);
  if (!run.plan.host.name.empty()) return start_under_host(run);
  return needs_parent(run) ? run_as_parent(run) : execute(run);
}

}  // namespace sorrel::tool
