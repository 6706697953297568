//! execv and its variants, system, popen: the child of a rank inherits the rank's environment.

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program/base/libc.hpp"
#include "program/base/restart_note.hpp"
#include "program/rank/current_environment.hpp"
#include "program/rank/lent_mask.hpp"
#include "program/rank/retry.hpp"
#include "program/rank/starter_of_thread.hpp"

using namespace sorrel::program;

namespace {

constexpr OutsideWait system_wait{.call = "system", .is_endless = false};

[[nodiscard]] char** environment_to_inherit() {
  const Environment* environment = environment_of_rank();
  return environment != nullptr ? environment->values() : environ;
}

/// execvp, which looks for the file in the rank's PATH.
int run_found(const char* file, char* const words[], char** environment) {
  const char* path = find_variable(environment, "PATH");
  const char* of_process = find_variable(environ, "PATH");
  const bool is_same = path == nullptr || (of_process != nullptr && !std::strcmp(path, of_process));
  if (is_same || std::strchr(file, '/') != nullptr) return execvpe(file, words, environment);
  bool is_forbidden = false;
  for (const char* end = path; end != nullptr; path = end + 1) {
    end = std::strchr(path, ':');
    const int length = static_cast<int>(end != nullptr ? end - path : std::strlen(path));
    char name[PATH_MAX];
    std::snprintf(name, sizeof name, "%.*s/%s", length, length == 0 ? "." : path, file);
    execve(name, words, environment);
    is_forbidden |= errno == EACCES;
    if (end == nullptr) break;
  }
  if (is_forbidden) errno = EACCES;
  return -1;
}

/// Waits for the child of system(), whose callers do not see interrupts.
int status_of(RankProcess* process, pid_t child) {
  static auto* const real = next_definition<decltype(::waitpid)>("waitpid");
  int status = 0;
  if (process == nullptr) {
    while (real(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
  }
  const auto has_ended = [&] { return real(child, &status, WNOHANG) != 0; };
  while (!retry_until(*process, system_wait, has_ended)) {
  }
  return status;
}

/// system() for a rank: with its environment, and while it waits its worker runs other ranks. An
/// interrupt ends the job as usual. The child is not one that wait() finds.
int run_shell(RankProcess* process, const char* command) {
  static auto* const real_spawn = next_definition<decltype(::posix_spawn)>("posix_spawn");
  const char* words[] = {"sh", "-c", command, nullptr};
  pid_t child = 0;
  note_effect("its program has started a process before MPI_Init");
  {
    const LentMask inherited;
    if (real_spawn(&child, "/bin/sh", nullptr, nullptr, const_cast<char**>(words),
                   environment_to_inherit()) != 0)
      return W_EXITCODE(127, 0);
  }
  return status_of(process, child);
}

}  // namespace

SORREL_INTERPOSED int execv(const char* path, char* const words[]) noexcept {
  return execve(path, words, environment_to_inherit());
}

SORREL_INTERPOSED int execvp(const char* file, char* const words[]) noexcept {
  return run_found(file, words, environment_to_inherit());
}

// On the stack, because a child may share its parent's heap.
#define SORREL_EXECUTE_LIST(name, with_array)                                     \
  SORREL_INTERPOSED int name(const char* file, const char* first, ...) noexcept { \
    std::size_t count = 1;                                                        \
    va_list rest;                                                                 \
    va_start(rest, first);                                                        \
    for (const char* word = first; word != nullptr; word = va_arg(rest, char*))   \
      ++count;                                                                    \
    va_end(rest);                                                                 \
    auto** words = static_cast<char**>(__builtin_alloca(count * sizeof(char*)));  \
    words[0] = const_cast<char*>(first);                                          \
    va_start(rest, first);                                                        \
    for (std::size_t i = 1; i < count; ++i)                                       \
      words[i] = va_arg(rest, char*);                                             \
    va_end(rest);                                                                 \
    return with_array(file, words);                                               \
  }

SORREL_EXECUTE_LIST(execl, execv)
SORREL_EXECUTE_LIST(execlp, execvp)

SORREL_INTERPOSED int system(const char* command) {
  static auto* const real = next_definition<decltype(::system)>("system");
  const void* caller = __builtin_return_address(0);
  if (command == nullptr || process_of_caller(caller) == nullptr) return real(command);
  return run_shell(process_that_may_wait(caller), command);
}

SORREL_INTERPOSED FILE* popen(const char* command, const char* type) {
  static auto* const real = next_definition<decltype(::popen)>("popen");
  const ScopedEnvironment lent;
  const LentMask inherited;
  if (process_of_caller(__builtin_return_address(0)) != nullptr)
    note_effect("its program has started a process before MPI_Init");
  return real(command, type);
}
