#include "tools/sorrel/program_file.hpp"

#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>

#include "os/library_search.hpp"

namespace sorrel::tool {

std::string find_program(const std::string& name) {
  struct stat status{};
  if (name.empty()) return "";
  if (name.find('/') != std::string::npos) return stat(name.c_str(), &status) == 0 ? name : "";
  const char* path = std::getenv("PATH");
  for (const std::string& folder : os::split_path(path == nullptr ? "/usr/bin:/bin" : path)) {
    const std::string candidate = folder + "/" + name;
    if (os::is_file(candidate) && access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  const std::string here = "./" + name;
  return stat(here.c_str(), &status) == 0 ? here : "";
}

}  // namespace sorrel::tool
