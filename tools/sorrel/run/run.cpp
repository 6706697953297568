// `sorrel run`: checks everything, reports an error in one line, then executes the program in this
// process, or becomes the parent of the job's processes.

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/personality.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "checkpoint/generations.hpp"
#include "checkpoint/memory_generations.hpp"
#include "os/cpu_set.hpp"
#include "os/library_search.hpp"
#include "tools/sorrel/check/junit.hpp"
#include "tools/sorrel/checkpoint/job_file.hpp"
#include "tools/sorrel/checkpoint/restarts.hpp"
#include "tools/sorrel/common/command.hpp"
#include "tools/sorrel/common/command_line.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/common/host.hpp"
#include "tools/sorrel/common/installation.hpp"
#include "tools/sorrel/common/numbers.hpp"
#include "tools/sorrel/common/output_files.hpp"
#include "tools/sorrel/common/shell_line.hpp"
#include "tools/sorrel/inspect/preflight.hpp"
#include "tools/sorrel/inspect/wrapper.hpp"
#include "tools/sorrel/machine/other_work.hpp"
#include "tools/sorrel/run/blocked_requests.hpp"
#include "tools/sorrel/run/config_file.hpp"
#include "tools/sorrel/run/host_launch.hpp"
#include "tools/sorrel/run/launch.hpp"
#include "tools/sorrel/run/openmp.hpp"
#include "tools/sorrel/run/part_words.hpp"
#include "tools/sorrel/run/plan_notes.hpp"
#include "tools/sorrel/run/run_environment.hpp"
#include "tools/sorrel/run/run_job.hpp"
#include "tools/sorrel/run/run_options.hpp"
#include "tools/sorrel/run/run_plan.hpp"
#include "tools/sorrel/run/trial.hpp"
#include "tools/sorrel/run/wire_options.hpp"
#include "tools/sorrel/trace/trace_run.hpp"

