#include "tools/sorrel/program_file.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>

namespace sorrel::tool {

namespace {

bool is_file(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

/// $ORIGIN is the folder of the file that names it.
std::string expand_origin(std::string folder, const std::string& origin) {
  for (const std::string_view word : {"${ORIGIN}", "$ORIGIN"}) {
    for (std::size_t at = 0; (at = folder.find(word, at)) != std::string::npos;
         at += origin.size()) {
      folder.replace(at, word.size(), origin);
    }
  }
  return folder;
}

std::string find_in(const std::vector<std::string>& folders,
                    std::string_view name,
                    const std::string& origin) {
  for (const std::string& folder : folders) {
    std::string path = expand_origin(folder, origin) + "/";
    path += name;
    if (is_file(path)) return path;
  }
  return "";
}

}  // namespace

std::vector<std::string> split_path(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(':'), list.size());
    if (end > 0) parts.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return parts;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string find_program(const std::string& name) {
  struct stat status{};
  if (name.empty()) return "";
  if (name.find('/') != std::string::npos) return stat(name.c_str(), &status) == 0 ? name : "";
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split_path(path == nullptr ? "/usr/bin:/bin" : path)) {
    const std::string candidate = folder + "/" + name;
    if (is_file(candidate) && access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  const std::string here = "./" + name;
  return stat(here.c_str(), &status) == 0 ? here : "";
}

std::string find_library(std::string_view soname,
                         const os::ElfFile& needer,
                         const std::string& needer_path,
                         const LibrarySearch& search) {
  if (soname.find('/') != soname.npos)
    return is_file(std::string(soname)) ? std::string(soname) : "";
  const std::string origin = folder_of(needer_path);
  std::string found;
  // RPATH counts only where there is no RUNPATH, and then before everything.
  if (needer.runpath().empty()) found = find_in(split_path(needer.rpath()), soname, origin);
  if (found.empty()) found = find_in(search.before_runpath, soname, origin);
  if (found.empty()) found = find_in(split_path(needer.runpath()), soname, origin);
  if (found.empty()) found = find_in(search.last, soname, origin);
  return found;
}

}  // namespace sorrel::tool
