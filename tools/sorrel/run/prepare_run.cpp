// The third stage of `sorrel run`: how many ranks, processes and workers the job has, the folders
// that it writes to, and what the loader of each program is given.

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/hash.hpp"
#include "checkpoint/memory_generations.hpp"
#include "os/library_search.hpp"
#include "tools/sorrel/check/check_run.hpp"
#include "tools/sorrel/checkpoint/job_file.hpp"
#include "tools/sorrel/checkpoint/key_file.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/common/numbers.hpp"
#include "tools/sorrel/machine/topology.hpp"
#include "tools/sorrel/run/openmp.hpp"
#include "tools/sorrel/run/option_conflict.hpp"
#include "tools/sorrel/run/plan_notes.hpp"
#include "tools/sorrel/run/run_stages.hpp"
#include "tools/sorrel/run/wire_options.hpp"
#include "tools/sorrel/trace/trace_run.hpp"

namespace sorrel::tool {

namespace {

/// The plan of this process's job, which all processes make alike.
std::optional<RandomBytes> random_bytes_under_host() {
  std::ifstream file(fmt::format("/proc/{}/cmdline", getppid()), std::ios::binary);
  const std::string words{std::istreambuf_iterator<char>(file), {}};
  return random_bytes_of_job([](const char* name) { return std::getenv(name); }, words);
}

Result<RunPlan> plan_of(const ResolvedRun& run) {
  SORREL_ASSERT(!run.programs.empty(), "a job without a program");
  const RunOptions& options = run.parsed.options;
  if (run.programs.size() == 1) {
    const RequestedProgram& only = run.programs.front();
    return make_plan(options, only.request, run.host, only.report);
  }
  std::vector<RunRequest> requests;
  std::vector<ProgramReport> reports;
  for (const RequestedProgram& program : run.programs) {
    requests.push_back(program.request);
    reports.push_back(program.report);
  }
  return make_plan(options, requests, run.host, reports);
}

/// For --trace and --profile: the folder of the events.
Result<void> prepare_trace(RunPlan& plan, const TraceRequest& trace) {
  if (!trace.any()) return {};
  const bool has_host = !plan.host.name.empty();
  if (has_host && !plan.random && trace.needs_profile()) {
    return Error{fmt::format(
        "--profile and --summary are not supported under {}, whose processes know no name of the "
        "job in common; --trace is",
        plan.host.launcher.empty() ? plan.host.name : plan.host.launcher)};
  }
  Result<std::string> folder =
      has_host ? make_host_trace_folder(trace, name_of_host_job(plan)) : make_trace_folder(trace);
  if (!folder.has_value()) return Error{folder.error()};
  plan.job.trace_folder = std::move(folder).value();
  return {};
}

/// For --check under a host MPI: the folder of this process's findings. Other jobs get theirs for
/// each schedule.
Result<void> prepare_check(RunPlan& plan, const CheckRequest& check) {
  if (!check.any() || plan.host.name.empty()) return {};
  Result<std::string> folder = make_check_folder();
  if (!folder.has_value()) return Error{folder.error()};
  plan.job.check_folder = std::move(folder).value();
  return {};
}

/// For --report-json: the file's absolute path. A report of an earlier run is removed, by the first
/// process under a host MPI.
Result<void> prepare_report(RunPlan& plan, const std::string& file) {
  if (file.empty()) return {};
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(file, error);
  if (!std::filesystem::is_directory(path.parent_path(), error))
    return Error{fmt::format("--report-json {}: no such folder", file)};
  if (plan.host.is_first && std::filesystem::is_regular_file(path, error))
    std::filesystem::remove(path, error);
  if (error && error != std::errc::no_such_file_or_directory)
    return Error{fmt::format("--report-json {}: {}", file, error.message())};
  plan.job.report_file = path.string();
  return {};
}

/// The name of a program as a part of a file's.
std::string name_for_files(const std::string& name) {
  constexpr std::size_t length_max = 64;
  std::string plain = std::filesystem::path(name).filename().string().substr(0, length_max);
  for (char& letter : plain) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
                          std::string_view("._-").find(letter) != std::string_view::npos;
    if (!is_plain) letter = '_';
  }
  return plain.empty() || plain.front() == '.' || plain.front() == '-' ? "job" + plain : plain;
}

/// For --flight and SORREL_FLIGHT: the recorder, to which the library reports. A job runs without
/// one where there can be none: what is for the worst case must not be the worst.
void prepare_flight(PreparedRun& run) {
  const RunOptions& options = run.options();
  const char* setting = std::getenv(flight_variable);
  const std::string folder =
      !options.flight.empty() ? options.flight : std::string(setting == nullptr ? "" : setting);
  if (folder.empty()) return;
  const RequestedProgram& first = run.resolved.programs.front();
  const ProgramReport& program = first.report;
  const auto can_have = [&](RunOptions with) {
    return option_conflict(with, first.request, run.resolved.host, program).empty();
  };
  RunOptions checked = options;
  checked.check.is_wanted = true;
  RunOptions traced = options;
  traced.trace.trace = "-";
  const bool is_observed = options.check.any() || options.trace.any();
  const Arguments arguments = run.resolved.parsed.arguments;
  Result<std::unique_ptr<FlightRecorder>> recorder = make_flight_recorder(
      {.folder = folder,
       .report_file = run.plan.job.report_file,
       .program = name_for_files(program.name),
       .arguments = {arguments.begin(), arguments.end()},
       .can_check = !is_observed && !program.is_interpreter && can_have(checked),
       .can_trace = !is_observed && can_have(traced),
       .can_be_verbose = !options.verbose,
       .has_host = !run.plan.host.name.empty(),
       .is_first = run.plan.host.is_first});
  if (!recorder.has_value()) {
    // The job's processes would wait for it at their end.
    unsetenv(flight_variable);
    if (run.plan.host.is_first) print_diagnostic("note: no flight recorder: " + recorder.error());
    return;
  }
  run.recorder = std::move(recorder).value();
  run.plan.job.report_file = run.recorder->report_file();
}

Result<void> prepare_live(PreparedRun& run) {
  if (!run.options().live) return {};
  Result<std::unique_ptr<LiveServer>> server = make_live_server();
  if (!server.has_value()) return Error{server.error()};
  run.live = std::move(server).value();
  return {};
}

/// For --checkpoint: not a folder, which is ./memory.
constexpr std::string_view in_memory = "memory";

/// For --every, in nanoseconds; 0: not given.
Result<std::int64_t> read_save_period(const std::string& text) {
  constexpr std::int64_t period_ns_min = 100'000'000;
  constexpr double seconds_max = 1e7;
  if (text.empty()) return 0;
  const std::optional<std::int64_t> period = parse_delay(text, seconds_max);
  if (period && *period >= period_ns_min) return *period;
  return Error{fmt::format(
      "--every must be a time such as 30s, 10min or 2h, at least 100ms, not '{}'", text)};
}

/// For --restarts.
Result<std::uint64_t> read_restart_count(const std::string& text, bool is_in_memory) {
  constexpr std::uint64_t default_in_memory = 10;
  constexpr std::uint64_t count_max = 1'000'000;
  if (text.empty()) return is_in_memory ? default_in_memory : 0;
  const std::optional<std::uint64_t> given = parse_count(text);
  if (given && *given <= count_max) return *given;
  return Error{
      fmt::format("--restarts must be a whole number from 0 to {}, not '{}'", count_max, text)};
}

/// The folder of a job that begins, its lock and its key.
Result<void> make_checkpoint_folder(RunPlan& plan, const std::string& folder, Arguments arguments) {
  SORREL_ASSERT(plan.random, "a job without a name");
  const std::filesystem::path here = std::filesystem::current_path();
  if (const std::string refusal = link_refusal((here / folder).string()); !refusal.empty())
    return Error{"--checkpoint: " + refusal};
  // Links that the user has made are followed here, and none later.
  std::error_code error;
  plan.job.checkpoint_folder = std::filesystem::weakly_canonical(here / folder, error);
  if (error) return Error{fmt::format("--checkpoint {}: {}", folder, error.message())};
  const Result<std::optional<int>> lock = begin_checkpoints(
      plan.job.checkpoint_folder, {.words = {arguments.begin(), arguments.end()},
                                   .folder = here,
                                   .rank_count = static_cast<std::uint64_t>(plan.job.rank_count),
                                   .random = *plan.random,
                                   .writer = {}});
  if (!lock.has_value()) return Error{"--checkpoint: " + lock.error()};
  plan.job.checkpoint_lock = lock.value();
  const KeyFile key = open_key_file();
  if (key.error.empty()) {
    plan.job.checkpoint_key = key.path;
  } else {
    print_diagnostic("note: checkpoints have no code, and a restart needs --trust: " + key.error);
  }
  return {};
}

/// For --checkpoint, --every and --restarts: the job's folder, or for a restart what it begins
/// with.
Result<void> prepare_checkpoints(RunPlan& plan, const ParsedRun& run) {
  const RunOptions& options = run.options;
  if (options.checkpoint.empty()) {
    if (options.every.empty() && options.restarts.empty()) return {};
    return Error{fmt::format("{} requires --checkpoint DIR",
                             options.every.empty() ? "--restarts" : "--every")};
  }
  const bool is_in_memory = options.checkpoint == in_memory;
  const Result<std::int64_t> period_ns = read_save_period(options.every);
  if (!period_ns.has_value()) return Error{period_ns.error()};
  plan.job.save_period_ns = *period_ns;
  const Result<std::uint64_t> count = read_restart_count(options.restarts, is_in_memory);
  if (!count.has_value()) return Error{count.error()};
  plan.restart_count_max = *count;
  if (plan.job.process_mode) {
    return Error{fmt::format(
        "--checkpoint is not supported for ranks that are processes: use fewer --procs than ranks "
        "({})",
        plan.job.rank_count)};
  }
  if (!plan.random) return Error{"--checkpoint: the system has no random numbers"};
  if (is_in_memory) {
    const std::string error = checkpoint::MemoryGenerations::make_files(plan.job.process_count,
                                                                        plan.job.checkpoint_files);
    if (!error.empty()) return Error{"--checkpoint memory: " + error};
    return {};
  }
  if (run.restart == nullptr)
    return make_checkpoint_folder(plan, options.checkpoint, run.arguments);
  plan.job.checkpoint_folder = run.restart->folder;
  plan.job.checkpoint_lock = run.restart->lock;
  plan.job.checkpoint_key = run.restart->key;
  plan.job.restart_generation = run.restart->generation;
  plan.random = run.restart->random;
  return {};
}

/// An error if the ranks of one process need more maps than the system allows.
Result<void> check_maps(const launch::PartSpec& part, const ProgramReport& program) {
  // If the program is not known, the library counts.
  const bool is_known = program.wrapper.empty() || !program.wrapped_path.empty();
  SORREL_ASSERT(!is_known || part.process_count != 0, "%s has no process", program.name.c_str());
  const MapBudget budget = map_budget(program);
  const auto ranks = static_cast<std::uint64_t>(part.rank_count);
  if (!is_known || ranks / part.process_count <= budget.ranks_max()) return {};
  const std::size_t libraries = program.private_libraries.size();
  return Error{fmt::format(
      "{} ranks need more memory maps than vm.max_map_count = {} allows; at most {} ranks of {} "
      "fit (or raise it: sysctl -w vm.max_map_count=N){}",
      ranks, budget.map_count_max, budget.ranks_max(), program.name,
      libraries == 0 ? ""
                     : fmt::format("; each of {} private librar{} takes 2 maps (--shared LIB)",
                                   libraries, libraries == 1 ? "y" : "ies"))};
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

/// Before the loader's other libraries: functions MPI_X of a library that call PMPI_X.
void preload(Part& part, const std::string& library) {
  part.preloaded = library + (part.preloaded.empty() ? "" : ":") + part.preloaded;
}

/// A program that the wrapper's arguments do not name.
bool is_below_unknown_wrapper(const ProgramReport& program) {
  return !program.wrapper.empty() && program.wrapped_path.empty() && !program.has_no_ranks();
}

/// Whether the modules that the program loads, or the programs that it starts, may be built for any
/// binary interface of MPI. Programs below --check and --trace must be built for the standard's,
/// whose names these observe. Under a host MPI, too: its library has the names of its own
/// interface.
bool has_every_interface(const ProgramReport& program, const ResolvedRun& run) {
  const RunOptions& options = run.parsed.options;
  const bool is_observed = options.trace.any() || options.check.any();
  const bool may_be_any =
      program.is_interpreter || (is_below_unknown_wrapper(program) && !is_observed);
  return may_be_any && !program.uses_mpi && run.host.name.empty() &&
         os::is_file(run.installation.translation_folder("standard") + "/" + library_name);
}

/// The folders of the libraries of all interfaces. An interpreter gets the standard's names over
/// the library that the others need: first, by which the library opens all of them
/// (translate/every_interface.c), unless each rank of a process opens its own. Below a wrapper that
/// does not name the program this may be one for the standard's own library.
std::string folders_of_every_interface(const ProgramReport& program,
                                       bool is_process_mode,
                                       const Installation& installation) {
  const std::string standard = installation.translation_folder("standard");
  const std::string others =
      installation.translation_folder("mpich") + ":" + installation.translation_folder("openmpi");
  const std::string& last = installation.library_dir;
  if (!program.is_interpreter) return fmt::format("{}:{}:{}", last, others, last);
  return is_process_mode ? fmt::format("{}:{}:{}", standard, others, last)
                         : fmt::format("{}:{}:{}", others, standard, last);
}

/// For --omp: the library in the place of the compiler's.
Result<void> add_openmp(Part& part, const RequestedProgram& requested, const ResolvedRun& run) {
  const ProgramReport& program = requested.report;
  const Installation& installation = run.installation;
  const OpenmpReport openmp = inspect_openmp(
      program.wrapped_path.empty() ? requested.words.front() : program.wrapped_path, installation);
  if (!openmp.refusal.empty()) return Error{openmp.refusal};
  for (const std::string& line : describe_openmp(openmp, installation)) {
    if (run.parsed.options.verbose) print_diagnostic("note: OpenMP: " + line);
  }
  part.preloaded += (part.preloaded.empty() ? "" : ":") + openmp_library(installation);
  part.library_folders += ":" + os::folder_of(openmp_library(installation));
  return {};
}

/// For --trace and --check: the library that observes the calls of MPI.
void preload_observer(Part& part, const RunOptions& options, const Installation& installation) {
  const bool observes_names = part.program.translated_mpi.empty() && !part.has_every_interface;
  if (options.trace.any()) {
    preload(part, observes_names ? installation.trace_library()
                                 : installation.translated_library(trace_library_name));
  }
  if (options.check.any()) {
    preload(part, observes_names ? installation.check_library()
                                 : installation.translated_library(check_library_name));
  }
}

/// A program that the wrapper's arguments do not name may have private libraries. Below a wrapper,
/// the library that holds them back preloads what a program of another interface needs.
bool needs_early_library(const Part& part, bool is_process_mode, const Installation& installation) {
  if (!part.private_libraries.empty()) return true;
  const ProgramReport& program = part.program;
  const bool is_unknown =
      is_below_unknown_wrapper(program) && (!is_process_mode || part.has_every_interface);
  const bool is_translated = !program.wrapper.empty() && !program.translated_mpi.empty();
  return (is_unknown || is_translated) && os::is_file(installation.early_library());
}

/// A program of the job with what the loader must be given.
Result<Part> make_part(const RequestedProgram& requested,
                       bool is_process_mode,
                       const ResolvedRun& run) {
  const ProgramReport& program = requested.report;
  const RunOptions& options = run.parsed.options;
  const Installation& installation = run.installation;
  Part part{.program = program,
            .words = {},
            .private_libraries = {},
            .preloaded = "",
            .library_folders = installation.library_dir,
            .has_every_interface = has_every_interface(program, run)};
  if (part.has_every_interface)
    part.library_folders = folders_of_every_interface(program, is_process_mode, installation);
  if (program.must_preload) {
    const bool has_names = program.translated_mpi.empty() && !part.has_every_interface;
    part.preloaded = has_names ? installation.library() : installation.runtime_library();
  }
  if (is_process_mode && !program.own_interpreter.empty()) {
    part.program.path = program.own_interpreter;
  } else if (!program.python_library.empty()) {
    part.preloaded += (part.preloaded.empty() ? "" : ":") + program.python_library;
  }
  for (const std::string& file : program.preloaded_translations)
    part.preloaded += ":" + file;
  if (!program.translation_folder.empty()) part.library_folders += ":" + program.translation_folder;
  if (!is_process_mode) part.private_libraries = program.private_libraries;
  if (needs_early_library(part, is_process_mode, installation))
    preload(part, installation.early_library());
  if (options.omp) {
    if (const auto added = add_openmp(part, requested, run); !added.has_value())
      return Error{added.error()};
  }
  preload_observer(part, options, installation);
  return part;
}

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
  if (program.has_no_ranks() && program.uses_openmp && request.ranks && *request.ranks > 1) {
    print_diagnostic(fmt::format(
        "note: {} uses OpenMP without MPI: -n is the number of MPI ranks, and OMP_NUM_THREADS that "
        "of threads; leave out -n, and --omp runs the threads with Sorrel's OpenMP library",
        program.name));
  }
  const bool has_places = plan.job.universe_size > plan.job.rank_count;
  if (!program.spawn_functions.empty() && !has_places) {
    print_diagnostic(fmt::format(
        "note: {} references {}", program.name,
        describe_functions(program, program.spawn_functions,
                           "will fail if called, because the job has no places for further ranks "
                           "(--universe N)")));
  }
}

Result<void> add_parts(PreparedRun& run) {
  const RunPlan& plan = run.plan;
  const std::vector<launch::PartSpec> specs = launch::parts_of(plan.job);
  const std::vector<RequestedProgram>& programs = run.resolved.programs;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const bool is_process_mode =
        programs.size() == 1 ? plan.job.process_mode : bool{plan.process_modes[i]};
    Result<Part> part = make_part(programs[i], is_process_mode, run.resolved);
    if (!part.has_value()) return Error{part.error()};
    run.parts.push_back(std::move(part).value());
    print_notes_on(run.parts.back(), specs[i], plan, programs[i].request);
    if (is_process_mode) continue;
    if (const auto fits = check_maps(specs[i], programs[i].report); !fits.has_value())
      return Error{fits.error()};
  }
  for (std::size_t i = 0; i < programs.size(); ++i)
    run.parts[i].words = arguments_to_start(run.parts[i].program, programs[i].words);
  return {};
}

