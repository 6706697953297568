// `sorrel run`: check everything, say in one line what is wrong, then become the program, or the
// parent of the job's processes.

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fmt/core.h>
#include <optional>
#include <span>
#include <string>
#include <sys/personality.h>
#include <unistd.h>
#include <vector>

#include "os/cpu_set.hpp"
#include "tools/sorrel/command.hpp"
#include "tools/sorrel/command_line.hpp"
#include "tools/sorrel/complaint.hpp"
#include "tools/sorrel/host.hpp"
#include "tools/sorrel/host_launch.hpp"
#include "tools/sorrel/installation.hpp"
#include "tools/sorrel/launch.hpp"
#include "tools/sorrel/numbers.hpp"
#include "tools/sorrel/openmp.hpp"
#include "tools/sorrel/preflight.hpp"
#include "tools/sorrel/process_choice.hpp"
#include "tools/sorrel/program_file.hpp"
#include "tools/sorrel/wire_words.hpp"
#include "tools/sorrel/worker_plan.hpp"

namespace sorrel::tool {

namespace {

constexpr std::uint64_t ranks_max = 1'000'000;
constexpr std::uint64_t seed_max = std::uint64_t{1} << 62;
constexpr std::uint64_t stack_bytes_min = 16u << 10;
constexpr std::uint64_t page_bytes = 4096;
/// All stacks lie in one reserved range; a process has 128 TiB of addresses.
constexpr std::uint64_t all_stacks_bytes_max = std::uint64_t{64} << 40;

constexpr const char* run_usage = "sorrel run [options] PROGRAM [ARGS…]";
constexpr const char* run_description =
    "Runs an MPI program with N ranks as user-level threads of one process, or of several.\n"
    "The program is any position-independent executable linked with the standard ABI's\n"
    "libmpi_abi.so.1; it is not changed. What follows PROGRAM belongs to it.\n";
constexpr const char* run_footer =
    "Examples:\n"
    "  sorrel run -n 64 ./heat                  64 ranks on all cores this process may use\n"
    "  sorrel run -n 1000 --workers 1 ./heat    the same, 1000 ranks on one core\n"
    "  sorrel run -n 8 --stack 16M ./solver -i input.txt\n"
    "  sorrel run -n 4 --label ./heat | sort    every line begins with its rank\n"
    "  sorrel run -n 64 --procs 2 ./heat        64 ranks in two processes that share memory\n"
    "  sorrel run -n 4 --procs 4 python3 x.py   every rank a process: for any program\n"
    "  mpiexec -n 4 sorrel run -n 256 ./heat    over the processes of an installed MPI\n"
    "  sorrel run -n 16 --wire latency=50us,bandwidth=1GB/s,nodes=4 ./heat\n"
    "                                           as if on four machines, to see what is hidden\n"
    "  sorrel run -n 8 --seed 17 ./heat         a schedule that can be run again\n"
    "  sorrel run --omp ./loops                 an OpenMP program, not recompiled\n"
    "  sorrel run -n 16 --omp ./hybrid          ranks with OpenMP inside\n\n"
    "Exit status: the program's own (the worst of its ranks); 2 if something was wrong with the\n"
    "command line or the program, and then nothing was started; 126 if the system refused to start "
    "it.";

struct RunWords {
  std::string ranks;
  std::string procs;
  std::string workers;
  std::string stack = "1M";
  std::string bind;
  std::string share;
  std::string wire;
  std::string seed;
  HostWords host;
  bool label = false;
  bool verbose = false;
  bool omp = false;
  bool comm_worker = false;
};

struct RunPlan {
  std::optional<ProcessChoice> choice;  ///< of --procs auto
  std::uint64_t ranks = 0;
  int processes = 1;
  int workers = 0;  ///< of each process
  /// Every rank is a process: the program runs as it is.
  bool in_place = false;
  /// The ranks' OpenMP threads have more cores than ranks: no rank is bound to one.
  bool has_room_for_threads = false;
  std::uint64_t stack_bytes = 0;
  std::vector<int> cpus;  ///< process by process; empty: not bound
  bool verbose = false;
  bool label = false;
  std::string share;
  bool has_comm_worker = false;
  std::optional<WireWords> wire;
  std::optional<std::uint64_t> seed;
  /// Under a host MPI, which decides about processes; ranks and workers are 0 where no number was
  /// named.
  Host host;
  bool is_bound = true;

