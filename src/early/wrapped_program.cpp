#include "early/wrapped_program.hpp"

#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "early/job_text.hpp"

namespace sorrel::early {

namespace {

constexpr char own_name[] = "libsorrel-early.so";
constexpr char runtime_name[] = "libsorrel-runtime.so";
constexpr char preload_prefix[] = "LD_PRELOAD=";
constexpr char path_prefix[] = "LD_LIBRARY_PATH=";
constexpr const char* sanitizers[] = {"libasan.so", "libhwasan.so", "libtsan.so", "liblsan.so",
                                      "libclang_rt."};

char program_path[PATH_MAX];
char command_path[PATH_MAX];
char preflight_text[65536];
char preload_variable[4 * PATH_MAX];
char path_variable[4 * PATH_MAX];
char no_preload_variable[] = "LD_PRELOAD=";

/// The text behind the last slash before `end`.
[[nodiscard]] const char* base_name(const char* path, const char* end) {
  const char* name = path;
  for (const char* at = path; at != end; ++at) {
    if (*at == '/') name = at + 1;
  }
  return name;
}

/// The end of a part of a list a:b.
[[nodiscard]] char* end_of_part(char* part) {
  while (*part != '\0' && *part != ':')
    ++part;
  return part;
}

[[nodiscard]] const char* name_of(const link_map& map) {
  const char* end = map.l_name;
  while (*end != '\0')
    ++end;
  return base_name(map.l_name, end);
}

/// Whether Sorrel's library starts the program: its functions precede those of the C library.
/// Otherwise the constructors would be lost.
[[nodiscard]] bool is_started_by_sorrel() {
  for (const link_map* map = _r_debug.r_map; map != nullptr; map = map->l_next) {
    const char* const name = name_of(*map);
    if (begins_with(name, "libmpi_abi.so") || begins_with(name, "libsorrel-runtime.so"))
      return true;
    if (begins_with(name, "libc.so")) return false;
  }
  return false;
}

/// The path of Sorrel's library without the names of MPI's functions, if a library of the program
/// needs it; or null.
[[nodiscard]] const char* runtime_path() {
  for (const link_map* map = _r_debug.r_map; map != nullptr; map = map->l_next) {
    if (begins_with(name_of(*map), runtime_name)) return map->l_name;
  }
  return nullptr;
}

/// A sanitizer's library must be loaded before all others, and its functions, which stand in front
/// of those of the C library, must not be called before it has begun.
[[nodiscard]] bool has_sanitizer() {
  for (const link_map* map = _r_debug.r_map; map != nullptr; map = map->l_next) {
    for (const char* name : sanitizers) {
      if (begins_with(name_of(*map), name)) return true;
    }
  }
  return false;
}

/// Removes this library from a list a:b.
void remove_own_file(char* list) {
  char* kept = list;
  for (char* part = list; *part != '\0';) {
    char* const end = end_of_part(part);
    char* const next = *end == '\0' ? end : end + 1;
    if (begins_with(base_name(part, end), own_name)) {
      part = next;
    } else {
      while (part != next)
        *kept++ = *part++;
    }
  }
  *kept = '\0';
}

/// None of the program's code has run. Returns if it cannot be executed again.
void start_without_this_library(char** arguments, char** environment) {
  for (char** variable = environment; *variable != nullptr; ++variable) {
    if (!begins_with(*variable, preload_prefix)) continue;
    char* const list = *variable + sizeof preload_prefix - 1;
    remove_own_file(list);
    for (char** next = variable; *list == '\0' && *next != nullptr; ++next)
      next[0] = next[1];
    ::execve(program_path, arguments, environment);
    return;
  }
}

[[nodiscard]] const char* end_of(const char* text) {
  while (*text != '\0')
    ++text;
  return text;
}

/// The variable whose text has this prefix, or null.
[[nodiscard]] char** find_variable(char** environment, const char* prefix) {
  for (char** variable = environment; *variable != nullptr; ++variable) {
    if (begins_with(*variable, prefix)) return variable;
  }
  return nullptr;
}

/// Appends [text, end) to a variable's text; false if it does not fit.
[[nodiscard]] bool append(char (&variable)[4 * PATH_MAX],
                          std::size_t& length,
                          const char* text,
                          const char* end) {
  const auto count = static_cast<std::size_t>(end - text);
  if (count >= sizeof variable - length) return false;
  for (std::size_t i = 0; i < count; ++i)
    variable[length++] = text[i];
  variable[length] = '\0';
  return true;
}

/// A program whose MPI library is a translation (src/translate) needs Sorrel's library behind the C
/// library, which it must precede: executes the program again with that library preloaded, behind
/// this one. Returns if that cannot be, or has been done.
void start_with_runtime(const char* runtime, char** arguments, char** environment) {
  char** const variable = find_variable(environment, preload_prefix);
  if (variable == nullptr) return;
  const char* after_own = nullptr;
  for (char* part = *variable + sizeof preload_prefix - 1; *part != '\0';) {
    char* const end = end_of_part(part);
    if (begins_with(base_name(part, end), runtime_name)) return;
    if (begins_with(base_name(part, end), own_name)) after_own = end;
    part = *end == '\0' ? end : end + 1;
  }
  constexpr char separator[] = ":";
  std::size_t length = 0;
  if (after_own == nullptr || !append(preload_variable, length, *variable, after_own) ||
      !append(preload_variable, length, separator, separator + 1) ||
      !append(preload_variable, length, runtime, end_of(runtime)) ||
      !append(preload_variable, length, after_own, end_of(after_own)))
    return;
  *variable = preload_variable;
  ::execve(program_path, arguments, environment);
}

/// The length of the path of the folder of this library; 0: not found.
[[nodiscard]] std::size_t own_folder(const char*& folder) {
  for (const link_map* map = _r_debug.r_map; map != nullptr; map = map->l_next) {
    if (!begins_with(name_of(*map), own_name)) continue;
    folder = map->l_name;
    return static_cast<std::size_t>(name_of(*map) - map->l_name - 1);
  }
  return 0;
}

/// Whether [part, end) is Sorrel's folder of libraries, or one below it.
[[nodiscard]] bool is_in_folder(const char* part,
                                const char* end,
                                const char* folder,
                                std::size_t length) {
  if (static_cast<std::size_t>(end - part) < length) return false;
  for (std::size_t i = 0; i < length; ++i) {
    if (part[i] != folder[i]) return false;
  }
  return part + length == end || part[length] == '/';
}

/// The wrapper, a script of an MPI's vendor or of R, may have put folders with another MPI before
/// those of the job. Executes the program again with the job's folders first. Returns if they are,
/// or if that cannot be.
void start_with_own_folders_first(char** arguments, char** environment) {
  const char* folder = nullptr;
  const std::size_t folder_length = own_folder(folder);
  char** const variable = find_variable(environment, path_prefix);
  if (folder_length == 0 || variable == nullptr) return;
  std::size_t length = 0;
  if (!append(path_variable, length, path_prefix, end_of(path_prefix))) return;
  const std::size_t first_length = length;
  bool has_foreign = false;
  bool are_displaced = false;
  for (int turn = 0; turn < 2; ++turn) {
    const bool takes_own = turn == 0;
    for (char* part = *variable + sizeof path_prefix - 1; *part != '\0';) {
      char* const end = end_of_part(part);
      const bool is_own = is_in_folder(part, end, folder, folder_length);
      has_foreign = has_foreign || !is_own;
      are_displaced = are_displaced || (takes_own && is_own && has_foreign);
      const char* const separator = length == first_length ? "" : ":";
      if (is_own == takes_own && (!append(path_variable, length, separator, end_of(separator)) ||
                                  !append(path_variable, length, part, end)))
        return;
      part = *end == '\0' ? end : end + 1;
    }
  }
  if (!are_displaced) return;
  *variable = path_variable;
  ::execve(program_path, arguments, environment);
}

[[nodiscard]] bool read_program_path() {
  const long length =
      ::syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", program_path, sizeof program_path - 1);
  if (length > 0) program_path[length] = '\0';
  return length > 0;
}

/// Fills preflight_text. False if the text does not fit.
[[nodiscard]] bool read_to_end(int descriptor) {
  std::size_t length = 0;
  while (length + 1 < sizeof preflight_text) {
    const ssize_t count =
        ::read(descriptor, preflight_text + length, sizeof preflight_text - 1 - length);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count == 0;
    length += static_cast<std::size_t>(count);
    preflight_text[length] = '\0';
  }
  return false;
}

/// What `sorrel preflight` prints about this program, or null.
[[nodiscard]] const char* preflight(const char* command, char** environment) {
  int ends[2];
  if (command == nullptr || !decode(command, command_path, sizeof command_path) ||
      ::pipe2(ends, O_CLOEXEC) != 0)
    return nullptr;
  char verb[] = "preflight";
  char* words[] = {command_path, verb, program_path, nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t child = 0;
  // The command is no program of the job.
  char** const variable = find_variable(environment, preload_prefix);
  char* const preloaded = variable == nullptr ? nullptr : *variable;
  if (variable != nullptr) *variable = no_preload_variable;
  const int error = posix_spawn(&child, command_path, &actions, nullptr, words, environment);
  if (variable != nullptr) *variable = preloaded;
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  const bool is_read = error == 0 && read_to_end(ends[0]);
  ::close(ends[0]);
  while (error == 0 && ::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return is_read ? preflight_text : nullptr;
}

}  // namespace

const char* private_names_below_wrapper(const char* job, char** arguments, char** environment) {
  if (!read_program_path()) return nullptr;
  if (has_sanitizer()) start_without_this_library(arguments, environment);
  start_with_own_folders_first(arguments, environment);
  if (!is_started_by_sorrel()) {
    const char* const runtime = runtime_path();
    if (runtime != nullptr) start_with_runtime(runtime, arguments, environment);
    return nullptr;
  }
  const char* wrapped = field_of(job, "wrapped=");
  if (wrapped != nullptr && contains(wrapped, program_path)) return field_of(job, "private=");
  return field_of(preflight(field_of(job, "command="), environment), "private=");
}

}  // namespace sorrel::early