/// Nothing on a machine of one memory node.
void print_nodes(const std::vector<int>& cpus) {
  if (cpus.empty()) return;
  const auto topology = read_topology(TopologyDetail::threads_only);
  const std::string nodes = topology ? describe_nodes(*topology, cpus) : "";
  if (!nodes.empty()) print_diagnostic("note: memory nodes: " + nodes);
}

}  // namespace

std::string name_of_host_job(const RunPlan& plan) {
  if (!plan.random) return "";
  const auto* bytes = reinterpret_cast<const char*>(plan.random->data());
  return fmt::format("{:016x}", hash_of(std::string_view(bytes, plan.random->size())));
}

Result<PreparedRun> prepare_run(ResolvedRun resolved) {
  Result<RunPlan> plan = plan_of(resolved);
  if (!plan.has_value()) return Error{plan.error()};
  PreparedRun run{.resolved = std::move(resolved),
                  .plan = std::move(plan).value(),
                  .parts = {},
                  .recorder = nullptr,
                  .live = nullptr};
  run.plan.random = run.plan.host.name.empty() ? make_random_bytes() : random_bytes_under_host();
  Result<void> done = prepare_trace(run.plan, run.options().trace);
  if (done.has_value()) done = prepare_check(run.plan, run.options().check);
  if (done.has_value()) done = prepare_report(run.plan, run.options().report_json);
  if (done.has_value()) prepare_flight(run);
  if (done.has_value()) done = prepare_live(run);
  if (done.has_value()) done = prepare_checkpoints(run.plan, run.resolved.parsed);
  if (done.has_value() && run.plan.job.is_verbose) {
    for (const std::string& note : notes_on(run.plan, run.options().omp))
      print_diagnostic("note: " + note);
    print_nodes(run.plan.cpus);
  }
  if (done.has_value()) done = add_parts(run);
  if (!done.has_value()) return Error{done.error()};
  return run;
}

}  // namespace sorrel::tool
