#include "tools/sorrel/machine/other_mpi.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <fmt/core.h>
#include <set>
#include <unistd.h>

#include "os/library_search.hpp"
#include "tools/sorrel/common/command_output.hpp"
#include "tools/sorrel/common/program_file.hpp"

namespace sorrel::tool {

namespace {

constexpr std::string_view launcher_names[] = {"mpirun.openmpi", "mpiexec.openmpi", "mpiexec.mpich",
                                               "mpiexec.hydra",  "mpirun",          "mpiexec"};
constexpr std::chrono::seconds version_limit{30};

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

/// "Version: 4.0.2" has the number behind the name, blanks between.
std::string number_after(std::string_view text, std::string_view name) {
  const std::size_t found = text.find(name);
  if (found == std::string_view::npos) return "";
  const std::size_t begin = text.find_first_of("0123456789", found + name.size());
  if (begin == std::string_view::npos) return "";
  const std::size_t end = text.find_first_not_of("0123456789.", begin);
  return std::string(text.substr(begin, end == std::string_view::npos ? end : end - begin));
}

bool is_of_sorrel(const std::string& path, const Installation& installation) {
  return path == installation.executable || path.substr(path.rfind('/') + 1) == "sorrel";
}

std::string file_in(const std::string& folder, std::string_view name) {
  std::string path = fmt::format("{}/{}", folder, name);
  return os::is_file(path) && access(path.c_str(), X_OK) == 0 ? path : "";
}

OtherMpi mpi_with(const std::string& launcher,
                  const Environment& environment,
                  const Installation& installation) {
  OtherMpi mpi;
  const MpiVersion version = mpi_of(output_of({launcher, "--version"}, version_limit).text);
  mpi.name = version.name;
  mpi.family = version.family;
  mpi.launcher = launcher;
  if (mpi.name.empty()) return mpi;
  const std::string path = real_path(launcher);
  mpi.library = host_library(mpi.family, path, environment, installation);
  mpi.is_library_of_loader = mpi.library == host_library(mpi.family, "", environment, installation);
  mpi.standard_library = host_library("abi", path, environment, installation);
  if (mpi.standard_library == installation.library()) mpi.standard_library.clear();
  return mpi;
}

}  // namespace

std::vector<std::string> OtherMpi::start(std::uint64_t ranks, std::uint64_t cores) const {
  std::vector<std::string> words = {launcher, "-n", fmt::format("{}", ranks)};
  if (family == "openmpi" && ranks > cores) words.emplace_back("--oversubscribe");
  return words;
}

std::vector<std::string> OtherMpi::environment(bool is_standard, bool is_python) const {
  std::vector<std::string> settings;
  const std::string& chosen = is_standard ? standard_library : library;
  if (!chosen.empty() && (is_standard || !is_library_of_loader)) {
    const char* before = std::getenv("LD_LIBRARY_PATH");
    settings.push_back(fmt::format("LD_LIBRARY_PATH={}{}{}", folder_of(chosen),
                                   before == nullptr ? "" : ":", before == nullptr ? "" : before));
  }
  if (is_python && !library.empty()) {
    settings.push_back("MPI4PY_MPIABI=" + family);
    settings.push_back("MPI4PY_LIBMPI=" + library);
  }
  // Open MPI's launcher refuses the user that this command already runs as.
  if (family == "openmpi" && geteuid() == 0) {
    settings.emplace_back("OMPI_ALLOW_RUN_AS_ROOT=1");
    settings.emplace_back("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1");
  }
  return settings;
}

MpiVersion mpi_of(std::string_view version_text) {
  const auto has = [&](std::string_view text) {
    return version_text.find(text) != std::string_view::npos;
  };
  // Debian's mpirun.openmpi calls itself so.
  for (const std::string_view words : {"(Open MPI)", "(OpenRTE)"}) {
    if (has(words)) return {"Open MPI " + number_after(version_text, words), "openmpi"};
  }
  if (has("Intel(R) MPI")) return {"Intel MPI " + number_after(version_text, "Version"), "mpich"};
  if (has("HYDRA")) return {"MPICH " + number_after(version_text, "Version:"), "mpich"};
  return {};
}

std::vector<OtherMpi> find_other_mpis(const Environment& environment,
                                      const Installation& installation) {
  std::vector<OtherMpi> found;
  std::set<std::string> seen;
  const char* path = environment("PATH");
  if (path == nullptr) return found;
  for (const std::string& folder : os::split_path(path, ':')) {
    for (const std::string_view name : launcher_names) {
      const std::string launcher = file_in(folder, name);
      if (launcher.empty()) continue;
      const std::string real = real_path(launcher);
      if (is_of_sorrel(real, installation) || !seen.insert(real).second) continue;
      OtherMpi mpi = mpi_with(launcher, environment, installation);
      const bool is_known = std::ranges::any_of(found, [&](const OtherMpi& other) {
        return other.name == mpi.name && other.library == mpi.library;
      });
      if (!mpi.name.empty() && !is_known) found.push_back(std::move(mpi));
    }
  }
  return found;
}

}  // namespace sorrel::tool
