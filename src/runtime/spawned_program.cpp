#include "runtime/spawned_program.hpp"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.hpp"
#include "base/text.hpp"
#include "os/elf_file.hpp"
#include "os/interpreter_line.hpp"
#include "os/library_search.hpp"

namespace sorrel::runtime {

namespace {

/// What a shell uses without PATH.
constexpr const char* default_search_path = "/bin:/usr/bin";

std::string search_path_of_process() {
  const char* path = std::getenv("PATH");
  return path != nullptr ? path : default_search_path;
}

bool is_program(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

bool is_same_file(const char* path, const struct stat& wanted) {
  struct stat status{};
  return ::stat(path, &status) == 0 && status.st_dev == wanted.st_dev &&
         status.st_ino == wanted.st_ino;
}

/// Whether this process runs an interpreter of Python under its name (tools/python).
bool runs_in_place_of_interpreter() {
  constexpr std::string_view name = "/sorrel-python";
  char path[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  return length > 0 && std::string_view(path, static_cast<std::size_t>(length)).ends_with(name);
}

bool is_own_file(const std::string& path) {
  struct stat wanted{};
  return ::stat(path.c_str(), &wanted) == 0 &&
         (is_same_file("/proc/self/exe", wanted) ||
          (runs_in_place_of_interpreter() && is_same_file(program_invocation_name, wanted)));
}

/// In the first folder that has it; "": there is none.
std::string find_in(const std::string& folders, const std::string& name) {
  for (const std::string& folder : os::split_path(folders, ':')) {
    std::string path = (folder.empty() ? "." : folder) + "/" + name;
    if (is_program(path)) return path;
  }
  return "";
}

/// The rank may begin in another folder.
std::string absolute(std::string path) {
  SORREL_ASSERT(!path.empty(), "a program without a name");
  if (path.front() == '/') return path;
  char folder[PATH_MAX];
  return ::getcwd(folder, sizeof folder) == nullptr ? path : folder + ("/" + path);
}

/// A script's interpreter and the argument that the script gives it; empty: it is no script.
std::vector<std::string> interpreter_of(const std::string& path) {
  const auto opened = os::ElfFile::open(path);
  const auto* error = std::get_if<os::ElfError>(&opened);
  if (error == nullptr || error->kind != os::ElfErrorKind::script) return {};
  std::vector<std::string> words = os::interpreter_arguments(error->detail);
  if (!words.empty() && words.front().find('/') == std::string::npos)
    words.front() = find_in(search_path_of_process(), words.front());
  return words;
}

bool is_directory(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace

SpawnedProgram::SpawnedProgram(const mpi::SpawnCommand& command)
    : path_(command.file.empty() ? find(command) : command.file), directory_(command.directory) {
  if (path_.empty()) {
    error_ = text_of("%s: no such program", command.program.c_str());
  } else if (!directory_.empty() && !is_directory(directory_)) {
    error_ = text_of("%s: the working directory '%s' (info key wdir): %s", command.program.c_str(),
                     directory_.c_str(), std::strerror(ENOENT));
  }
  if (!error_.empty()) return;
  is_own_ = is_own_file(path_);
  if (!is_own_) words_ = interpreter_of(path_);
  if (words_.empty() || !is_own_file(words_.front())) {
    words_ = {command.program};
  } else {
    is_own_ = true;
    words_.push_back(path_);
  }
  words_.insert(words_.end(), command.arguments.begin(), command.arguments.end());
  for (std::string& word : words_)
    pointers_.push_back(word.data());
  pointers_.push_back(nullptr);
  SORREL_ASSERT(pointers_.size() == words_.size() + 1 && words_.size() > command.arguments.size(),
                "%zu words of %zu arguments", words_.size(), command.arguments.size());
}

/// "": there is none. A relative name leads from the working directory of the new ranks.
std::string SpawnedProgram::find(const mpi::SpawnCommand& command) const {
  const std::string& name = command.program;
  if (name.empty()) return "";
  if (name.find('/') != std::string::npos) {
    const bool is_relative = name.front() != '/' && !command.directory.empty();
    if (is_relative && is_program(command.directory + "/" + name))
      return absolute(command.directory + "/" + name);
    return is_program(name) ? absolute(name) : "";
  }
  const std::string found =
      find_in(command.search_path.empty() ? search_path_of_process() : command.search_path, name);
  return found.empty() ? "" : absolute(found);
}

}  // namespace sorrel::runtime