namespace sorrel::tool {

namespace {

bool is_share(const std::string& word) {
  // `polite` is an earlier name of `yielding`.
  return word.empty() || word == "fair" || word == "yielding" || word == "fixed" ||
         word == "polite";
}

/// A program of the job, as it is started.
struct Part {
  ProgramReport program;
  /// For execv(), with a null pointer at the end.
  std::vector<char*> words;
  /// Of which each rank of a process has its own.
  std::vector<std::string> private_libraries;
  std::string preloaded;        ///< files, a:b
  std::string library_folders;  ///< a:b
};

/// Reads the command line into `own`, and into `all` together with what the configuration file
/// sets, which precedes it. Returns the exit status, or nothing if the command continues.
std::optional<int> parse_with_config(SplitArguments& split, RunOptions& own, RunOptions& all) {
  const auto app = make_run_app(own);
  if (const auto status = parse_options(*app, split.options)) return status;
  Result<ConfigFile> read = read_config_file(*app);
  if (!read.has_value()) return report_error("{}", read.error());
  const ConfigFile& config = read.value();
  all = own;
  if (config.options.empty()) return std::nullopt;
  split.options.insert(split.options.begin(), config.options.begin(), config.options.end());
  all = {};
  if (const auto status = parse_options(*make_run_app(all), split.options)) return status;
  if (all.verbose)
    print_diagnostic(fmt::format("note: {}: {}", config.path, fmt::join(config.options, " ")));
  return std::nullopt;
}

/// What the user asks for: programs, and the request for each.
struct RunJob {
  std::vector<RunRequest> requests;
  std::vector<ProgramReport> programs;
  std::vector<Arguments> words;
};

/// Notes about one of the job's programs that may surprise the user; with --verbose all.
void print_notes_on(const Part& part,
                    const launch::PartSpec& spec,
                    const RunPlan& plan,
                    const RunRequest& request) {
  const ProgramReport& program = part.program;
  const bool is_only = plan.job.parts.empty();
  if (plan.job.is_verbose && !is_only)
    print_diagnostic(fmt::format("note: {}: {}", program.name, describe(spec)));
  if (plan.job.is_verbose && !part.private_libraries.empty()) {
    print_diagnostic(
        fmt::format("note: each rank has its own {}", fmt::join(part.private_libraries, ", ")));
  }
  if (!program.own_process_reason.empty() && spec.rank_count > 1 && !request.procs &&
      !request.is_auto) {
    print_diagnostic(fmt::format(
        "note: {}: every rank is a process{}", program.own_process_reason,
        is_only ? fmt::format(", as with --procs {}", spec.rank_count) : std::string()));
  }
  if (!program.refused_functions.empty()) {
    print_diagnostic(
        fmt::format("note: {} references {}", program.name,
                    describe_functions(program, program.refused_functions, "will fail if called")));
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

/// Sets what the loader and the library read in a process that executes `part`.
void set_environment(launch::JobSpec& job, const Part& part, const Installation& installation) {
  set_loader_variables(job, part.library_folders, part.preloaded);
  job.private_libraries = part.private_libraries;
  if (part.program.wrapper.empty()) return;
  const std::optional<int> claims = job.wrapper.claims_descriptor;
  job.wrapper = wrapper_spec(part.program, installation);
  job.wrapper.claims_descriptor = claims;
}

int launch_host_process(const RunPlan& plan, const Installation& installation, const Part& part) {
  launch::JobSpec job = plan.job;
  job.cpus = plan.cpus;
  job.host_mpi = {.name = plan.host.name,
                  .plugin_folder = installation.library_dir,
                  .library = plan.host.library,
                  .status_descriptor = std::nullopt,
                  .daemon = getppid(),
                  .must_abort = plan.host.is_slurm};
  set_environment(job, part, installation);
  return launch_under_host({.program = part.program.path,
                            .words = part.words.data(),
                            .host = plan.host.name,
                            .wrapper = part.program.wrapper,
                            .is_first = plan.host.is_first,
                            .has_hydra = plan.host.name != "openmpi" && !plan.host.is_slurm,
                            .has_sleepy_daemon = plan.host.name == "openmpi" && !plan.host.is_slurm,
                            .report_file = plan.job.report_file,
                            .is_equal = plan.job.moves_between,
                            .random = plan.random,
                            .set_environment = [&](int host_status) {
                              job.host_mpi.status_descriptor = host_status;
                              set_job_variable(job);
                            }});
}

/// Where the job's checkpoints are.
std::unique_ptr<const checkpoint::GenerationStore> store_of(const launch::JobSpec& job) {
  if (job.checkpoint_files.empty())
    return std::make_unique<checkpoint::Generations>(job.checkpoint_folder);
  return std::make_unique<checkpoint::MemoryGenerations>(job.checkpoint_files);
}

int launch_processes(const BlockedRequests& blocked,
                     const RunPlan& plan,
                     const Installation& installation,
                     const std::vector<Part>& parts,
                     const std::function<void()>& on_end) {
  const std::vector<launch::ProcessShare> shares = launch::shares_of(plan.job);
  std::vector<LaunchedProgram> programs;
  for (const Part& part : parts) {
    programs.push_back({.path = part.program.path,
                        .words = part.words.data(),
                        .wrapper = part.program.wrapper,
                        .is_mpi_seen = !part.program.wrapped_path.empty()});
  }
  Restarts restarts(store_of(plan.job), plan.restart_count_max, plan.job.restart_generation);
  LaunchPlan started{.rank_count = static_cast<std::uint64_t>(plan.job.rank_count),
                     .shape = {.process_count = plan.job.process_count,
                               .workers_per_process = launch::workers_per_process(plan.job)},
                     .processes = {},
                     .random = plan.random,
                     .is_saved = plan.job.is_saved(),
                     .report_file = plan.job.report_file,
                     .mask = blocked.mask_before(),
                     .set_environment =
                         [&](std::uint32_t index, int segment, int claims) {
                           launch::JobSpec job = plan.job_of(index, shares[index]);
                           job.restart_generation = restarts.generation();
                           const Part& part = parts[shares[index].part];
                           // Lines of a process that is a rank are labelled by its parent.
                           if (job.process_mode) job.has_rank_labels = false;
                           if (job.process_count > 1 || job.process_mode)
                             job.memory_descriptor = segment;
                           if (!part.program.wrapper.empty()) {
                             job.wrapper.claims_descriptor = claims;
                             job.launcher = getppid();
                           }
                           set_environment(job, part, installation);
                           set_rank_variables(job, shares[index]);
                           set_job_variable(job);
                         },
                     .restarts = {},
                     .on_end = on_end};
  if (plan.restart_count_max != 0) started.restarts = [&] { return restarts.begin_next(); };
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

/// The command that repeats one schedule of a checked run.
std::string replay_of(const SplitArguments& given, std::uint64_t seed) {
  std::vector<std::string> words = {"sorrel", "run", "--check", "--seed", fmt::format("{}", seed)};
  for (const std::string& word : given.options) {
    if (word != "--check" && !word.starts_with("--schedules=")) words.push_back(word);
  }
  words.insert(words.end(), given.program.begin(), given.program.end());
  return shell_line(words);
}

/// `--check`, once or with several schedules. The status is that of the command.
CheckResult run_checked(const BlockedRequests& blocked,
                        const RunPlan& plan,
                        const Installation& installation,
                        const std::vector<Part>& parts,
                        const CheckRequest& check,
                        std::optional<std::uint64_t> schedules,
                        const SplitArguments& given) {
  RunPlan own = plan;
  if (schedules) {
    return explore_schedules(
        check, *schedules, [&](std::uint64_t seed) { return replay_of(given, seed); },
        [&](std::uint64_t seed, const std::string& folder) {
          own.job.seed = seed;
          own.job.check_folder = folder;
          return launch_processes(blocked, own, installation, parts, {});
        });
  }
  Result<std::string> folder = make_check_folder();
  if (!folder.has_value()) return {.status = report_error("{}", folder.error()), .findings = {}};
  own.job.check_folder = std::move(folder).value();
  CheckResult result;
  const int status = launch_processes(blocked, own, installation, parts,
                                      [&] { result = finish_check(check, own.job.check_folder); });
  if (result.status != exit_findings && status != 0) result.status = status;
  return result;
}

/// Runs the job as the parent of its processes, until it has ended. The status is that of the
/// command.
CheckResult run_as_parent(const BlockedRequests& blocked,
                          const RunPlan& plan,
                          const Installation& installation,
                          const std::vector<Part>& parts,
                          const RunOptions& options,
                          std::optional<std::uint64_t> schedules,
                          const SplitArguments& given) {
  if (options.check.any())
    return run_checked(blocked, plan, installation, parts, options.check, schedules, given);
  const int status = launch_processes(blocked, plan, installation, parts, [&] {
    if (options.trace.any()) finish_trace(options.trace, plan.job.trace_folder);
  });
  return {.status = status, .findings = {}};
}

/// An error if the ranks of one process need more maps than the system allows, or "".
std::string check_maps(const launch::PartSpec& part, const ProgramReport& program) {
  // If the program is not known, the library counts.
  const bool is_known = program.wrapper.empty() || !program.wrapped_path.empty();
  const MapBudget budget = map_budget(program);
  const auto ranks = static_cast<std::uint64_t>(part.rank_count);
  if (!is_known || ranks / part.process_count <= budget.ranks_max()) return "";
  const std::size_t libraries = program.private_libraries.size();
  return fmt::format(
      "{} ranks need more memory maps than vm.max_map_count = {} allows; at most {} ranks of {} "
      "fit (or raise it: sysctl -w vm.max_map_count=N){}",
      ranks, budget.map_count_max, budget.ranks_max(), program.name,
      libraries == 0 ? ""
                     : fmt::format("; each of {} private librar{} takes 2 maps (--shared LIB)",
                                   libraries, libraries == 1 ? "y" : "ies"));
}

/// One line about the first library of --shared or --private that no program needs, or "".
std::string check_libraries(const RunJob& run, const Installation& installation) {
  const auto check = [&](const LibraryOptions& option) -> std::string {
    std::string error;
    for (const ProgramReport& program : run.programs) {
      const std::string here = check_library_options(program, option, installation);
      if (here.empty()) return "";
      if (error.empty()) error = here;
    }
    return error;
  };
  const LibraryOptions& given = run.requests.front().libraries;
  std::string error;
  for (std::size_t i = 0; i < given.shared.size() && error.empty(); ++i)
    error = check({.shared = {given.shared[i]}, .private_ones = {}});
  for (std::size_t i = 0; i < given.private_ones.size() && error.empty(); ++i)
    error = check({.shared = {}, .private_ones = {given.private_ones[i]}});
  return error;
}

/// Reads the options for each program, and inspects it.
Result<RunJob> read_job(const RunOptions& options,
                        Arguments words,
                        const Installation& installation) {
  const Result<std::vector<PartWords>> parts = split_parts(words, options.ranks);
  if (!parts.has_value()) return Error{parts.error()};
  RunJob run;
  for (const PartWords& part : parts.value()) {
    RunOptions own = options;
    own.ranks = part.ranks;
    Result<RunRequest> request = read_options(own);
    if (!request.has_value()) return Error{request.error()};
    ProgramReport program =
        inspect_arguments(part.program, installation, request.value().libraries);
    if (!program.refusal.empty()) return Error{program.refusal};
    run.requests.push_back(std::move(request).value());
    run.programs.push_back(std::move(program));
    run.words.push_back(part.program);
  }
  if (std::string error = check_libraries(run, installation); !error.empty()) return Error{error};
  return run;
}

/// A program of the job with what the loader must be given.
Result<Part> make_part(const ProgramReport& program,
                       Arguments words,
                       bool is_process_mode,
                       bool has_openmp,
                       const Installation& installation) {
  Part part{.program = program,
            .words = {},
            .private_libraries = {},
            .preloaded = program.must_preload ? installation.library() : "",
            .library_folders = installation.library_dir};
  if (!is_process_mode) part.private_libraries = program.private_libraries;
  // A program that the wrapper's arguments do not name may have private libraries.
  const bool is_unknown = !program.wrapper.empty() && program.wrapped_path.empty() &&
                          os::is_file(installation.early_library());
  if (!part.private_libraries.empty() || (is_unknown && !is_process_mode)) {
    part.preloaded =
        installation.early_library() + (part.preloaded.empty() ? "" : ":") + part.preloaded;
  }
  if (has_openmp) {
    const OpenmpReport openmp = inspect_openmp(
        program.wrapped_path.empty() ? words.front() : program.wrapped_path, installation);
    if (!openmp.refusal.empty()) return Error{openmp.refusal};
    part.preloaded += (part.preloaded.empty() ? "" : ":") + openmp_library(installation);
    part.library_folders += ":" + os::folder_of(openmp_library(installation));
  }
  return part;
}

/// Before the loader's other libraries: functions MPI_X of a library that call PMPI_X.
void preload(Part& part, const std::string& library) {
  part.preloaded = library + (part.preloaded.empty() ? "" : ":") + part.preloaded;
}

/// For --checkpoint: not a folder, which is ./memory.
constexpr std::string_view in_memory = "memory";

/// For --every. Returns an error, or "".
std::string read_save_period(const std::string& text, std::int64_t* period_ns) {
  constexpr std::int64_t period_ns_min = 100'000'000;
  constexpr double seconds_max = 1e7;
  if (text.empty()) return "";
  const std::optional<std::int64_t> period = parse_delay(text, seconds_max);
  if (!period || *period < period_ns_min)
    return fmt::format("--every must be a time such as 30s, 10min or 2h, at least 100ms, not '{}'",
                       text);
  *period_ns = *period;
  return "";
}

/// For --restarts. Returns an error, or "".
std::string read_restart_count(const std::string& text, bool is_in_memory, std::uint64_t* count) {
  constexpr std::uint64_t default_in_memory = 10;
  constexpr std::uint64_t count_max = 1'000'000;
  *count = is_in_memory ? default_in_memory : 0;
  if (text.empty()) return "";
  const std::optional<std::uint64_t> given = parse_count(text);
  if (!given || *given > count_max)
    return fmt::format("--restarts must be a whole number from 0 to {}, not '{}'", count_max, text);
  *count = *given;
  return "";
}

/// For --checkpoint: the job's folder, or for a restart what it begins with. Returns an error, or
/// "".
std::string prepare_checkpoints(RunPlan& plan,
                                const std::string& folder,
                                Arguments arguments,
                                const Restart* restart) {
  if (plan.job.process_mode) {
    return fmt::format(
        "--checkpoint is not supported for ranks that are processes: use fewer --procs than ranks "
        "({})",
        plan.job.rank_count);
  }
  if (!plan.random) return "--checkpoint: the system has no random numbers";
  if (folder == in_memory) {
    const std::string error = checkpoint::MemoryGenerations::make_files(plan.job.process_count,
                                                                        plan.job.checkpoint_files);
    return error.empty() ? "" : "--checkpoint memory: " + error;
  }
  if (restart != nullptr) {
    plan.job.checkpoint_folder = restart->folder;
    plan.job.restart_generation = restart->generation;
    plan.random = restart->random;
    return "";
  }
  const std::filesystem::path here = std::filesystem::current_path();
  plan.job.checkpoint_folder = (here / folder).lexically_normal();
  return begin_checkpoints(plan.job.checkpoint_folder,
                           {.words = {arguments.begin(), arguments.end()},
                            .folder = here,
                            .rank_count = static_cast<std::uint64_t>(plan.job.rank_count),
                            .random = *plan.random});
}

/// For --report-json: the file's absolute path. A report of an earlier run is removed, by the first
/// process under a host MPI.
Result<std::string> prepare_report(const std::string& file, bool is_first) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(file, error);
  if (!std::filesystem::is_directory(path.parent_path(), error))
    return Error{fmt::format("--report-json {}: no such folder", file)};
  if (is_first && std::filesystem::is_regular_file(path, error))
    std::filesystem::remove(path, error);
  if (error && error != std::errc::no_such_file_or_directory)
    return Error{fmt::format("--report-json {}: {}", file, error.message())};
  return path.string();
}

/// Of this process's job, which all processes make alike.
std::optional<RandomBytes> random_bytes_under_host() {
  std::ifstream file(fmt::format("/proc/{}/cmdline", getppid()), std::ios::binary);
  const std::string words{std::istreambuf_iterator<char>(file), {}};
  return random_bytes_of_job([](const char* name) { return std::getenv(name); }, words);
}

/// Executes the program in this process; returns if that is not possible.
int execute(const BlockedRequests& blocked,
            const RunPlan& plan,
            const Installation& installation,
            const Part& part) {
  launch::JobSpec job = plan.job;
  job.cpus = plan.cpus;
  job.blocks_requests = blocked.are_own();
  set_environment(job, part, installation);
  set_rank_variables(job, launch::shares_of(job).front());
  set_job_variable(job);
  execv(part.program.path.c_str(), part.words.data());
  print_diagnostic(fmt::format("cannot start {}: {}", part.program.name, std::strerror(errno)));
  return exit_cannot_execute;
}

}  // namespace

int run_command(Arguments arguments) {
  return run_job(arguments, nullptr);
}

int run_job(Arguments arguments, const Restart* restart) {
  const BlockedRequests blocked;
  RunOptions own;
  RunOptions words;
  SplitArguments split = split_arguments(*make_run_app(own), arguments);
  if (!split.error.empty()) return report_error("{}", split.error);
  if (restart != nullptr)
    split.options.insert(split.options.end(), restart->options.begin(), restart->options.end());
  if (const auto status = parse_with_config(split, own, words)) return *status;
  if (split.program.empty()) return report_error("no program given; usage: {}", run_usage);
  if (!is_share(words.share))
    return report_error("--share must be fair, yielding or fixed, not '{}'", words.share);
  if (words.omp && !concerns_ranks(own)) {
    blocked.end();
    return run_openmp(split.program.data(), words.share);
  }
  const Installation installation = find_installation();
  const Host host =
      find_host(words.host, [](const char* name) { return std::getenv(name); }, installation);
  if (!host.error.empty()) return report_error("{}", host.error);
  if (installation.library_dir.empty()) {
    return report_error("{} is not beside this command: expected it in ../lib of {}", library_name,
                        installation.executable);
  }
  const Result<RunJob> read = read_job(words, split.program, installation);
  if (!read.has_value()) return report_error("{}", read.error());
  const RunJob& run = read.value();
  const bool is_only = run.programs.size() == 1;
  Result<RunPlan> made = is_only
                             ? make_plan(words, run.requests.front(), host, run.programs.front())
                             : make_plan(words, run.requests, host, run.programs);
  if (!made.has_value()) return report_error("{}", made.error());
  std::optional<Trial> trial;
  if (is_only)
    trial = find_trial(made.value(), words, run.requests.front(), run.programs.front(),
                       run.words.front());
  if (trial) {
    RunRequest request = run.requests.front();
    request.form = trial->choice;
    made = make_plan(words, request, host, run.programs.front());
    if (!made.has_value()) return report_error("{}", made.error());
  }
  const bool is_trial = trial && trial->choice.is_trial;
  RunPlan plan = std::move(made).value();
  if (words.trace.any()) {
    Result<std::string> folder = make_trace_folder(words.trace, host.name.empty());
    if (!folder.has_value()) return report_error("{}", folder.error());
    plan.job.trace_folder = std::move(folder).value();
  }
  if (!words.report_json.empty()) {
    Result<std::string> file = prepare_report(words.report_json, host.is_first);
    if (!file.has_value()) return report_error("{}", file.error());
    plan.job.report_file = std::move(file).value();
  }
  plan.random = plan.host.name.empty() ? make_random_bytes() : random_bytes_under_host();
  if (!words.checkpoint.empty()) {
    std::string error = read_save_period(words.every, &plan.job.save_period_ns);
    if (error.empty()) {
      error = read_restart_count(words.restarts, words.checkpoint == in_memory,
                                 &plan.restart_count_max);
    }
    if (error.empty()) error = prepare_checkpoints(plan, words.checkpoint, arguments, restart);
    if (!error.empty()) return report_error("{}", error);
  } else if (!words.every.empty() || !words.restarts.empty()) {
    return report_error("{} requires --checkpoint DIR",
                        words.every.empty() ? "--restarts" : "--every");
  }
  if (plan.job.is_verbose) {
    for (const std::string& note : notes_on(plan, words.omp))
      print_diagnostic("note: " + note);
  }
  std::vector<Part> parts;
  const std::vector<launch::PartSpec> specs = launch::parts_of(plan.job);
  for (std::size_t i = 0; i < run.programs.size(); ++i) {
    const bool is_process_mode = is_only ? plan.job.process_mode : bool{plan.process_modes[i]};
    Result<Part> part =
        make_part(run.programs[i], run.words[i], is_process_mode, words.omp, installation);
    if (!part.has_value()) return report_error("{}", part.error());
    parts.push_back(std::move(part).value());
    if (words.trace.any()) preload(parts.back(), installation.trace_library());
    if (words.check.any()) preload(parts.back(), installation.check_library());
    print_notes_on(parts.back(), specs[i], plan, run.requests[i]);
    if (is_process_mode) continue;
    if (const std::string error = check_maps(specs[i], run.programs[i]); !error.empty())
      return report_error("{}", error);
  }
  for (std::size_t i = 0; i < parts.size(); ++i)
    parts[i].words = arguments_to_start(parts[i].program, run.words[i]);
  // Without the option, the user's variable is used.
  if (!plan.share.empty()) setenv("SORREL_SHARE", plan.share.c_str(), 1);
  // Addresses are visible to a program: with a seed they are the same in each run.
  if (plan.job.seed || run.requests.front().schedules) (void)personality(ADDR_NO_RANDOMIZE);
  const Part& first = parts.front();
  if (!plan.host.name.empty()) {
    blocked.end();
    if (words.trace.any() && host.is_first) {
      print_diagnostic(
          fmt::format("note: for the trace, when the job has ended: sorrel trace -o {} {}",
                      words.trace.trace, plan.job.trace_folder));
    }
    return launch_host_process(plan, installation, first);
  }
  if (plan.job.process_count > 1 || plan.job.process_mode || !first.program.wrapper.empty() ||
      words.trace.any() || words.check.any() || !words.junit.empty() ||
      !words.report_json.empty() || plan.job.is_saved() || is_trial) {
    const auto begin = std::chrono::steady_clock::now();
    const OtherWork other_work;
    const CheckResult result = run_as_parent(blocked, plan, installation, parts, words,
                                             run.requests.front().schedules, split);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    if (is_trial && result.status == 0) trial->keep(seconds.count(), other_work.share());
    if (words.junit.empty()) return result.status;
    const std::string text = junit_of({.name = first.program.name,
                                       .status = result.status,
                                       .seconds = seconds.count(),
                                       .findings = result.findings,
                                       .is_checked = words.check.any()});
    return write_output_file(words.junit, text) || result.status != 0 ? result.status : 1;
  }
  return execute(blocked, plan, installation, first);
}

}  // namespace sorrel::tool
