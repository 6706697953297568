#include "tools/sorrel/run/option_conflict.hpp"

#include <algorithm>
#include <fmt/core.h>
#include <initializer_list>

namespace sorrel::tool {

namespace {

class OptionConflict {
 public:
  OptionConflict(const RunOptions& options,
                 const RunRequest& request,
                 const Host& host,
                 const ProgramReport& program)
      : options_(options), request_(request), program_(program), host_(host) {}

  [[nodiscard]] std::string first() const {
    for (const auto conflict : {&OptionConflict::of_libraries, &OptionConflict::of_universe,
                                &OptionConflict::of_checkpoints, &OptionConflict::of_workers,
                                &OptionConflict::of_observers, &OptionConflict::of_schedules,
                                &OptionConflict::of_simulation}) {
      std::string error = (this->*conflict)();
      if (!error.empty()) return error;
    }
    return "";
  }

 private:
  struct Row {
    bool is_given;
    bool has_opponent;
    std::string error;
  };

  static std::string first_of(std::initializer_list<Row> table) {
    for (const Row& row : table) {
      if (row.is_given && row.has_opponent) return row.error;
    }
    return "";
  }

  /// --shared, --private, and --bind.
  [[nodiscard]] std::string of_libraries() const {
    return first_of({{in_both_ != own_.end(), true,
                      fmt::format("--shared and --private exclude each other: {}",
                                  in_both_ != own_.end() ? *in_both_ : "")},
                     {!own_.empty(), !program_.own_process_reason.empty(),
                      fmt::format("--private needs ranks that share a process: {}",
                                  program_.own_process_reason)},
                     {!own_.empty(), is_process_mode_,
                      "--private is for ranks that share a process, and with --procs as large as "
                      "-n each rank is a process"},
                     {options_.bind == "core", is_not_fixed_,
                      fmt::format("--bind core requires --share fixed, not {}", options_.share)}});
  }

  [[nodiscard]] std::string of_universe() const {
    return first_of(
        {{has_universe_, !program_.own_process_reason.empty(),
          fmt::format("--universe needs ranks that share a process: {}",
                      program_.own_process_reason)},
         {has_universe_, is_simulated_,
          fmt::format("--universe and --{} exclude each other: a simulation has a fixed number of "
                      "ranks",
                      simulation_)},
         {has_universe_, is_saved_,
          "--universe and --checkpoint exclude each other: ranks that are spawned are not saved"},
         {has_universe_, options_.comm_worker,
          "--universe and --comm-worker exclude each other: spawned ranks run on all workers"},
         {has_universe_, options_.omp, "--universe is not supported with --omp"}});
  }

  [[nodiscard]] std::string of_checkpoints() const {
    return first_of(
        {{is_saved_, is_simulated_,
          fmt::format("--checkpoint and --{} exclude each other: the order of a simulation is not "
                      "saved",
                      simulation_)},
         {is_saved_, has_host_,
          fmt::format(
              "--checkpoint is not supported under {}; on one machine `sorrel run -n N --procs "
              "P --checkpoint DIR` without it is",
              launcher_)},
         {is_saved_, is_not_fixed_,
          fmt::format("--checkpoint requires --share fixed, not {}", options_.share)},
         {is_saved_, options_.omp,
          "--checkpoint and --omp exclude each other: threads are not saved"},
         {is_saved_, options_.comm_worker,
          "--checkpoint and --comm-worker exclude each other: tasks of graphs are not saved"},
         {is_saved_, options_.trace.any(),
          "--checkpoint and --trace exclude each other: a trace cannot go on after a restart"},
         {is_saved_, !shared_.empty(),
          "--checkpoint and --shared exclude each other: what ranks share is not saved"},
         {is_saved_, !program_.own_process_reason.empty(),
          fmt::format("--checkpoint needs ranks that share a process: {}",
                      program_.own_process_reason)},
         {is_saved_, !program_.wrapper.empty(),
          fmt::format("--checkpoint needs the program itself, not {}", program_.wrapper)}});
  }

  /// --balance and --comm-worker.
  [[nodiscard]] std::string of_workers() const {
    return first_of(
        {{needs_blocks_, is_simulated_,
          fmt::format(
              "--balance {} and --{} exclude each other: ranks of a simulation stay on their "
              "workers",
              options_.balance, simulation_)},
         {needs_blocks_, options_.comm_worker,
          fmt::format("--balance {} and --comm-worker exclude each other: one worker has all ranks",
                      options_.balance)},
         {needs_blocks_, options_.omp,
          fmt::format(
              "--balance {} and --omp exclude each other: ranks with OpenMP threads stay on "
              "their workers",
              options_.balance)},
         {options_.comm_worker, !options_.seed.empty(),
          "--comm-worker needs at least 2 workers, and --seed allows one"},
         {options_.comm_worker, request_.workers == 1,
          "--comm-worker needs at least 2 workers: one for messages, the rest for tasks"},
         {options_.comm_worker, is_not_fixed_,
          fmt::format(
              "--comm-worker reserves a worker for messages: it requires --share fixed, not "
              "{}",
              options_.share)},
         {options_.comm_worker, options_.omp,
          "--comm-worker and --omp exclude each other: with --omp a rank's threads run on its own "
          "worker"},
         {options_.comm_worker, !program_.own_process_reason.empty(),
          fmt::format("--comm-worker needs ranks that can share a process: {}",
                      program_.own_process_reason)}});
  }

