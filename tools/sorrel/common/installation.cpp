#include "tools/sorrel/common/installation.hpp"

#include <climits>
#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <unistd.h>

namespace sorrel::tool {

namespace {

std::string parent(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos || slash == 0 ? "/" : path.substr(0, slash);
}

bool is_there(const std::string& path) {
  return access(path.c_str(), R_OK) == 0;
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
  // SORREL_LIBDIR is the distribution's name of it, lib/x86_64-linux-gnu or lib64.
  for (const std::string_view folder : {"/lib", "/" SORREL_LIBDIR}) {
    const std::string candidate = base + std::string(folder);
    if (found.library_dir.empty() && is_there(candidate + "/" + library_name))
      found.library_dir = candidate;
  }
  if (is_there(base + "/include/mpi/mpi.h")) found.include_dir = base + "/include";
  return found;
}

std::string data_folder(const Installation& installation,
                        const std::string& name,
                        const std::string& in_sources) {
  const std::string installed = parent(parent(installation.executable)) + "/share/sorrel/" + name;
  char include[PATH_MAX];
  if (is_there(installed) || realpath(installation.include_dir.c_str(), include) == nullptr)
    return installed;
  return parent(include) + "/" + in_sources;
}

std::string cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  if (cache != nullptr && *cache == '/') return std::string(cache) + "/sorrel";
  return home == nullptr ? "" : std::string(home) + "/.cache/sorrel";
}

}  // namespace sorrel::tool
