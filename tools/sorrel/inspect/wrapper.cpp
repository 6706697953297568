#include "tools/sorrel/inspect/wrapper.hpp"

#include <cstdlib>
#include <fmt/core.h>
#include <vector>

#include "launch/job_spec.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/common/program_file.hpp"
#include "tools/sorrel/inspect/interpreter.hpp"

namespace sorrel::tool {

namespace {

bool is_valgrind(const std::string& path) {
  return path.substr(path.rfind('/') + 1) == "valgrind";  // npos + 1 is 0
}

/// What the user of the job around this process has declared as shared.
std::vector<std::string> shared_of_job() {
  const char* text = std::getenv(launch::job_variable);
  const auto job = launch::decode(text == nullptr ? "" : text);
  return job ? job->shared_libraries : std::vector<std::string>();
}

/// The report of the program below the wrapper, as `run` must start it.
ProgramReport wrapped(ProgramReport inner, const ProgramReport& outer) {
  if (inner.refusal.empty() && inner.uses_mpi && inner.must_preload) {
    inner.refusal = fmt::format(
        "{} has an RPATH to another MPI library, which only a preloaded library overrules, and {} "
        "would be preloaded too; start {} without {}",
        inner.name, outer.name, inner.name, outer.name);
  }
  if (inner.refusal.empty() && !inner.preloaded_translations.empty()) {
    inner.refusal = fmt::format(
        "{} uses the classes of {}'s C++ bindings, or has an RPATH to its library: both need a "
        "preloaded library, and {} would be preloaded too; start {} without {}",
        inner.name, inner.translated_mpi, outer.name, inner.name, outer.name);
  }
  if (inner.own_process_reason.empty() && is_valgrind(outer.path)) {
    inner.own_process_reason =
        fmt::format("{} cannot follow the stacks of ranks that share a process", outer.name);
  }
  inner.wrapper = outer.name;
  inner.wrapped_path = real_path(inner.path);
  inner.path = outer.path;
  inner.leading_arguments = outer.leading_arguments;
  inner.must_preload = false;
  return inner;
}

}  // namespace

ProgramReport inspect_arguments(Arguments arguments,
                                const Installation& installation,
                                const LibraryOptions& libraries) {
  ProgramReport outer = inspect_program(arguments.front(), installation, libraries);
  // A static executable does not show whether it starts programs.
  const bool may_start = outer.is_static && !outer.kind.empty();
  const bool is_ranks = outer.is_mpi_program() || outer.may_be_ranks;
  if (!may_start && (!outer.refusal.empty() || (is_ranks && !outer.starts_programs))) return outer;
  LibraryOptions below = libraries;
  below.may_preload = false;
  for (const std::string word : arguments.subspan(1)) {
    if (!may_start && !outer.starts_programs) break;
    ProgramReport inner = inspect_program(word, installation, below);
    if (inner.is_mpi_program()) return wrapped(std::move(inner), outer);
  }
  if (!outer.refusal.empty()) return outer;
  outer.wrapper = outer.name;
  outer.must_preload = false;
  outer.private_libraries.clear();
  // The program below the wrapper becomes the ranks. What a script has is about that program.
  if (!outer.is_interpreter && outer.kind != "script" && !starts_interpreter(outer.path))
    outer.own_process_reason.clear();
  return outer;
}

int preflight_command(Arguments arguments) {
  if (arguments.size() != 1 && arguments.size() != 3)
    return report_error("preflight is for the library's use; see `sorrel info --help`");
  const ProgramReport report =
      inspect_program(arguments[0], find_installation(),
                      {.shared = shared_of_job(), .private_ones = {}, .may_preload = false});
  if (arguments.size() == 1) {
    launch::JobSpec job;
    if (report.refusal.empty()) job.private_libraries = report.private_libraries;
    fmt::print("{}\n", launch::encode(job));
  } else if (!report.refusal.empty()) {
    fmt::print("{}\n", report.refusal);
  } else if (!report.own_process_reason.empty()) {
    fmt::print("{}; below {} every rank must be a process: --procs {}\n", report.own_process_reason,
               arguments[2], arguments[1]);
  }
  return 0;
}

}  // namespace sorrel::tool
