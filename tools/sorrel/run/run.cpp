// `sorrel run`: the pipeline, and its first two stages, which read the command line and inspect the
// programs.

#include <cstdlib>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/sorrel/common/command.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/inspect/python_program.hpp"
#include "tools/sorrel/inspect/wrapper.hpp"
#include "tools/sorrel/run/config_file.hpp"
#include "tools/sorrel/run/openmp.hpp"
#include "tools/sorrel/run/part_words.hpp"
#include "tools/sorrel/run/run_stages.hpp"

namespace sorrel::tool {

namespace {

bool is_share(const std::string& word) {
  // `polite` is an earlier name of `yielding`.
  return word.empty() || word == "fair" || word == "yielding" || word == "fixed" ||
         word == "polite";
}

/// Reads the options into `own`, and into run.options together with those of the configuration
/// file, which precede them. Sets run.status if the parser ends the command.
Result<void> parse_with_config(ParsedRun& run, RunOptions& own) {
  const auto app = make_run_app(own);
  run.status = parse_options(*app, run.given.options);
  if (run.status) return {};
  Result<ConfigFile> read = read_config_file(*app);
  if (!read.has_value()) return Error{read.error()};
  const ConfigFile& config = read.value();
  run.options = own;
  if (config.options.empty()) return {};
  run.given.options.insert(run.given.options.begin(), config.options.begin(), config.options.end());
  run.options = {};
  run.status = parse_options(*make_run_app(run.options), run.given.options);
  if (!run.status && run.options.verbose)
    print_diagnostic(fmt::format("note: {}: {}", config.path, fmt::join(config.options, " ")));
  return {};
}

/// One line about the first library of --shared or --private that no program needs.
Result<void> check_libraries(const ResolvedRun& run) {
  const auto check = [&](const LibraryOptions& option) -> std::string {
    std::string error;
    for (const RequestedProgram& program : run.programs) {
      const std::string here = check_library_options(program.report, option, run.installation);
      if (here.empty()) return "";
      if (error.empty()) error = here;
    }
    return error;
  };
  const LibraryOptions& given = run.programs.front().request.libraries;
  std::string error;
  for (std::size_t i = 0; i < given.shared.size() && error.empty(); ++i)
    error = check({.shared = {given.shared[i]}, .private_ones = {}});
  for (std::size_t i = 0; i < given.private_ones.size() && error.empty(); ++i)
    error = check({.shared = {}, .private_ones = {given.private_ones[i]}});
  if (!error.empty()) return Error{error};
  return {};
}

/// An error if the launcher is not supported for a program of another MPI's interface.
Result<void> check_translation(const ProgramReport& program, const Host& host) {
  if (program.translated_mpi.empty() || host.name.empty()) return {};
  return Error{fmt::format(
      "{} is built for {}, whose libraries cannot be in a process with those of {}; start `sorrel "
      "run` itself, without a launcher",
      program.name, program.translated_mpi, host.launcher.empty() ? host.name : host.launcher)};
}

/// An error if several ranks would read their program from standard input.
Result<void> check_script(const ProgramReport& program,
                          const RunRequest& request,
                          Arguments words) {
  const bool is_script = program.leading_arguments.size() > 1;
  if (!program.is_python || !program.wrapper.empty() || is_script || request.ranks == 1 ||
      !reads_program_from_input(words))
    return {};
  return Error{fmt::format(
      "{} without a script reads its program from standard input, which only rank 0 has: give a "
      "script, -c or -m, or -n 1 for an interactive session",
      program.name)};
}

}  // namespace

Result<ParsedRun> parse_run(Arguments arguments, const Restart* restart) {
  ParsedRun run;
  run.arguments = arguments;
  run.restart = restart;
  RunOptions own;
  run.given = split_arguments(*make_run_app(own), arguments);
  if (!run.given.error.empty()) return Error{run.given.error};
  std::vector<std::string>& options = run.given.options;
  if (restart != nullptr)
    options.insert(options.end(), restart->options.begin(), restart->options.end());
  if (const auto read = parse_with_config(run, own); !read.has_value()) return Error{read.error()};
  if (run.status) return run;
  if (run.given.program.empty())
    return Error{fmt::format("no program given; usage: {}", run_usage)};
  if (!is_share(run.options.share)) {
    return Error{
        fmt::format("--share must be fair, yielding or fixed, not '{}'", run.options.share)};
  }
  run.is_openmp_only = run.options.omp && !concerns_ranks(own);
  if (run.is_openmp_only && (!own.flight.empty() || own.live)) {
    return Error{fmt::format("{} needs a job of ranks: give their number (-n)",
                             own.live ? "--live" : "--flight")};
  }
  return run;
}

Result<ResolvedRun> resolve_run(ParsedRun parsed) {
  ResolvedRun run{.parsed = std::move(parsed), .installation = {}, .host = {}, .programs = {}};
  const RunOptions& options = run.parsed.options;
  run.installation = find_installation();
  run.host =
      find_host(options.host, [](const char* name) { return std::getenv(name); }, run.installation);
  if (!run.host.error.empty()) return Error{run.host.error};
  if (run.installation.library_dir.empty()) {
    return Error{fmt::format("{} is not beside this command: expected it in ../lib of {}",
                             library_name, run.installation.executable)};
  }
  const Result<std::vector<PartWords>> parts = split_parts(run.parsed.given.program, options.ranks);
  if (!parts.has_value()) return Error{parts.error()};
  for (const PartWords& part : parts.value()) {
    RunOptions own = options;
    own.ranks = part.ranks;
    Result<RunRequest> request = read_options(own, parts.value().size() > 1 ? 0 : 1);
    if (!request.has_value()) return Error{request.error()};
    ProgramReport report =
        inspect_arguments(part.program, run.installation, request.value().libraries);
    if (!report.refusal.empty()) return Error{report.refusal};
    if (const auto checked = check_translation(report, run.host); !checked.has_value())
      return Error{checked.error()};
    if (const auto checked = check_script(report, request.value(), part.program);
        !checked.has_value())
      return Error{checked.error()};
    run.programs.push_back({std::move(request).value(), std::move(report), part.program});
  }
  if (const auto checked = check_libraries(run); !checked.has_value())
    return Error{checked.error()};
  return run;
}

int run_job(Arguments arguments, const Restart* restart) {
  Result<ParsedRun> parsed = parse_run(arguments, restart);
  if (!parsed.has_value()) return report_error("{}", parsed.error());
  if (parsed->status) return *parsed->status;
  if (parsed->is_openmp_only) {
    parsed->blocked.end();
    return run_openmp(parsed->given.program.data(),
                      {.share = parsed->options.share, .is_verbose = parsed->options.verbose});
  }
  Result<ResolvedRun> resolved = resolve_run(std::move(parsed).value());
  if (!resolved.has_value()) return report_error("{}", resolved.error());
  const Result<PreparedRun> prepared = prepare_run(std::move(resolved).value());
  if (!prepared.has_value()) return report_error("{}", prepared.error());
  return start_run(prepared.value());
}

int run_command(Arguments arguments) {
  return run_job(arguments, nullptr);
}

}  // namespace sorrel::tool