  /// The part of `cpus` that is process `index`'s.
  [[nodiscard]] std::span<const int> cpus_of(std::uint32_t index) const {
    const auto count = cpus.empty() ? 0 : static_cast<std::size_t>(workers);
    return std::span(cpus).subspan(index * count, count);
  }
};

std::unique_ptr<CLI::App> make_run_app(RunWords& words) {
  auto app = make_app(run_usage, run_description, run_footer);
  app->add_option("-n,--ranks", words.ranks,
                  "Number of ranks, 1 to 1000000; also written -np (default: as many as workers)")
      ->type_name("N");
  app->add_option("--procs", words.procs,
                  "Processes that the ranks are spread over, 1 to as many as ranks (default: 1, or "
                  "as many as ranks for a program that cannot share one); with as many as ranks "
                  "every rank is a process, and any program will do. auto: by program and machine")
      ->type_name("P");
  app->add_option("--workers", words.workers,
                  "OS threads that run the ranks of a process (default: the cores this process may "
                  "use, see `sorrel info`, divided by P); never more than ranks")
      ->type_name("W");
  app->add_option("--stack", words.stack,
                  "Stack of each rank, at least 16K; K, M, G are understood (default: 1M)")
      ->type_name("SIZE");
  app->add_option(
         "--bind", words.bind,
         "core: each worker stays on a core, of its own if there are enough, else shared "
         "with its neighbours; none: the system places them (default: core where there are "
         "enough)")
      ->type_name("HOW");
  app->add_option("--share", words.share,
                  "Parallel loops among other jobs: fair, a fair share among Sorrel's jobs "
                  "(default); polite, less where strangers work; fixed, all workers")
      ->type_name("HOW");
  app->add_option(
         "--wire", words.wire,
         "Pretend nodes: latency=20us,bandwidth=1GB/s,nodes=4,jitter=5us or some of these; "
         "messages between them are delayed in real time (default: none)")
      ->type_name("WIRE");
  app->add_option("--seed", words.seed,
                  "Makes the order in which ranks run, and every delay, a function of this number: "
                  "the same seed, the same run; on one worker (default: none)")
      ->type_name("S");
  app->add_flag(
      "--comm-worker", words.comm_worker,
      "The first worker of each process has all its ranks and looks after their messages; "
      "tasks of graphs run on the other workers (docs/loops.md)");
  app->add_flag("--verbose", words.verbose, "Say on stderr how the job is placed, and why");
  app->add_flag("--omp", words.omp,
                "PROGRAM is an OpenMP program: its threads become user-level threads, and as many "
                "run at once as there are free cores; with -n fewer than cores every rank is a "
                "process, else the threads of each rank run on its worker (docs/openmp.md)");
  app->add_option("--host", words.host.host,
                  "Installed MPI that carries messages between the processes that its mpiexec or "
                  "srun has started: openmpi, mpich, abi or none (default: found out)")
      ->type_name("MPI");
  app->add_option("--host-library", words.host.library,
                  "For --host abi: path of that MPI's libmpi_abi.so.1")
      ->type_name("PATH");
  app->add_flag("--label", words.label, "Begin each line of output with the rank that wrote it");
  return app;
}

/// Whether the words tell of ranks: then --omp is about what is inside of them.
bool tells_of_ranks(const RunWords& words) {
  return !words.ranks.empty() || !words.procs.empty() || !words.workers.empty() || words.label ||
         !words.host.host.empty();
}

bool is_share(const std::string& word) {
  return word.empty() || word == "fair" || word == "polite" || word == "fixed";
}

/// Reads a number from 1 to `most`; complains about `option` otherwise.
std::optional<std::uint64_t> read_count(const char* option,
                                        const std::string& text,
                                        std::uint64_t most) {
  const auto value = parse_count(text);
  if (value && *value >= 1 && *value <= most) return value;
  (void)refuse("{} must be a whole number from 1 to {}, not '{}'", option, most, text);
  return std::nullopt;
}

struct Wanted {
  std::optional<std::uint64_t> ranks;
  std::optional<std::uint64_t> procs;
  std::optional<std::uint64_t> workers;
  std::uint64_t stack_bytes = 0;
  bool is_auto = false;      ///< --procs auto
  bool has_threads = false;  ///< --omp
};

/// Whether ranks leave cores idle that their OpenMP threads could use, as those of a rank with a
/// process of its own can; and nobody has said how to run them.
bool leave_room_for_threads(const RunPlan& plan, const Wanted& wanted, std::uint64_t cores) {
  return wanted.has_threads && wanted.ranks && *wanted.ranks < cores && !wanted.procs &&
         !wanted.workers && !wanted.is_auto && !plan.wire && !plan.seed;
}

/// What `--procs auto` decides for these wishes.
ProcessChoice choose_by_machine(const Wanted& wanted,
                                const MachineLimits& limits,
                                const ProgramReport& program) {
  const auto cores = static_cast<std::uint64_t>(default_workers(limits));
  return choose_processes({.ranks = wanted.ranks.value_or(wanted.workers.value_or(cores)),
                           .cores = cores,
                           .ranks_per_process_max = map_budget(program).ranks_max()},
                          program, read_kernel_features(), probe_machine());
}

/// How many ranks, processes, and workers in each; false if it complained.
bool place_ranks(RunPlan& plan,
                 const Wanted& wanted,
                 const MachineLimits& limits,
                 const ProgramReport& program) {
  const auto cores = static_cast<std::uint64_t>(default_workers(limits));
  if (wanted.is_auto) plan.choice = choose_by_machine(wanted, limits, program);
  const bool must_spread =
      !program.own_process_reason.empty() || leave_room_for_threads(plan, wanted, cores);
  const bool is_spread =
      wanted.procs.has_value() || must_spread || (plan.choice && plan.choice->processes > 1);
  const std::uint64_t processes =
      plan.choice ? plan.choice->processes
                  : wanted.procs.value_or(must_spread ? wanted.ranks.value_or(cores) : 1);
  const std::uint64_t workers =
      wanted.workers.value_or(std::max<std::uint64_t>(cores / processes, 1));
  plan.ranks = wanted.ranks.value_or(std::max(workers * processes, processes));
  if (processes > plan.ranks) {
    (void)refuse("--procs must be at most the number of ranks, {}, not {}", plan.ranks, processes);
    return false;
  }
  if (must_spread && processes != plan.ranks) {
    (void)refuse("{}; every rank must be a process: --procs {}, or leave it out",
                 program.own_process_reason, plan.ranks);
    return false;
  }
  if (processes > workers_max) {
    (void)refuse("{} processes are more than {}", processes, workers_max);
    return false;
  }
  plan.processes = static_cast<int>(processes);
  // Workers without ranks have work where there is one for messages.
  plan.workers = static_cast<int>(plan.has_comm_worker ? std::max<std::uint64_t>(workers, 2)
                                                       : std::min(workers, plan.ranks / processes));
  plan.in_place = is_spread && processes == plan.ranks;
  plan.has_room_for_threads = wanted.has_threads && plan.in_place && plan.ranks < cores;
  if (plan.in_place && plan.has_comm_worker) {
    (void)refuse("--comm-worker needs ranks that share a process; here every rank is one");
    return false;
  }
  if (processes * static_cast<std::uint64_t>(plan.workers) > workers_max) {
    (void)refuse("{} processes of {} workers are more than {} workers in all", processes,
                 plan.workers, workers_max);
    return false;
  }
  return true;
}

/// Reads --wire and --seed, which need one process; false if it complained.
bool read_imitations(RunPlan& plan, const RunWords& words, const ProgramReport& program) {
  if (!words.wire.empty()) {
    const std::string problem = parse_wire(words.wire, plan.wire.emplace());
    if (!problem.empty()) {
      (void)refuse("--wire: {}", problem);
      return false;
    }
  }
  if (!words.seed.empty()) {
    plan.seed = parse_count(words.seed);
    if (!plan.seed || *plan.seed > seed_max) {
      (void)refuse("--seed must be a whole number from 0 to {}, not '{}'", seed_max, words.seed);
      return false;
    }
  }
  const char* option = plan.wire ? "wire" : "seed";
  if (!words.procs.empty() && (plan.wire || plan.seed)) {
    (void)refuse("--{} needs a job of one process: leave out --procs", option);
    return false;
  }
  if (!program.own_process_reason.empty() && (plan.wire || plan.seed)) {
    (void)refuse("--{} needs a job of one process: {}", option, program.own_process_reason);
    return false;
  }
  // Without a word about jitter the seed draws it: delays of one to two latencies.
  if (plan.seed && plan.wire && !plan.wire->has_jitter)
    plan.wire->jitter_ns = plan.wire->latency_ns;
  return true;
}

/// Makes the number of workers one that --seed and --wire allow; false if it complained.
bool adapt_workers(RunPlan& plan, bool is_wanted) {
  if (plan.seed && plan.workers > 1) {
    if (is_wanted) {
      (void)refuse("--seed needs --workers 1, not {}", plan.workers);
      return false;
    }
    plan.workers = 1;
  }
  if (!plan.wire) return true;
  const auto nodes = static_cast<int>(plan.wire->nodes);
  if (plan.ranks < plan.wire->nodes) {
    (void)refuse("--wire: nodes must be at most the number of ranks, {}, not {}", plan.ranks,
                 nodes);
    return false;
  }
  // One that is there for messages is so for all nodes.
  if (plan.has_comm_worker) return true;
  const auto fits = [&] { return nodes % plan.workers == 0 || plan.workers % nodes == 0; };
  if (is_wanted && !fits()) {
    (void)refuse("--wire: {} nodes cannot share {} workers: one must be a multiple of the other",
                 nodes, plan.workers);
    return false;
  }
  while (!fits())
    --plan.workers;
  return true;
}

/// The same under a host MPI: most of it is decided when that has started.
bool place_under_host(RunPlan& plan,
                      const Wanted& wanted,
                      const MachineLimits& limits,
                      const ProgramReport& program) {
  if (wanted.procs || wanted.is_auto) {
    (void)refuse("--procs is for one machine's own jobs; {} has started this process already",
                 plan.host.launcher.empty() ? "a host MPI" : plan.host.launcher);
    return false;
  }
  if (plan.wire || plan.seed) {
    (void)refuse("--{} needs a job of one process, and {} has started several: --host none",
                 plan.wire ? "wire" : "seed",
                 plan.host.launcher.empty() ? "a host MPI" : plan.host.launcher);
    return false;
  }
  plan.ranks = wanted.ranks.value_or(0);
  plan.workers = static_cast<int>(wanted.workers.value_or(0));
  plan.processes = std::max(static_cast<int>(plan.host.processes), 1);
  if (plan.host.processes != 0 && plan.ranks != 0 && plan.ranks < plan.host.processes) {
    (void)refuse("-n must be at least the number of processes that {} has started, {}, not {}",
                 plan.host.launcher, plan.host.processes, plan.ranks);
    return false;
  }
  // Copies of the program are for ranks that share a process; labels are written by those.
  plan.in_place = plan.ranks != 0 && plan.ranks == plan.host.processes && !plan.label;
  if (!program.own_process_reason.empty() && !plan.in_place) {
    (void)refuse("{}; every rank must be a process: -n must be the number of them, without --label",
                 program.own_process_reason);
    return false;
  }
  plan.cpus = choose_cpus(static_cast<int>(limits.allowed_cpus.size()), limits,
                          [] { return read_topology(TopologyDetail::threads_only); });
  return true;
}

/// Reads what does not depend on the program; nothing if it complained.
std::optional<Wanted> read_words(const RunWords& words) {
  Wanted wanted;
  if (!words.ranks.empty() && !(wanted.ranks = read_count("-n", words.ranks, ranks_max)))
    return std::nullopt;
  wanted.is_auto = words.procs == "auto";
  wanted.has_threads = words.omp;
  if (!words.procs.empty() && !wanted.is_auto &&
      !(wanted.procs = read_count("--procs", words.procs, workers_max)))
    return std::nullopt;
  if (!words.workers.empty() &&
      !(wanted.workers = read_count("--workers", words.workers, workers_max)))
    return std::nullopt;
  const auto stack_bytes = parse_size(words.stack);
  if (!stack_bytes || *stack_bytes < stack_bytes_min) {
    (void)refuse("--stack must be a size of at least 16K, such as 64K or 1M, not '{}'",
                 words.stack);
    return std::nullopt;
  }
  if (!words.bind.empty() && words.bind != "core" && words.bind != "none") {
    (void)refuse("--bind must be core or none, not '{}'", words.bind);
    return std::nullopt;
  }
  if (words.bind == "core" && !words.share.empty() && words.share != "fixed") {
    (void)refuse("--bind core leaves no room for others: it goes with --share fixed, not {}",
                 words.share);
    return std::nullopt;
  }
  wanted.stack_bytes = (*stack_bytes + page_bytes - 1) / page_bytes * page_bytes;
  return wanted;
}

/// Whether `--comm-worker` goes with the other words; complains if not.
bool may_have_comm_worker(const RunWords& words, const Wanted& wanted, const Host& host) {
  if (!words.seed.empty()) {
    (void)refuse("--comm-worker needs two workers, --seed has one");
  } else if (wanted.workers == 1) {
    (void)refuse("--comm-worker needs at least 2 workers: one for messages, others for work");
  } else if (!words.share.empty() && words.share != "fixed") {
    (void)refuse("--comm-worker keeps a worker for messages: it goes with --share fixed, not {}",
                 words.share);
  } else if (words.omp) {
    (void)refuse("--comm-worker is for graphs; with --omp a rank's threads are on its own worker");
  } else if (!host.name.empty()) {
    (void)refuse("--comm-worker is for one machine's own jobs; {} carries this one's messages",
                 host.launcher.empty() ? "a host MPI" : host.launcher);
  } else {
    return true;
  }
  return false;
}

/// The job for this program; nothing if it complained.
std::optional<RunPlan> make_plan(const RunWords& words,
                                 const Wanted& wanted,
                                 const Host& host,
                                 const ProgramReport& program) {
  RunPlan plan;
  plan.label = words.label;
  plan.share = words.bind == "core" ? "fixed" : words.share;
  plan.verbose = words.verbose;
  plan.has_comm_worker = words.comm_worker;
  if (plan.has_comm_worker) {
    if (!may_have_comm_worker(words, wanted, host)) return std::nullopt;
    plan.share = "fixed";
  }
  plan.stack_bytes = wanted.stack_bytes;
  if (!read_imitations(plan, words, program)) return std::nullopt;
  const MachineLimits limits = read_machine_limits();
  plan.host = host;
  plan.is_bound = words.bind != "none";
  const bool is_placed = host.name.empty() ? place_ranks(plan, wanted, limits, program) &&
                                                 adapt_workers(plan, wanted.workers.has_value())
                                           : place_under_host(plan, wanted, limits, program);
  if (!is_placed) return std::nullopt;
  if (plan.stack_bytes > all_stacks_bytes_max / std::max<std::uint64_t>(plan.ranks, 1)) {
    (void)refuse(
        "{} stacks of {} do not fit into the address space; {} ranks need --stack {} or less",
        plan.ranks, format_size(plan.stack_bytes), plan.ranks,
        format_size((all_stacks_bytes_max / plan.ranks) >> 20 << 20));
    return std::nullopt;
  }
  if (plan.has_room_for_threads && words.bind != "core") plan.is_bound = false;
  if (plan.is_bound && host.name.empty()) {
    plan.cpus = choose_cpus(plan.processes * plan.workers, limits,
                            [] { return read_topology(TopologyDetail::threads_only); });
    if (plan.cpus.empty() && words.bind == "core")
      plan.cpus = share_cpus(plan.processes * plan.workers, limits);
  }
  return plan;
}

/// Puts `first` before the value of a colon-separated variable, and keeps the old value where the
/// library finds it.
void prepend_to_variable(const char* name, const std::string& first) {
  const std::string saved_name = std::string("SORREL_OLD_") + name;
  unsetenv(saved_name.c_str());
  const char* before = std::getenv(name);
  if (before == nullptr) {
    setenv(name, first.c_str(), 1);
    return;
  }
  setenv(saved_name.c_str(), before, 1);
  setenv(name, (first + (*before == '\0' ? "" : ":") + before).c_str(), 1);
}

/// The contract with the library, which takes these variables away again at its start.
void set_environment(const RunPlan& plan,
                     const std::string& library_folders,
                     const std::string& preloaded) {
  setenv("SORREL_RANKS", std::to_string(plan.ranks).c_str(), 1);
  setenv("SORREL_WORKERS", std::to_string(plan.workers).c_str(), 1);
  if (plan.host.name.empty())
    setenv("SORREL_CPUS", os::format_cpu_list(plan.cpus_of(0)).c_str(), 1);
  setenv("SORREL_STACK", std::to_string(plan.stack_bytes).c_str(), 1);
  if (plan.label && !plan.in_place) {
    setenv("SORREL_LABEL", "1", 1);
  } else {
    unsetenv("SORREL_LABEL");
  }
  if (plan.has_comm_worker) {
    setenv("SORREL_COMM_WORKER", "1", 1);
  } else {
    unsetenv("SORREL_COMM_WORKER");
  }
  // Without the option, what the user has set holds.
  if (!plan.share.empty()) setenv("SORREL_SHARE", plan.share.c_str(), 1);
  if (plan.wire) {
    setenv("SORREL_WIRE",
           fmt::format("{},{},{},{}", plan.wire->nodes, plan.wire->latency_ns, plan.wire->jitter_ns,
                       plan.wire->bytes_per_second)
               .c_str(),
           1);
  } else {
    unsetenv("SORREL_WIRE");
  }
  if (plan.seed) {
    setenv("SORREL_SEED_OF_RUN", std::to_string(*plan.seed).c_str(), 1);
  } else {
    unsetenv("SORREL_SEED_OF_RUN");
  }
  if (plan.choice) {
    setenv("SORREL_SPIN", std::to_string(plan.choice->spin_ns).c_str(), 1);
    setenv("SORREL_EAGER", std::to_string(plan.choice->eager_bytes).c_str(), 1);
  }
  if (plan.verbose) setenv("SORREL_VERBOSE", "1", 1);
  setenv("LD_BIND_NOW", "1", 1);
  prepend_to_variable("LD_LIBRARY_PATH", library_folders);
  unsetenv("SORREL_OLD_LD_PRELOAD");
  if (!preloaded.empty()) {
    prepend_to_variable("LD_PRELOAD", preloaded);
    // Set, even if to nothing, it tells the library that LD_PRELOAD is ours to put back.
    setenv("SORREL_OLD_LD_PRELOAD", "", 0);
  }
}

/// What a process of several finds besides.
void set_process_environment(const RunPlan& plan, std::uint32_t index, int segment_descriptor) {
  setenv("SORREL_CPUS", os::format_cpu_list(plan.cpus_of(index)).c_str(), 1);
  setenv("SORREL_PROCESSES", std::to_string(plan.processes).c_str(), 1);
  setenv("SORREL_PROCESS", std::to_string(index).c_str(), 1);
  setenv("SORREL_SEGMENT", std::to_string(segment_descriptor).c_str(), 1);
  setenv("SORREL_IN_PLACE", plan.in_place ? "1" : "0", 1);
}

/// What `run` has decided or found that its user would want to know.
void print_notes(const RunPlan& plan, const Wanted& wanted, const ProgramReport& program) {
  if (plan.verbose) {
    print_complaint(
        fmt::format("note: {} ranks in {} process{} of {} worker{}, {}", plan.ranks, plan.processes,
                    plan.processes == 1 ? "" : "es", plan.workers, plan.workers == 1 ? "" : "s",
                    plan.cpus.empty() ? "not bound" : "on cpus " + os::format_cpu_list(plan.cpus)));
    if (plan.choice) print_complaint("note: --procs auto: " + describe(*plan.choice));
  }
  if (!program.own_process_reason.empty() && !wanted.procs && !wanted.is_auto) {
    print_complaint(fmt::format("note: {}: every rank is a process, as with --procs {}",
                                program.own_process_reason, plan.ranks));
  }
  if (!program.absent_functions.empty()) {
    print_complaint(
        fmt::format("note: {} names {}", program.name,
                    describe_functions(program, program.absent_functions,
                                       "will fail with MPI_ERR_UNSUPPORTED_OPERATION if called")));
  }
}

/// The program's words as the system is given them, with an ending null.
std::vector<char*> words_to_start(const ProgramReport& program, Arguments words) {
  std::vector<char*> started;
  for (const std::string& word : program.leading_words)
    started.push_back(const_cast<char*>(word.c_str()));
  // A script's own name is among the leading words, as a path.
  const std::size_t first = program.leading_words.empty() ? 0 : 1;
  for (std::size_t i = first; i < words.size(); ++i)
    started.push_back(words[i]);
  started.push_back(nullptr);
  return started;
}

/// What a process under a host MPI finds besides.
void set_host_environment(const RunPlan& plan, const Installation& installation, int board) {
  const auto set_if = [](bool is_set, const char* name, const std::string& value) {
    if (is_set) {
      setenv(name, value.c_str(), 1);
    } else {
      unsetenv(name);
    }
  };
  setenv("SORREL_HOST", plan.host.name.c_str(), 1);
  setenv("SORREL_HOST_PLUGINS", installation.library_dir.c_str(), 1);
  setenv("SORREL_HOST_BOARD", std::to_string(board).c_str(), 1);
  set_if(!plan.host.library.empty(), "SORREL_HOST_LIBRARY", plan.host.library);
  set_if(plan.host.is_slurm, "SORREL_HOST_ABORTS", "1");
  set_if(!plan.is_bound, "SORREL_HOST_UNBOUND", "1");
  setenv("SORREL_CPUS", os::format_cpu_list(plan.cpus).c_str(), 1);
  setenv("SORREL_IN_PLACE", plan.in_place ? "1" : "0", 1);
}

int launch_host_process(const RunPlan& plan,
                        const Installation& installation,
                        const ProgramReport& program,
                        const std::vector<char*>& words) {
  const std::string daemon = std::to_string(getppid());
  return launch_under_host({.program = program.path,
                            .words = words.data(),
                            .host = plan.host.name,
                            .is_first = plan.host.is_first,
                            .has_hydra = plan.host.name != "openmpi" && !plan.host.is_slurm,
                            .has_sleepy_daemon = plan.host.name == "openmpi" && !plan.host.is_slurm,
                            .set_environment = [&](int board) {
                              set_host_environment(plan, installation, board);
                              setenv("SORREL_HOST_DAEMON", daemon.c_str(), 1);
                            }});
}

int launch_processes(const RunPlan& plan,
                     const ProgramReport& program,
                     const std::vector<char*>& words) {
  return launch({.rank_count = plan.ranks,
                 .shape = {.process_count = static_cast<std::uint32_t>(plan.processes),
                           .workers_per_process = static_cast<std::uint32_t>(plan.workers)},
                 .label_lines = plan.label && plan.in_place,
                 .program = program.path,
                 .words = words.data(),
                 .set_environment = [&](std::uint32_t index, int segment_descriptor) {
                   set_process_environment(plan, index, segment_descriptor);
                 }});
}

}  // namespace

int run_command(Arguments arguments) {
  RunWords words;
  const auto app = make_run_app(words);
  const SplitWords split = split_words(*app, arguments);
  if (!split.problem.empty()) return refuse("{}", split.problem);
  if (const auto status = parse_words(*app, split.options)) return *status;
  if (split.program.empty()) return refuse("no program given; usage: {}", run_usage);
  if (!is_share(words.share))
    return refuse("--share must be fair, polite or fixed, not '{}'", words.share);
  if (words.omp && !tells_of_ranks(words)) return run_openmp(split.program.data(), words.share);
  const auto wanted = read_words(words);
  if (!wanted) return exit_refused;

  const Installation installation = find_installation();
  const Host host =
      find_host(words.host, [](const char* name) { return std::getenv(name); }, installation);
  if (!host.problem.empty()) return refuse("{}", host.problem);
  if (installation.library_dir.empty()) {
    return refuse("{} is not beside this command: expected it in ../lib of {}", library_name,
                  installation.executable);
  }
  const ProgramReport program = inspect_program(split.program.front(), installation);
  if (!program.refusal.empty()) return refuse("{}", program.refusal);
  const auto plan = make_plan(words, *wanted, host, program);
  if (!plan) return exit_refused;
  print_notes(*plan, *wanted, program);
  const MapBudget budget = map_budget(program);
  if (!plan->in_place &&
      plan->ranks / static_cast<std::uint64_t>(plan->processes) > budget.ranks_max()) {
    return refuse(
        "{} ranks need more memory maps than vm.max_map_count = {} allows; at most {} ranks of {} "
        "fit (or raise it: "
        "sysctl -w vm.max_map_count=N)",
        plan->ranks, budget.map_count_max, budget.ranks_max(), program.name);
  }
  std::string preloaded = program.must_preload ? installation.library() : "";
  std::string library_folders = installation.library_dir;
  if (words.omp) {
    const OpenmpReport openmp = inspect_openmp(split.program.front(), installation);
    if (!openmp.refusal.empty()) return refuse("{}", openmp.refusal);
    preloaded += (preloaded.empty() ? "" : ":") + openmp_library(installation);
    library_folders += ":" + folder_of(openmp_library(installation));
  }
  set_environment(*plan, library_folders, preloaded);
  // Addresses are part of what a program may see: under a seed they are the same each time.
  if (plan->seed) (void)personality(ADDR_NO_RANDOMIZE);
  const std::vector<char*> started = words_to_start(program, split.program);
  if (!plan->host.name.empty()) return launch_host_process(*plan, installation, program, started);
  if (plan->processes > 1 || plan->in_place) return launch_processes(*plan, program, started);
  execv(program.path.c_str(), started.data());
  print_complaint(fmt::format("cannot start {}: {}", program.name, std::strerror(errno)));
  return exit_cannot_execute;
}

}  // namespace sorrel::tool
