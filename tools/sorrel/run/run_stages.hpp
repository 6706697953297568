//! The stages of `sorrel run`: parse_run() -> resolve_run() -> prepare_run() -> start_run(). Each
//! is a function of the value of the stage before. An error is one line for the user, and nothing
//! has been started.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sorrel/result.hpp>

#include "tools/sorrel/common/command_line.hpp"
#include "tools/sorrel/common/host.hpp"
#include "tools/sorrel/common/installation.hpp"
#include "tools/sorrel/flight/flight_recorder.hpp"
#include "tools/sorrel/inspect/preflight.hpp"
#include "tools/sorrel/live/live_server.hpp"
#include "tools/sorrel/run/blocked_requests.hpp"
#include "tools/sorrel/run/run_job.hpp"
#include "tools/sorrel/run/run_options.hpp"
#include "tools/sorrel/run/run_plan.hpp"

namespace sorrel::tool {

/// The command line with the configuration file.
struct ParsedRun {
  BlockedRequests blocked;  ///< from the construction of this value
  Arguments arguments;
  const Restart* restart = nullptr;  ///< null: the job begins
  SplitArguments given;              ///< options of the configuration file first
  RunOptions options;
  bool is_openmp_only = false;  ///< --omp, and no option concerns ranks
  /// The command ends with this status: the parser of options has printed the help or the error.
  std::optional<int> status;
};

/// A program of the job, as its part of the command line and its file say.
struct RequestedProgram {
  RunRequest request;
  ProgramReport report;
  Arguments words;
};

/// What the command line names, found on this machine.
struct ResolvedRun {
  ParsedRun parsed;
  Installation installation;
  Host host;
  std::vector<RequestedProgram> programs;
};

/// A program of the job, as it is started.
struct Part {
  ProgramReport program;
  std::vector<char*> words;                    ///< for execv(), with a null pointer at the end
  std::vector<std::string> private_libraries;  ///< each rank of a process has its own
  std::string preloaded;                       ///< files, a:b
  std::string library_folders;                 ///< a:b
  /// Its modules, or the programs that it starts, may be built for any binary interface of MPI.
  bool has_every_interface = false;
};

/// The job with all that it needs: its folders exist.
struct PreparedRun {
  ResolvedRun resolved;
  RunPlan plan;
  std::vector<Part> parts;
  std::unique_ptr<FlightRecorder> recorder;  ///< null: none
  std::unique_ptr<LiveServer> live;          ///< null: none

  /// Whether this command looks into the job.
  [[nodiscard]] bool is_watched() const { return recorder != nullptr || live != nullptr; }

  [[nodiscard]] const RunOptions& options() const { return resolved.parsed.options; }

  [[nodiscard]] const BlockedRequests& blocked() const { return resolved.parsed.blocked; }

  /// The number that --schedules gives.
  [[nodiscard]] std::optional<std::uint64_t> schedules() const {
    return resolved.programs.front().request.schedules;
  }
};

[[nodiscard]] Result<ParsedRun> parse_run(Arguments arguments, const Restart* restart);
[[nodiscard]] Result<ResolvedRun> resolve_run(ParsedRun parsed);
[[nodiscard]] Result<PreparedRun> prepare_run(ResolvedRun resolved);

/// Executes the program in this process, or stays as the parent of the job's processes until the
/// last one has ended. Returns the exit status of the command.
[[nodiscard]] int start_run(const PreparedRun& run);

/// A name that all processes of a job under a host MPI know, and no other job; "" if there is none.
[[nodiscard]] std::string name_of_host_job(const RunPlan& plan);

}  // namespace sorrel::tool
