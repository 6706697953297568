#include "tools/sorrel/common/installation.hpp"

#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdlib>
#include <fmt/core.h>
#include <pwd.h>
#include <string_view>
#include <unistd.h>

#include "os/file_owner.hpp"

namespace sorrel::tool {

namespace {

std::string parent(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos || slash == 0 ? "/" : path.substr(0, slash);
}

bool is_there(const std::string& path) {
  return access(path.c_str(), R_OK) == 0;
}

/// "" without one.
std::string home_folder() {
  const char* home = std::getenv("HOME");
  if (home == nullptr) {
    const passwd* entry = getpwuid(geteuid());
    if (entry != nullptr) home = entry->pw_dir;
  }
  return home == nullptr || *home != '/' ? "" : home;
}

std::string folder_of_user(const char* variable, const char* below_home) {
  const char* folder = std::getenv(variable);
  if (folder != nullptr && *folder == '/') return std::string(folder) + "/sorrel";
  const std::string home = home_folder();
  return home.empty() ? "" : home + below_home + "/sorrel";
}

}  // namespace

Installation find_installation() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return find_installation(length > 0 ? std::string(path, static_cast<std::size_t>(length)) : "");
}

Installation find_installation(const std::string& executable) {
  Installation found{.executable = executable, .library_dir = "", .include_dir = ""};
  const std::string prefix = parent(parent(executable));
  const std::string base = prefix == "/" ? "" : prefix;
  // SORREL_LIBDIR is the distribution's name of it, lib/x86_64-linux-gnu or lib64. Only this source
  // is compiled with such names, so that packages of several distributions come from one build.
  for (const std::string_view folder : {"/lib", "/" SORREL_LIBDIR}) {
    const std::string candidate = base + std::string(folder);
    if (found.library_dir.empty() && is_there(candidate + "/" + library_name))
      found.library_dir = candidate;
  }
  if (is_there(base + "/include/mpi/mpi.h")) found.include_dir = base + "/include";
  return found;
}

std::string Installation::prefix() const {
  return parent(parent(executable));
}

std::string Installation::mpi_folder() const {
  const std::string base = prefix() == "/" ? "" : prefix();
  const std::string installed = base + "/" SORREL_MPIDIR;
  return access((installed + "/mpicc").c_str(), X_OK) == 0 ? installed : base + "/bin/mpi";
}

std::string data_folder(const Installation& installation,
                        const std::string& name,
                        const std::string& in_sources) {
  const std::string installed = installation.prefix() + "/share/sorrel/" + name;
  char include[PATH_MAX];
  if (is_there(installed) || realpath(installation.include_dir.c_str(), include) == nullptr)
    return installed;
  return parent(include) + "/" + in_sources;
}

std::string cache_folder() {
  std::string folder = folder_of_user("XDG_CACHE_HOME", "/.cache");
  if (!folder.empty()) return folder;
  // Its name is known to all users: one of them may have made it.
  folder = fmt::format("/tmp/sorrel-{}", geteuid());
  const int error = os::make_private_folder(folder);
  return (error == 0 || error == EEXIST) && os::folder_owner_error(folder).empty() ? folder : "";
}

std::string state_folder() {
  return folder_of_user("XDG_STATE_HOME", "/.local/state");
}

}  // namespace sorrel::tool
