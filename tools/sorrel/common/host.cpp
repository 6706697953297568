#include "tools/sorrel/common/host.hpp"

#include <array>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <variant>

#include "os/elf_file.hpp"
#include "os/library_search.hpp"
#include "transport/host/host_library.hpp"

namespace sorrel::tool {

namespace {

bool is_file(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         access(path.c_str(), R_OK) == 0;
}

/// The program may change its working directory before the plugin is opened.
std::string absolute_path(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.string();
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

/// A host with a plugin of its own, and the names of its library.
struct KnownHost {
  std::string_view name;
  std::vector<std::string_view> libraries;
  std::string_view version;  ///< the end of their names
};

const std::vector<KnownHost>& known_hosts() {
  static const std::vector<KnownHost> hosts = {
      {"openmpi", {"libmpi.so.40"}, ".so.40"},
      {"mpich", {"libmpi.so.12", "libmpich.so.12"}, ".so.12"},
      {"abi", {library_name}, ".so.1"}};
  return hosts;
}

KnownHost known_host(std::string_view name) {
  for (const KnownHost& known : known_hosts()) {
    if (known.name == name) return known;
  }
  return {};
}

/// The name that a library has for the loader, or else that of the file.
std::string soname_of(const std::string& path) {
  const auto opened = os::ElfFile::open(path);
  const auto* file = std::get_if<os::ElfFile>(&opened);
  if (file != nullptr && !file->soname.empty()) return std::string(file->soname);
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

/// Whether a library is of the binary interface of this host: libmpi.so.12 is, libmpi_cray.so.12
/// is, libmpi.so.40 is not MPICH's.
bool has_version(const std::string& library, std::string_view host) {
  return !library.empty() && soname_of(library).ends_with(known_host(host).version);
}

/// The folders of libraries beside a program's.
std::vector<std::string> folders_beside(const std::string& executable) {
  const std::size_t name = executable.rfind('/');
  if (name == std::string::npos || name == 0) return {};
  const std::size_t folder = executable.rfind('/', name - 1);
  if (folder == std::string::npos) return {};
  const std::string prefix = executable.substr(0, folder);
  return {prefix + "/lib", prefix + "/lib/" SORREL_ARCHITECTURE "-linux-gnu", prefix + "/lib64",
          prefix + "/lib/release"};
}

std::string no_plugin(const Host& host, const Installation& installation) {
  std::vector<std::string_view> names;
  for (const KnownHost& known : known_hosts())
    names.push_back(known.name);
  if (known_host(host.name).name.empty()) {
    return fmt::format("--host must be none, {}, or the path of a plug-in, not '{}'",
                       fmt::join(names, ", "), host.name);
  }
  return fmt::format(
      "{}{} is not in {}: install Sorrel again; --host none runs a job of its own "
      "in each process",
      host.launcher.empty() ? "" : "started by " + host.launcher + ", but ",
      transport::host_plugin_file(host.name), installation.library_dir);
}

std::string how_to_compile(const Installation& installation) {
  const std::string sources = data_folder(installation, "host", "src");
  return fmt::format(
      "for an MPI of another binary interface compile the plug-in, mpicc -shared -fPIC -I {} "
      "{}/transport/host/plugin/host_plugin.c -o sorrel-host.so, and give --host ./sorrel-host.so",
      sources, sources);
}

std::string no_library(const Host& host, const Installation& installation) {
  return fmt::format(
      "{}{} is found neither in LD_LIBRARY_PATH nor beside the launcher nor by the loader: name it "
      "with --host-library PATH; {}; --host none runs a job of its own in each process",
      host.launcher.empty() ? "" : "started by " + host.launcher + ", but ",
      fmt::join(known_host(host.name).libraries, " or "), how_to_compile(installation));
}

/// Sets the plugin and the library of a host that is known by its name.
void complete(Host& host, const Environment& environment, const Installation& installation) {
  host.plugin = installation.library_dir + "/" + transport::host_plugin_file(host.name);
  if (!is_file(host.plugin)) {
    host.error = no_plugin(host, installation);
    return;
  }
  if (host.library.empty())
    host.library = host_library(host.name, parent_executable(), environment, installation);
  if (host.name == "abi" && (host.library.empty() || host.library == installation.library())) {
    host.error = "--host abi needs --host-library PATH, the libmpi_abi.so.1 of the host MPI";
  } else if (host.library.empty()) {
    host.error = no_library(host, installation);
  } else if (is_file(host.library) && !has_version(host.library, host.name)) {
    host.error = fmt::format("{} is called {}, and the plug-in {} is for {}; {}", host.library,
                             soname_of(host.library), host.name,
                             fmt::join(known_host(host.name).libraries, " or "),
                             how_to_compile(installation));
  }
}

}  // namespace

std::vector<InstalledHost> installed_hosts(const Environment& environment,
                                           const Installation& installation) {
  std::vector<InstalledHost> found;
  for (const KnownHost& known : known_hosts()) {
    const std::string name(known.name);
    std::string library = host_library(name, "", environment, installation);
    if (!library.empty() &&
        is_file(installation.library_dir + "/" + transport::host_plugin_file(name)))
      found.push_back({name, std::move(library)});
  }
  return found;
}

std::string host_library(const std::string& name,
                         const std::string& launcher,
                         const Environment& environment,
                         const Installation& installation) {
  const std::vector<std::string_view> libraries = known_host(name).libraries;
  const os::LibrarySearch search = os::search_with(environment("LD_LIBRARY_PATH"));
  // Sorrel's own library has the standard ABI's name.
  const bool is_standard = name == "abi";
  std::vector<std::string> folders;
  if (!is_standard) folders = search.before_runpath;
  for (std::string& folder : folders_beside(launcher))
    folders.push_back(std::move(folder));
  // Below are translations, which have the names of other MPIs' libraries.
  std::erase_if(folders, [&](const std::string& folder) {
    return !is_standard && folder.starts_with(installation.library_dir + "/");
  });
  for (const std::string& folder : folders) {
    for (const std::string_view library : libraries) {
      const std::string path = fmt::format("{}/{}", folder, library);
      if (os::is_file(path)) return path;
    }
  }
  const auto opened = os::ElfFile::open("/proc/self/exe");
  const auto* self = std::get_if<os::ElfFile>(&opened);
  if (is_standard || self == nullptr) return "";
  for (const std::string_view library : libraries) {
    std::string path = os::find_library(library, *self, "", {});
    if (!path.empty()) return path;
  }
  return "";
}

Host find_host(const HostOptions& words,
               const Environment& environment,
               const Installation& installation) {
  Host host = launcher_in(of_launchers(environment));
  if (words.host == "none") return {};
  if (words.host.find('/') != std::string::npos) {
    host.plugin = absolute_path(words.host);
    if (host.name.empty()) host.name = "own";
  } else if (!words.host.empty()) {
    host.name = words.host;
  }
  if (host.name.empty()) {
    const launch::Launched tasks = launch::tasks_without_pmi(environment);
    Host none;
    if (!tasks.text.empty()) {
      none.error = fmt::format(
          "{} without a PMI, and each would run a job of its own: start them with srun --mpi=pmix "
          "(Open MPI) or --mpi=pmi2 (MPICH); --host none runs a job of its own in each",
          tasks.text);
    }
    return none;
  }
  host.library = words.library;
  if (host.name == "pmi") {
    // A standard-ABI MPICH has its library beside its launcher.
    if (host.library.empty() && host.plugin.empty())
      host.library = host_library("abi", parent_executable(), environment, installation);
    host.name = has_version(host.library, "abi") ? "abi" : "mpich";
  }
  if (host.plugin.empty()) {
    complete(host, environment, installation);
  } else if (!is_file(host.plugin)) {
    host.error = fmt::format("--host {} is not a readable file", words.host);
  }
  if (host.error.empty() && !host.library.empty() && !is_file(host.library))
    host.error = fmt::format("--host-library {} is not a readable file", host.library);
  return host;
}

}  // namespace sorrel::tool
