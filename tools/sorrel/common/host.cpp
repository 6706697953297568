#include "tools/sorrel/common/host.hpp"

#include <array>
#include <climits>
#include <cstdlib>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include "transport/host/host_library.hpp"

namespace sorrel::tool {

namespace {

bool is_file(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         access(path.c_str(), R_OK) == 0;
}

unsigned number_of(const char* text) {
  return text == nullptr ? 0 : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

std::string parent_executable() {
  std::array<char, PATH_MAX> path{};
  const std::string link = fmt::format("/proc/{}/exe", getppid());
  const ssize_t length = readlink(link.c_str(), path.data(), path.size());
  return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : "";
}

/// The environment without the variables that number a rank of Sorrel, which what the rank starts
/// inherits (launch/rank_variables.hpp). A launcher sets further variables.
Environment of_launchers(const Environment& environment) {
  const auto has = [&](const char* name) { return environment(name) != nullptr; };
  const bool is_below_rank = has("SORREL_RANK");
  const bool hides_open_mpi = is_below_rank && !has("PMIX_NAMESPACE") && !has("PMIX_RANK");
  const bool hides_pmi = is_below_rank && !has("PMI_FD") && !has("PMI_PORT");
  return [&environment, hides_open_mpi, hides_pmi](const char* name) -> const char* {
    const std::string_view text(name);
    const bool is_hidden = (hides_open_mpi && text.starts_with("OMPI_COMM_WORLD_")) ||
                           (hides_pmi && (text == "PMI_RANK" || text == "PMI_SIZE"));
    return is_hidden ? nullptr : environment(name);
  };
}

/// The host according to the environment; its name is "pmi" if MPICH's protocol does not show which
/// MPICH.
Host launcher_in(const Environment& environment) {
  const bool is_step = environment("SLURM_STEP_ID") != nullptr;
  Host found;
  found.is_slurm = is_step;
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    const char* rank = environment(name);
    if (rank == nullptr) continue;
    found.is_first = number_of(rank) == 0;
    break;
  }
  if (environment("OMPI_COMM_WORLD_SIZE") != nullptr) {
    found.name = "openmpi";
    found.launcher = "Open MPI's mpirun";
    found.processes = number_of(environment("OMPI_COMM_WORLD_SIZE"));
    found.is_slurm = false;
  } else if (environment("PMIX_RANK") != nullptr) {
    found.name = "openmpi";
    found.launcher = is_step ? "srun (PMIx)" : "a PMIx launcher";
    found.processes = is_step ? number_of(environment("SLURM_STEP_NUM_TASKS")) : 0;
  } else if (environment("PMI_RANK") != nullptr || environment("PMI_FD") != nullptr) {
    found.name = "pmi";
    found.launcher = is_step ? "srun (PMI)" : "MPICH's mpiexec";
    found.processes = number_of(environment("PMI_SIZE"));
    if (found.processes == 0 && is_step)
      found.processes = number_of(environment("SLURM_STEP_NUM_TASKS"));
  }
  return found;
}

std::string missing_plugin(const Host& host, const Installation& installation) {
  const auto installed = installed_hosts(installation);
  return fmt::format(
      "{}{} is not in {} (there: {}); --host none runs a job of its own in each process",
      host.launcher.empty() ? "" : "started by " + host.launcher + ", but ",
      transport::host_plugin_file(host.name), installation.library_dir,
      installed.empty() ? "no plugin" : fmt::format("{}", fmt::join(installed, ", ")));
}

}  // namespace

std::vector<std::string> installed_hosts(const Installation& installation) {
  std::vector<std::string> found;
  for (const char* name : host_names) {
    if (is_file(installation.library_dir + "/" + transport::host_plugin_file(name)))
      found.emplace_back(name);
  }
  return found;
}

std::string abi_library_of(const std::string& executable) {
  const std::size_t name = executable.rfind('/');
  if (name == std::string::npos || name == 0) return "";
  const std::size_t folder = executable.rfind('/', name - 1);
  if (folder == std::string::npos) return "";
  const std::string path = executable.substr(0, folder) + "/lib/" + library_name;
  return is_file(path) ? path : "";
}

Host find_host(const HostOptions& words,
               const Environment& environment,
               const Installation& installation) {
  Host host = launcher_in(of_launchers(environment));
  if (words.host == "none") return {};
  if (!words.host.empty()) host.name = words.host;
  if (host.name.empty()) return {};
  host.library = words.library;
  if (host.name == "pmi") {
    // A standard-ABI MPICH has its library beside its launcher.
    if (host.library.empty()) host.library = abi_library_of(parent_executable());
    host.name = host.library.empty() ? "mpich" : "abi";
  } else if (host.name == "abi" && host.library.empty()) {
    host.library = abi_library_of(parent_executable());
  }
  if (host.name == "abi" && (host.library.empty() || host.library == installation.library())) {
    host.error = "--host abi needs --host-library PATH, the libmpi_abi.so.1 of the host MPI";
  } else if (!is_file(installation.library_dir + "/" + transport::host_plugin_file(host.name))) {
    host.error = missing_plugin(host, installation);
  } else if (!host.library.empty() && !is_file(host.library)) {
    host.error = fmt::format("--host-library {} is not a readable file", host.library);
  }
  return host;
}

}  // namespace sorrel::tool
