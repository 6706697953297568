//! RunOptions - the options of `sorrel run` as text; RunRequest - the same, parsed, as far as
//! neither the program nor the machine matters.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sorrel/result.hpp>

#include "launch/job_spec.hpp"
#include "tools/sorrel/check/check_run.hpp"
#include "tools/sorrel/common/host.hpp"
#include "tools/sorrel/inspect/preflight.hpp"
#include "tools/sorrel/trace/trace_run.hpp"

namespace sorrel::tool {

inline constexpr const char* run_usage =
    "sorrel run [options] PROGRAM [ARGS…] [: -n N PROGRAM [ARGS…]]…";

/// Ranks of a job, at most.
inline constexpr std::uint64_t ranks_max = 1'000'000;

struct RunOptions {
  std::string ranks;
  std::string procs;
  std::string universe;
  std::string workers;
  std::string stack;
  std::string bind;
  std::string share;
  std::string balance;
  std::string wire;
  std::string seed;
  std::string checkpoint;
  std::string every;
  std::string restarts;
  TraceRequest trace;
  CheckRequest check;
  std::string junit;        ///< a file; "": none
  std::string report_json;  ///< a file; "": none
  std::string flight;       ///< a folder; "": that of SORREL_FLIGHT, or none
  std::vector<std::string> shared;
  std::vector<std::string> private_ones;
  HostOptions host;
  bool label = false;
  bool verbose = false;
  bool omp = false;
  bool comm_worker = false;
  bool live = false;
};

struct RunRequest {
  std::optional<std::uint64_t> ranks;
  std::optional<std::uint64_t> procs;
  std::optional<std::uint64_t> universe;
  std::optional<std::uint64_t> workers;
  std::uint64_t stack_bytes = 0;  ///< 0: not given
  LibraryOptions libraries;       ///< of --shared and --private
  launch::Balance balance = launch::Balance::automatic;
  bool is_auto = false;      ///< --procs auto
  bool has_threads = false;  ///< --omp
  std::optional<std::uint64_t> schedules;
};

/// Binds the options of the App to the argument, which must outlive it.
[[nodiscard]] std::unique_ptr<CLI::App> make_run_app(RunOptions& options);

/// Whether the options concern ranks: then --omp applies within the ranks.
[[nodiscard]] bool concerns_ranks(const RunOptions& options);

/// `ranks_min`: 0 for a program of several, which then only waits for ranks that others spawn.
[[nodiscard]] Result<RunRequest> read_options(const RunOptions& options,
                                              std::uint64_t ranks_min = 1);

}  // namespace sorrel::tool