  /// Options that look into the job.
  [[nodiscard]] std::string of_observers() const {
    return first_of(
        {{!options_.junit.empty(), has_host_,
          fmt::format("--junit is not supported under {}; --report-json is", launcher_)},
         {options_.live, has_host_,
          fmt::format("--live is not supported under {}; `sorrel top` on one of its machines is",
                      launcher_)},
         {options_.live, request_.schedules.has_value(),
          "--live and --schedules exclude each other: a page shows one run"},
         {is_checked_, program_.has_no_ranks(),
          fmt::format("--check observes calls of MPI, and {} makes none", program_.name)},
         {options_.trace.any(), program_.has_no_ranks(),
          fmt::format("--trace and --profile observe calls of MPI, and {} makes none",
                      program_.name)},
         {is_checked_, options_.trace.any(),
          "--check and --trace or --profile exclude each other: both observe the calls of MPI"}});
  }

  /// --schedules and --check.
  [[nodiscard]] std::string of_schedules() const {
    return first_of(
        {{request_.schedules.has_value(), has_host_,
          fmt::format("--schedules needs a job of one process, but {} has started several",
                      launcher_)},
         {request_.schedules.has_value(), !options_.procs.empty() && request_.procs != 1,
          "--schedules needs a job of one process: leave out --procs"},
         {request_.schedules.has_value(), !program_.own_process_reason.empty(),
          fmt::format("--schedules needs a job of one process: {}", program_.own_process_reason)},
         {is_checked_, request_.workers.value_or(1) > 1,
          fmt::format("--check needs --workers 1, not {}", options_.workers)},
         {is_checked_, !options_.wire.empty(),
          "--check and --wire exclude each other: simulated nodes are processes"},
         {is_checked_, options_.comm_worker,
          "--comm-worker needs at least 2 workers, and --check allows one"},
         {request_.schedules.has_value(), !options_.seed.empty(),
          "--schedules and --seed exclude each other: a schedule is a seed"},
         {is_checked_, options_.omp, "--check is not supported with --omp"}});
  }

  [[nodiscard]] std::string of_simulation() const {
    return first_of(
        {{is_simulated_, !options_.procs.empty(),
          fmt::format("--{} needs a job of one process: leave out --procs", simulation_)},
         {is_simulated_, !program_.own_process_reason.empty(),
          fmt::format("--{} needs a job of one process: {}", simulation_,
                      program_.own_process_reason)},
         {!options_.procs.empty(), has_host_,
          fmt::format(
              "--procs is not supported under a host MPI: {} has started the processes, and "
              "its options set their number",
              launcher_)},
         {is_simulated_, has_host_,
          fmt::format(
              "--{} needs a job of one process, but {} has started several; use --host none",
              simulation_, launcher_)}});
  }

  const RunOptions& options_;
  const RunRequest& request_;
  const ProgramReport& program_;
  const Host& host_;
  const std::vector<std::string>& shared_ = request_.libraries.shared;
  const std::vector<std::string>& own_ = request_.libraries.private_ones;
  const std::vector<std::string>::const_iterator in_both_ =
      std::find_first_of(own_.begin(), own_.end(), shared_.begin(), shared_.end());
  const bool is_process_mode_ = request_.procs && request_.procs == request_.ranks && !own_.empty();
  const bool is_not_fixed_ = !options_.share.empty() && options_.share != "fixed";
  const bool has_host_ = !host_.name.empty();
  const std::string launcher_ = host_.launcher.empty() ? "a host MPI" : host_.launcher;
  const bool is_simulated_ = !options_.wire.empty() || !options_.seed.empty();
  const char* const simulation_ = options_.wire.empty() ? "seed" : "wire";
  const bool needs_blocks_ = options_.balance == "steal" || options_.balance == "measured";
  const bool is_checked_ = options_.check.any();
  const bool is_saved_ = !options_.checkpoint.empty();
  const bool has_universe_ = !options_.universe.empty();
};

}  // namespace

std::string option_conflict(const RunOptions& options,
                            const RunRequest& request,
                            const Host& host,
                            const ProgramReport& program) {
  return OptionConflict(options, request, host, program).first();
}

}  // namespace sorrel::tool
