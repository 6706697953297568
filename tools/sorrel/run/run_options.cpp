#include "tools/sorrel/run/run_options.hpp"

#include <fmt/core.h>

#include "os/library_search.hpp"
#include "tools/sorrel/common/command_line.hpp"
#include "tools/sorrel/common/numbers.hpp"
#include "tools/sorrel/machine/worker_plan.hpp"

namespace sorrel::tool {

namespace {

constexpr std::uint64_t stack_bytes_min = 16u << 10;
/// The addresses of a process are 128 TiB.
constexpr std::uint64_t stack_bytes_max = std::uint64_t{64} << 40;
constexpr std::uint64_t page_bytes = 4096;
constexpr std::uint64_t schedules_max = 1'000'000;
/// Each has addresses of its own for a stack, images and a heap.
constexpr std::uint64_t universe_max = 100'000;

constexpr const char* run_description =
    "Runs an MPI program with N ranks as user-level threads of one process,\n"
    "or of several. The program is any position-independent executable linked\n"
    "with the standard ABI's libmpi_abi.so.1; it is not changed. Arguments\n"
    "after PROGRAM are passed to it.\n";
// Sections of the help, in the order of their first option.
constexpr const char* group_ranks = "Ranks and cores";
constexpr const char* group_order = "Network and order";
constexpr const char* group_libraries = "Libraries";
constexpr const char* group_host = "Host MPI";
constexpr const char* group_output = "Output";
constexpr const char* group_check = "Checks";
constexpr const char* run_footer =
    "Examples:\n"
    "  sorrel run -n 64 ./heat                64 ranks on all cores that this\n"
    "                                         process may use\n"
    "  sorrel run -n 1000 --workers 1 ./heat  1000 ranks on one core\n"
    "  sorrel run -n 8 --stack 16M ./solver -i input.txt\n"
    "  sorrel run -n 4 --label ./heat | sort  lines begin with their rank\n"
    "  sorrel run -n 64 --procs 2 ./heat      two processes, shared memory\n"
    "  sorrel run -n 2 ./ocean : -n 6 ./air   two programs, a job of 8 ranks\n"
    "  sorrel run -n 4 --procs 4 python3 x.py every rank a process; works for\n"
    "                                         any program\n"
    "  mpiexec -n 4 sorrel run -n 256 ./heat  over the processes of an\n"
    "                                         installed MPI\n"
    "  sorrel run -n 16 --wire latency=50us,bandwidth=1GB/s,nodes=4 ./heat\n"
    "                                         as if on four machines\n"
    "  sorrel run -n 8 --seed 17 ./heat       a schedule to be repeated\n"
    "  sorrel run -n 64 --trace heat.trace ./heat\n"
    "                                         what each rank did when\n"
    "  sorrel run -n 8 --check ./heat         errors in calls of MPI\n"
    "  sorrel run -n 64 --checkpoint save ./heat\n"
    "                                         `sorrel restart save` goes on\n"
    "  sorrel run -n 64 --procs 4 --checkpoint memory --every 10s ./heat\n"
    "                                         goes on if a process is killed\n"
    "  sorrel run --omp ./loops               OpenMP, not recompiled\n"
    "  sorrel run -n 16 --omp ./hybrid        ranks with OpenMP inside\n\n"
    "kill -USR1 PID, the process of `sorrel run`: prints on stderr what every\n"
    "rank does; the job continues (docs/waits.md).\n"
    "Options that always hold: in ~/.config/sorrel/config, or the file that\n"
    "SORREL_CONFIG names, with lines such as `workers = 2` and `label`\n"
    "(docs/settings.md).\n"
    "Exit status: the program's own (the largest of its ranks); 2 if the\n"
    "command line or the program is wrong and nothing was started; 66 if\n"
    "--check has found something; 126 if the system refused to start the\n"
    "program.";

/// Parses a number from 1 to `most`, if there is one; returns an error that names `option`, or "".
std::string read_count(const char* option,
                       const std::string& text,
                       std::uint64_t most,
                       std::optional<std::uint64_t>& value,
                       std::uint64_t least = 1) {
  if (text.empty()) return "";
  value = parse_count(text);
  if (value && *value >= least && *value <= most) return "";
  return fmt::format("{} must be a whole number from {} to {}, not '{}'", option, least, most,
                     text);
}

/// The names in comma-separated lists.
std::vector<std::string> names_of(const std::vector<std::string>& lists) {
  std::vector<std::string> names;
  for (const std::string& list : lists) {
    for (std::string& name : os::split_path(list, ','))
      names.push_back(std::move(name));
  }
  return names;
}

// Within a group of the help, options stand in the order in which they are added.

/// Ranks, processes, workers and what they share.
void add_ranks_options(CLI::App& app, RunOptions& options) {
  app.add_option(
         "-n,--ranks", options.ranks,
         "Number of ranks, 1 to 1000000; also written -np (default: as many as workers). Each "
         "program after a ':' needs its own; 0 there: a process for ranks of this program that "
         "others "
         "spawn")
      ->type_name("N")
      ->group(group_ranks);
  app.add_option("--procs", options.procs,
                 "Number of processes, 1 to the number of ranks, or auto (default: 1, or the "
                 "number of ranks for a program whose ranks cannot share a process); with as many "
                 "processes as ranks any program works. auto: by program and machine. With several "
                 "programs (':'): of the whole job, at least one for each program")
      ->type_name("P")
      ->group(group_ranks);
  app.add_option(
         "--universe", options.universe,
         "Ranks that can exist at a time, with those that MPI_Comm_spawn starts: at least as many "
         "as -n says (default: 1024 or more for a program that calls it and whose ranks share a "
         "process, if no other option stands against it; else as many as -n says)")
      ->type_name("N")
      ->group(group_ranks);
  app.add_option("--workers", options.workers,
                 "Workers (OS threads) that run the ranks of a process, at most one per rank "
                 "(default: the cores this process may use, see `sorrel info`, divided by P)")
      ->type_name("W")
      ->group(group_ranks);
  app.add_option("--stack", options.stack,
                 "Stack of each rank in bytes, or with K, M, G; at least 16K (default: the limit "
                 "of `ulimit -s`, mostly 8M; less where `ulimit -v` leaves no room)")
      ->type_name("SIZE")
      ->group(group_ranks);
  app.add_option(
         "--bind", options.bind,
         "core: each worker is bound to a core, or to a shared one if there are more workers "
         "than cores; none: the system chooses (default: core if there are enough cores)")
      ->type_name("HOW")
      ->group(group_ranks);
  app.add_option("--share", options.share,
                 "Threads of parallel loops beside other jobs: fair, an equal share among Sorrel "
                 "jobs (default); yielding, fewer under external load; fixed, all workers")
      ->type_name("HOW")
      ->group(group_ranks);
  app.add_option(
         "--balance", options.balance,
         "For ranks with unequal work: auto (default), as measured within a process, from when the "
         "job turns out to be uneven; off; steal, idle workers run computations of ranks of busy "
         "ones; measured, ranks also change their worker, and with --procs their process "
         "(docs/balance.md)")
      ->type_name("HOW")
      ->group(group_ranks);
}

/// Simulations, and checkpoints.
void add_order_options(CLI::App& app, RunOptions& options) {
  app.add_option(
         "--wire", options.wire,
         "Simulated nodes: latency=20us,bandwidth=1GB/s,nodes=4,jitter=5us or some of these; "
         "messages between them are delayed in real time (default: none)")
      ->type_name("WIRE")
      ->group(group_order);
  app.add_option("--seed", options.seed,
                 "Makes the order in which ranks run, and every delay, a function of this number, "
                 "so that a run can be repeated; implies one worker (default: none)")
      ->type_name("S")
      ->group(group_order);
  app.add_option("--checkpoint", options.checkpoint,
                 "Save the job into this folder where the program calls sorrel_checkpoint(), so "
                 "that `sorrel restart DIR` can go on from there; or, with the word memory, into "
                 "memory, so that the job survives the death of a process (docs/checkpoint.md)")
      ->type_name("DIR|memory")
      ->group(group_ranks);
  app.add_option("--every", options.every,
                 "With --checkpoint: also save the job in the first collective of all ranks after "
                 "each TIME, such as 30s, 10min or 2h")
      ->type_name("TIME")
      ->group(group_ranks);
  app.add_option("--restarts", options.restarts,
                 "With --checkpoint: how often the job goes on from its newest checkpoint when a "
                 "process of it was killed (default: 10 with memory, 0 with a folder)")
      ->type_name("N")
      ->group(group_ranks);
}

/// What belongs to the program, and the host MPI.
void add_program_options(CLI::App& app, RunOptions& options) {
  app.add_option(
         "--shared", options.shared,
         "Libraries with writable data that ranks of one process may share: they must be "
         "thread-safe and hold no state of a rank. Without this option, each rank has its own, or "
         "is a process (docs/what-is-private.md). May be repeated")
      ->type_name("LIB[,LIB]")
      ->group(group_libraries);
  app.add_option("--private", options.private_ones,
                 "Libraries of which each rank of a process has its own, although ranks may share "
                 "them. May be repeated")
      ->type_name("LIB[,LIB]")
      ->group(group_libraries);
  app.add_flag(
         "--comm-worker", options.comm_worker,
         "The first worker of each process runs all its ranks and polls their messages; tasks of "
         "graphs run on the other workers (docs/loops.md)")
      ->group(group_ranks);
  app.add_flag(
         "--verbose", options.verbose,
         "Print on stderr how the job is placed, and why; how messages travel, the simulated "
         "network, OpenMP, balance and share; in reports of the end, the latest events and the "
         "calls "
         "inside Sorrel")
      ->group(group_output);
  app.add_flag("--omp", options.omp,
               "PROGRAM uses OpenMP: its threads become user-level threads, as many at a time as "
               "there are free cores. With -n below the number of cores every rank is a process; "
               "else the threads of a rank run on its worker (docs/openmp.md)")
      ->group(group_libraries);
  app.add_option("--host", options.host.host,
                 "Host MPI, which carries messages between the processes that its mpiexec or srun "
                 "has started: openmpi, mpich, abi, the path of a plug-in that you have compiled "
                 "(docs/processes.md), or none (default: detected)")
      ->type_name("MPI")
      ->group(group_host);
  app.add_option("--host-library", options.host.library,
                 "Path of the host MPI's library (default: that beside the launcher, or the "
                 "loader's)")
      ->type_name("PATH")
      ->group(group_host);
}

/// What is printed and written.
void add_output_options(CLI::App& app, RunOptions& options) {
  app.add_flag("--label", options.label, "Prefix each line of output with the rank that wrote it")
      ->group(group_output);
  app.add_flag("--profile", options.trace.has_profile,
               "Print on stderr, when the job has ended, where its ranks spent their time: calls "
               "of MPI by place, waiting and transfer, balance, sizes of messages")
      ->group(group_output);
  app.add_option("--profile-json", options.trace.profile_json, "Write the same into FILE")
      ->type_name("FILE")
      ->group(group_output);
  app.add_flag("--summary", options.trace.has_summary,
               "Print one line on stderr, when the job has ended: time, computing, waiting, how "
               "much of it was hidden, messages")
      ->group(group_output);
  app.add_option("--report-json", options.report_json,
                 "If a deadlock, a crash or an error ends the job, write the report of it into "
                 "FILE too, as JSON (docs/reference/file-formats.md)")
      ->type_name("FILE")
      ->group(group_output);
  app.add_option("--flight", options.flight,
                 "Write a page of HTML into the folder DIR if a deadlock, a crash, an error or "
                 "SIGTERM ends the job, or if it has idled for more than half of its time "
                 "(docs/flight.md; default: SORREL_FLIGHT, or none)")
      ->type_name("DIR")
      ->group(group_output);
  app.add_flag("--live", options.live,
               "Serve a page that shows the running job on this machine's loopback; its address "
               "is printed on stderr (docs/top.md)")
      ->group(group_output);
  app.add_option("--trace", options.trace.trace,
                 "Write a trace of the run into FILE, for https://ui.perfetto.dev: calls of MPI, "
                 "waits, messages, and what each worker runs (docs/trace.md)")
      ->type_name("FILE")
      ->group(group_output);
}

/// What --check does, and the result for CI systems.
void add_check_options(CLI::App& app, RunOptions& options) {
  app.add_flag("--check", options.check.is_wanted,
               "Find errors of the program in its calls of MPI: leaks, collectives and datatypes "
               "that do not match, messages that are too long, deadlocks, and others "
               "(docs/check.md). One worker a process")
      ->group(group_check);
  app.add_option("--schedules", options.check.schedules,
                 "Check N runs, with --seed 1 to N, for errors that depend on the order in which "
                 "messages arrive; implies --check. A failing seed is printed with the command "
                 "that repeats it")
      ->type_name("N")
      ->group(group_check);
  app.add_option("--check-json", options.check.json,
                 "Write what --check finds into FILE, as JSON; implies --check")
      ->type_name("FILE")
      ->group(group_check);
  app.add_option("--check-sarif", options.check.sarif,
                 "The same as SARIF, which CI systems show beside the code; implies --check")
      ->type_name("FILE")
      ->group(group_check);
  app.add_option("--junit", options.junit,
                 "Write the result of the run into FILE as JUnit XML, for CI systems: passed, or "
                 "failed with the exit status, and with --check each finding (docs/ci.md)")
      ->type_name("FILE")
      ->group(group_check);
}

}  // namespace

std::unique_ptr<CLI::App> make_run_app(RunOptions& options) {
  auto app = make_app(run_usage, run_description, run_footer);
  add_ranks_options(*app, options);
  add_order_options(*app, options);
  add_program_options(*app, options);
  add_output_options(*app, options);
  add_check_options(*app, options);
  return app;
}

namespace {

std::optional<launch::Balance> balance_of(std::string_view text) {
  if (text == "off") return launch::Balance::off;
  if (text == "steal") return launch::Balance::steal;
  if (text.empty() || text == "auto") return launch::Balance::automatic;
  if (text == "measured") return launch::Balance::measured;
  return std::nullopt;
}

}  // namespace

bool concerns_ranks(const RunOptions& options) {
  return !options.ranks.empty() || !options.procs.empty() || !options.workers.empty() ||
         options.label || options.trace.any() || options.check.any() || !options.host.host.empty();
}

Result<RunRequest> read_options(const RunOptions& options, std::uint64_t ranks_min) {
  RunRequest request;
  request.is_auto = options.procs == "auto";
  request.has_threads = options.omp;
  std::string error = read_count("-n", options.ranks, ranks_max, request.ranks, ranks_min);
  if (error.empty() && !request.is_auto)
    error = read_count("--procs", options.procs, workers_max, request.procs);
  if (error.empty())
    error = read_count("--universe", options.universe, universe_max, request.universe);
  if (error.empty()) error = read_count("--workers", options.workers, workers_max, request.workers);
  if (error.empty())
    error = read_count("--schedules", options.check.schedules, schedules_max, request.schedules);
  if (!error.empty()) return Error{error};
  const auto stack_bytes = options.stack.empty() ? 0 : parse_size(options.stack);
  if (!stack_bytes || (!options.stack.empty() && *stack_bytes < stack_bytes_min))
    return Error{fmt::format("--stack must be a size of at least 16K, such as 64K or 1M, not '{}'",
                             options.stack)};
  if (*stack_bytes > stack_bytes_max)
    return Error{
        fmt::format("--stack must be at most {}G, not '{}'", stack_bytes_max >> 30, options.stack)};
  if (!options.bind.empty() && options.bind != "core" && options.bind != "none")
    return Error{fmt::format("--bind must be core or none, not '{}'", options.bind)};
  const auto balance = balance_of(options.balance);
  if (!balance)
    return Error{
        fmt::format("--balance must be auto, off, steal or measured, not '{}'", options.balance)};
  request.balance = *balance;
  request.libraries.shared = names_of(options.shared);
  request.libraries.private_ones = names_of(options.private_ones);
  request.stack_bytes = (*stack_bytes + page_bytes - 1) / page_bytes * page_bytes;
  return request;
}

}  // namespace sorrel::tool
