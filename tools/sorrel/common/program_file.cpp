#include "tools/sorrel/common/program_file.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fmt/core.h>
#include <memory>
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

std::string real_path(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> resolved(realpath(path.c_str(), nullptr), std::free);
  return resolved == nullptr ? path : resolved.get();
}

std::string program_file_error(const std::string& name, const std::string& path) {
  struct stat status{};
  if (name.empty()) return "the program's name is empty";
  if (path.empty()) {
    const bool has_slash = name.find('/') != std::string::npos;
    return fmt::format("{}: no such program{}", name,
                       has_slash ? "" : " in PATH or in this folder");
  }
  if (stat(path.c_str(), &status) != 0) return fmt::format("{}: {}", name, std::strerror(errno));
  if (S_ISDIR(status.st_mode)) return fmt::format("{} is a folder; give a program", name);
  if (!S_ISREG(status.st_mode)) return fmt::format("{} is a special file; give a program", name);
  return "";
}

std::string executable_error(const std::string& name, const std::string& path) {
  if (access(path.c_str(), X_OK) == 0) return "";
  return fmt::format("{} is not executable; chmod +x it if it is a program", name);
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words)
    pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace sorrel::tool
