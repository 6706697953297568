// `sorrel info`: the machine, and whether and how a program can run on it.

#include <cstdlib>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <mpi.h>
#include <optional>
#include <string>
#include <string_view>
#include <sys/utsname.h>
#include <utility>
#include <vector>

#include "base/printable.hpp"
#include "os/cpu_set.hpp"
#include "tools/sorrel/common/command.hpp"
#include "tools/sorrel/common/command_line.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/common/host.hpp"
#include "tools/sorrel/common/installation.hpp"
#include "tools/sorrel/common/json.hpp"
#include "tools/sorrel/common/numbers.hpp"
#include "tools/sorrel/common/version.hpp"
#include "tools/sorrel/inspect/preflight.hpp"
#include "tools/sorrel/machine/gpu_driver.hpp"
#include "tools/sorrel/machine/kernel_features.hpp"
#include "tools/sorrel/machine/worker_plan.hpp"
#include "tools/sorrel/run/openmp.hpp"
#include "tools/sorrel/run/process_choice.hpp"

namespace sorrel::tool {

namespace {

constexpr const char* info_usage = "sorrel info [options] [PROGRAM]";
constexpr const char* info_description =
    "Shows this machine and how Sorrel would use it; with PROGRAM, whether\n"
    "and how that can run.\n";
constexpr const char* info_footer =
    "Examples:\n"
    "  sorrel info\n"
    "  sorrel info ./heat\n"
    "  sorrel info --json ./heat\n\n"
    "Exit status: 0; 1 if PROGRAM cannot run here; 2 if the command line is\n"
    "wrong.";

struct Machine {
  Installation installation;
  Host host;
  MachineLimits limits;
  std::optional<Topology> topology;
  KernelFeatures features;
  bool has_peer_memory = false;
  GpuDriver gpu;
  int workers = 0;
  std::vector<int> cpus;
  std::string kernel;
};

const char* environment_value(const char* name) {
  return std::getenv(name);
}

Machine read_machine() {
  Machine machine;
  machine.installation = find_installation();
  machine.host = find_host({}, environment_value, machine.installation);
  machine.limits = read_machine_limits();
  machine.topology = read_topology(TopologyDetail::with_caches);
  machine.features = read_kernel_features();
  machine.has_peer_memory = can_read_peer_memory();
  machine.gpu = find_gpu_driver();
  machine.workers = default_workers(machine.limits);
  machine.cpus = choose_cpus(machine.workers, machine.limits, [&] { return machine.topology; });
  if (utsname names{}; uname(&names) == 0)
    machine.kernel = fmt::format("{} {}", names.sysname, names.release);
  return machine;
}

std::string affinity_text(const MachineLimits& limits) {
  const std::size_t count = limits.allowed_cpus.size();
  return fmt::format("affinity mask allows {} cpu{} ({})", count, count == 1 ? "" : "s",
                     os::format_cpu_ranges(limits.allowed_cpus));
}

std::string quota_text(const MachineLimits& limits) {
  if (!limits.quota) return "no cgroup quota";
  return fmt::format("cgroup quota grants {:.2f} cpus ({})", limits.quota->cpus,
                     limits.quota->file);
}

std::string topology_text(const Topology& topology) {
  return fmt::format("{} package(s), {} core(s), {} hardware thread(s), {} memory node(s)",
                     topology.package_count, topology.core_count, topology.threads.size(),
                     topology.nodes.size());
}

const char* yes_no(bool truth) {
  return truth ? "yes" : "no";
}

void line(const char* name, const std::string& text) {
  fmt::print("  {:<14}{}\n", name, printable(text));
}

std::string hosts_text(const Machine& machine) {
  std::vector<std::string> hosts;
  for (const InstalledHost& host : installed_hosts(environment_value, machine.installation))
    hosts.push_back(fmt::format("{} ({})", host.name, host.library));
  return hosts.empty() ? "none found by the loader" : fmt::format("{}", fmt::join(hosts, ", "));
}

Json names_of_hosts(const Machine& machine) {
  Json names = Json::array();
  for (const InstalledHost& host : installed_hosts(environment_value, machine.installation))
    names.push_back(host.name);
  return names;
}

void print_machine(const Machine& machine) {
  const Installation& installation = machine.installation;
  fmt::print("Sorrel {}\n", version_text());
  line("MPI", fmt::format("{}.{}, standard ABI {}.{}", MPI_VERSION, MPI_SUBVERSION, MPI_ABI_VERSION,
                          MPI_ABI_SUBVERSION));
  line("library",
       installation.library_dir.empty() ? "not found in ../lib" : installation.library());
  line("headers", installation.include_dir.empty() ? "not found in ../include"
                                                   : installation.include_dir + "/mpi");
  line("host MPIs", hosts_text(machine));
  if (!machine.host.name.empty() || !machine.host.error.empty()) {
    line("started by",
         machine.host.error.empty()
             ? fmt::format("{}: `sorrel run` would use the host MPI {}{}", machine.host.launcher,
                           machine.host.name,
                           machine.host.library.empty() ? "" : " (" + machine.host.library + ")")
             : machine.host.error);
  }
  fmt::print("Machine\n");
  line("kernel", machine.kernel);
  if (machine.topology) {
    line("topology", topology_text(*machine.topology));
    for (const CacheLevel& cache : machine.topology->caches) {
      line("", fmt::format("{} x {} {}", cache.count, cache.name, format_size(cache.size_bytes)));
    }
    for (const MemoryNode& node : machine.topology->nodes) {
      line("", fmt::format("node {}: {}, cpus {}", node.number, format_size(node.size_bytes),
                           node.cpus.empty() ? "none" : os::format_cpu_ranges(node.cpus)));
    }
    line("", fmt::format("(hwloc API {})", machine.topology->hwloc_version));
  } else {
    line("topology", "hwloc is not installed; cpus are taken in the system's order");
  }
  const KernelFeatures& features = machine.features;
  line("features", fmt::format("futex {}, membarrier {}, FSGSBASE {}, MADV_GUARD_INSTALL {}",
                               yes_no(features.futex), yes_no(features.membarrier),
                               yes_no(features.fsgsbase), yes_no(features.guard_install)));
  line("processes", machine.has_peer_memory
                        ? "long messages between them are read from the sender's memory"
                        : "reading each other's memory is forbidden: long messages between them "
                          "are pushed through the memory they share");
  const char* gpu_name = "GPUs";
  for (const std::string& text : describe(machine.gpu))
    line(std::exchange(gpu_name, ""), text);
  fmt::print("Workers that `sorrel run` would use\n");
  line("count", fmt::format("{}", machine.workers));
  line("because", affinity_text(machine.limits) + "; " + quota_text(machine.limits));
  line("cpus", machine.cpus.empty() ? "unbound" : os::format_cpu_list(machine.cpus));
  if (machine.topology) {
    const std::string nodes = describe_nodes(*machine.topology, machine.cpus);
    if (!nodes.empty()) line("memory nodes", nodes);
  }
}

std::string names_text(const std::vector<std::string>& names) {
  return names.empty() ? "none" : fmt::format("{}: {}", names.size(), fmt::join(names, " "));
}

/// The choice of `run --procs auto` for as many ranks as cores.
ProcessChoice choice_for(const ProgramReport& program, const Machine& machine) {
  const auto cores = static_cast<std::uint64_t>(machine.workers);
  return choose_processes(
      {.ranks = cores, .cores = cores, .ranks_per_process_max = map_budget(program).ranks_max()},
      program, machine.features, probe_machine());
}

/// For which binary interface of MPI the program is built, and what `run` does with its calls; "":
/// it does not use MPI.
std::string interface_text(const ProgramReport& program) {
  if (!program.foreign_mpi.empty()) {
    return fmt::format("that of {} ({}), which Sorrel does not translate", program.foreign_mpi,
                       program.foreign_library);
  }
  if (!program.translated_mpi.empty()) {
    return fmt::format("{}'s ({}): calls are translated by the libraries in {}",
                       program.translated_mpi, program.interface_library,
                       program.translation_folder);
  }
  if (program.uses_mpi) return fmt::format("the standard's ({})", program.interface_library);
  if (program.is_interpreter)
    return "that of each module it loads: Open MPI's, MPICH's or the standard's";
  return "";
}

/// For a program whose file, or libraries, use OpenMP.
std::optional<OpenmpReport> openmp_of(const ProgramReport& program, const Machine& machine) {
  if (program.path.empty()) return std::nullopt;
  OpenmpReport openmp = inspect_openmp(program.path, machine.installation);
  if (!openmp.uses_openmp && openmp.libraries.empty()) return std::nullopt;
  return openmp;
}

/// How the program runs if its ranks can share a process.
std::string shared_process_text(const ProgramReport& program) {
  if (program.uses_mpi) return "yes";
  if (!program.is_python)
    return "yes, as ranks: it uses Sorrel's loops, or opens libraries, which may use MPI";
  const std::string_view text = "yes, each rank with an interpreter of its own";
  return program.own_interpreter.empty()
             ? std::string(text)
             : fmt::format("{}: {} in the place of {}", text, program.python_library,
                           program.own_interpreter);
}

/// What its file contains.
void print_file(const ProgramReport& program) {
  line("file", program.path);
  line("kind", program.kind);
  line("globals",
       fmt::format("{} bytes writable ({} initialised, {} zeroed)",
                   program.data_bytes + program.bss_bytes, program.data_bytes, program.bss_bytes));
  line("thread-locals",
       program.has_tls ? fmt::format("{} bytes; each rank gets its own, which costs a register "
                                     "write per switch",
                                     program.tls_bytes)
                       : "none");
  for (const os::NeededLibrary& library : program.needed) {
    line(&library == &program.needed.front() ? "needs" : "",
         fmt::format("{} ({}), {}: {}", library.name,
                     library.path.empty() ? "not found in the usual folders" : library.path,
                     library.is_shared ? "shared" : "private", library.reason));
  }
  if (const std::string text = interface_text(program); !text.empty()) line("interface", text);
  for (const ProfilingTool& tool : program.tools)
    line("tool", fmt::format("{} observes {} functions", tool.library, tool.function_count));
  line("MPI functions", names_text(program.functions));
  line("missing here", names_text(program.missing_functions));
  if (!program.spawn_functions.empty()) line("starts ranks", names_text(program.spawn_functions));
}

void print_program(const ProgramReport& program, const Machine& machine) {
  fmt::print("Program {}\n", printable(program.name));
  if (!program.kind.empty()) print_file(program);
  if (const std::optional<OpenmpReport> openmp = openmp_of(program, machine)) {
    const char* name = "OpenMP";
    for (const std::string& text : describe_openmp(*openmp, machine.installation))
      line(std::exchange(name, ""), text);
  }
  if (!program.refusal.empty()) {
    line("can run", "no: " + program.refusal);
    return;
  }
  if (program.starts_programs && !program.is_interpreter) {
    line("can run", "yes, once in each process: the MPI programs that it starts are the ranks");
    return;
  }
  if (!program.is_mpi_program() && !program.may_be_ranks) {
    line("can run", "yes, once in each process: it does not use MPI");
    return;
  }
  if (!program.own_process_reason.empty()) {
    line("can run", "yes, every rank a process: " + program.own_process_reason);
    line("--procs auto", describe(choice_for(program, machine)));
    return;
  }
  const MapBudget budget = map_budget(program);
  line("can run", shared_process_text(program));
  line("ranks", fmt::format("at most {} (vm.max_map_count = {}, {} maps per rank)",
                            budget.ranks_max(), budget.map_count_max, budget.maps_per_rank));
  line("--procs auto", describe(choice_for(program, machine)));
}

Json json_of(const Topology& topology) {
  Json caches = Json::array();
  for (const CacheLevel& cache : topology.caches) {
    caches.push_back(
        {{"name", cache.name}, {"count", cache.count}, {"size_bytes", cache.size_bytes}});
  }
  Json nodes = Json::array();
  for (const MemoryNode& node : topology.nodes) {
    nodes.push_back(
        {{"number", node.number}, {"size_bytes", node.size_bytes}, {"cpus", node.cpus}});
  }
  return {{"packages", topology.package_count},
          {"cores", topology.core_count},
          {"hardware_threads", topology.threads.size()},
          {"memory_nodes", topology.nodes.size()},
          {"nodes", nodes},
          {"caches", caches},
          {"hwloc", topology.hwloc_version}};
}

Json json_of(const GpuDriver& gpu) {
  Json devices = Json::array();
  for (const GpuDevice& device : gpu.devices)
    devices.push_back({{"name", device.name}, {"memory_bytes", device.memory_bytes}});
  return {{"driver", gpu.path},
          {"cuda_version", gpu.version_text()},
          {"error", gpu.error},
          {"devices", devices}};
}

Json json_of(const Machine& machine) {
  Json json;
  json["version"] = SORREL_VERSION;
  json["commit"] = commit_text();
  json["mpi_version"] = fmt::format("{}.{}", MPI_VERSION, MPI_SUBVERSION);
  json["abi_version"] = fmt::format("{}.{}", MPI_ABI_VERSION, MPI_ABI_SUBVERSION);
  json["library"] = machine.installation.library_dir.empty() ? "" : machine.installation.library();
  json["host_mpis"] = names_of_hosts(machine);
  json["machine"] = {{"kernel", machine.kernel},
                     {"topology", machine.topology ? json_of(*machine.topology) : Json()},
                     {"features",
                      {{"futex", machine.features.futex},
                       {"membarrier", machine.features.membarrier},
                       {"fsgsbase", machine.features.fsgsbase},
                       {"peer_memory", machine.has_peer_memory},
                       {"madv_guard_install", machine.features.guard_install}}}};
  json["gpu"] = json_of(machine.gpu);
  json["workers"] = {
      {"count", machine.workers},
      {"allowed_cpus", os::format_cpu_ranges(machine.limits.allowed_cpus)},
      {"quota_cpus", machine.limits.quota ? Json(machine.limits.quota->cpus) : Json()},
      {"cpus", machine.cpus}};
  return json;
}

Json json_of(const OpenmpReport& openmp, const Installation& installation) {
  Json libraries = Json::array();
  for (const OpenmpLibrary& library : openmp.libraries)
    libraries.push_back({{"name", library.name}, {"path", library.path}});
  return {{"libraries", libraries},
          {"library_with_omp", openmp_library(installation)},
          {"missing_functions", openmp.missing},
          {"can_run_with_omp", openmp.refusal.empty()},
          {"refusal", openmp.refusal}};
}

Json json_of(const ProgramReport& program) {
  Json needed = Json::array();
  for (const os::NeededLibrary& library : program.needed) {
    needed.push_back({{"name", library.name},
                      {"path", library.path},
                      {"shared", library.is_shared},
                      {"reason", library.reason}});
  }
  Json tools = Json::array();
  for (const ProfilingTool& tool : program.tools)
    tools.push_back({{"library", tool.library}, {"functions", tool.function_count}});
  return {{"name", program.name},
          {"path", program.path},
          {"kind", program.kind},
          {"pie", program.is_pie},
          {"data_bytes", program.data_bytes},
          {"bss_bytes", program.bss_bytes},
          {"tls", program.has_tls},
          {"tls_bytes", program.tls_bytes},
          {"needed", needed},
          {"functions", program.functions},
          {"missing_functions", program.missing_functions},
          {"spawn_functions", program.spawn_functions},
          {"uses_mpi", program.uses_mpi},
          {"translated_mpi", program.translated_mpi},
          {"foreign_mpi", program.foreign_mpi},
          {"interface_library",
           program.foreign_library.empty() ? program.interface_library : program.foreign_library},
          {"tools", tools},
          {"can_run", program.refusal.empty()},
          {"refusal", program.refusal},
          {"own_process_reason", program.own_process_reason},
          {"python_library", program.python_library},
          {"wrapper", program.starts_programs},
          {"ranks_max", program.refusal.empty() ? map_budget(program).ranks_max() : 0}};
}

}  // namespace

int info_command(Arguments arguments) {
  bool as_json = false;
  const auto app = make_app(info_usage, info_description, info_footer);
  app->add_flag("--json", as_json, "Print JSON");
  SplitArguments split = split_arguments(*app, arguments);
  if (!split.error.empty()) return report_error("{}", split.error);
  // Options may also follow the program, which has no arguments here.
  std::string name;
  if (!split.program.empty()) {
    name = split.program.front();
    if (name.empty()) return report_error("the program's name is empty");
    const SplitArguments rest = split_arguments(*app, split.program.subspan(1));
    if (!rest.error.empty()) return report_error("{}", rest.error);
    if (!rest.program.empty())
      return report_error("info takes one program; '{}' is a second one", rest.program.front());
    split.options.insert(split.options.end(), rest.options.begin(), rest.options.end());
  }
  if (const auto status = parse_options(*app, split.options)) return *status;

  const Machine machine = read_machine();
  std::optional<ProgramReport> program;
  if (!name.empty()) program = inspect_program(name, machine.installation);
  if (as_json) {
    Json json = json_of(machine);
    if (program) {
      json["program"] = json_of(*program);
      if (const std::optional<OpenmpReport> openmp = openmp_of(*program, machine))
        json["program"]["openmp"] = json_of(*openmp, machine.installation);
    }
    fmt::print("{}\n", text_of(json));
  } else {
    print_machine(machine);
    if (program) print_program(*program, machine);
  }
  return program && !program->refusal.empty() ? 1 : 0;
}

}  // namespace sorrel::tool
