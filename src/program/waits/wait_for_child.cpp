//! wait, waitpid, wait3, wait4 and waitid: a rank waits for its own children only, and its worker
//! runs other ranks meanwhile. fork, vfork, posix_spawn and posix_spawnp record the children.
//!
//! vfork is a fork without handlers: its caller could not return through this library otherwise.

#include <cerrno>
#include <csignal>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "base/check.hpp"
#include "program/base/libc.hpp"
#include "program/base/restart_note.hpp"
#include "program/base/user_memory.hpp"
#include "program/rank/current_environment.hpp"
#include "program/rank/lent_mask.hpp"
#include "program/rank/rank_process.hpp"
#include "program/rank/retry.hpp"
#include "program/rank/starter_of_thread.hpp"

using namespace sorrel::program;

namespace {

constexpr OutsideWait child_wait{.call = "waitpid", .is_endless = false};

/// Which children a caller waits for.
class Selection {
 public:
  Selection(idtype_t type, pid_t id) : type_(type), id_(id) {}

  /// As waitpid() says it.
  static Selection of_waitpid(pid_t id) {
    if (id > 0) return {P_PID, id};
    if (id == -1) return {P_ALL, 0};
    return {P_PGID, id == 0 ? ::getpgrp() : -id};
  }

  [[nodiscard]] bool includes(pid_t child) const {
    if (type_ == P_ALL) return true;
    return type_ == P_PID ? child == id_ : ::getpgid(child) == id_;
  }

 private:
  idtype_t type_;
  pid_t id_;
};

/// Asks once for each selected child: the result of `ask(child)`, 0 if there is no news. -1 and
/// errno if no child is selected.
template <class Ask>
pid_t ask_children(RankProcess& process, const Selection& selection, Ask&& ask) {
  bool is_any_selected = false;
  for (const pid_t child : process.children().all()) {
    if (!selection.includes(child)) continue;
    const pid_t result = ask(child);
    if (result > 0) return result;
    if (result < 0 && errno != ECHILD) return result;
    // Without news; or it has been waited for in another way.
    if (result == 0) {
      is_any_selected = true;
    } else {
      process.children().remove(child);
    }
  }
  if (is_any_selected) return 0;
  errno = ECHILD;
  return -1;
}

/// Calls `ask()` until it returns no 0, unless the caller does not want to wait.
template <class Ask>
pid_t wait_for_news(const void* caller, RankProcess& process, int options, Ask&& ask) {
  pid_t result = 0;
  const auto attempt = [&] { return (result = ask()) != 0; };
  if ((options & WNOHANG) != 0) {
    static_cast<void>(attempt());
  } else if (process_that_may_wait(caller) == nullptr) {
    // A thread that the rank has started.
    while (!attempt())
      ::usleep(1000);
  } else if (!retry_until(process, child_wait, attempt)) {
    errno = EINTR;
    return -1;
  }
  return result;
}

[[nodiscard]] bool has_ended(int status) {
  return WIFEXITED(status) || WIFSIGNALED(status);
}

pid_t wait_in_rank(const void* caller, pid_t id, int* status, int options, rusage* usage) {
  static auto* const real = next_definition<decltype(::wait4)>("wait4");
  RankProcess* process = process_of_caller(caller);
  if (process == nullptr) return real(id, status, options, usage);
  const Selection selection = Selection::of_waitpid(id);
  int found_status = 0;
  const auto ask = [&](pid_t child) {
    return real(child, &found_status, options | WNOHANG, usage);
  };
  const pid_t child = wait_for_news(caller, *process, options, [&] {
    // A child of whose start this library does not know.
    return id > 0 ? ask(id) : ask_children(*process, selection, ask);
  });
  if (child <= 0) return child;
  SORREL_ASSERT(id <= 0 || child == id, "child %d in the place of %d", child, id);
  if (has_ended(found_status)) process->children().remove(child);
  // The child is gone, as after the system's own call.
  return give(status, found_status) ? child : -1;
}

int wait_for_info(const void* caller, idtype_t type, id_t id, siginfo_t* info, int options) {
  static auto* const real = next_definition<decltype(::waitid)>("waitid");
  RankProcess* process =
      type == P_ALL || type == P_PID || type == P_PGID ? process_of_caller(caller) : nullptr;
  if (process == nullptr) return real(type, id, info, options);
  const Selection selection(type, type == P_PGID && id == 0 ? ::getpgrp() : static_cast<pid_t>(id));
  siginfo_t found{};
  const auto ask = [&](pid_t child) {
    found.si_pid = 0;
    const int error = real(P_PID, static_cast<id_t>(child), &found, options | WNOHANG);
    return error != 0 ? -1 : found.si_pid;
  };
  const pid_t child = wait_for_news(caller, *process, options, [&] {
    return type == P_PID ? ask(static_cast<pid_t>(id)) : ask_children(*process, selection, ask);
  });
  if (child < 0) return -1;
  SORREL_ASSERT(child == 0 || type != P_PID || child == static_cast<pid_t>(id),
                "child %d in the place of %u", child, id);
  const bool is_gone =
      found.si_code == CLD_EXITED || found.si_code == CLD_KILLED || found.si_code == CLD_DUMPED;
  if (child > 0 && is_gone && (options & WNOWAIT) == 0) process->children().remove(child);
  return give(info, found) ? 0 : -1;
}

/// Records the child in the parent.
pid_t recorded(const void* caller, pid_t child) {
  RankProcess* process = child > 0 ? process_of_caller(caller) : nullptr;
  if (process == nullptr) return child;
  process->children().add(child);
  note_effect("its program has started a process before MPI_Init");
  return child;
}

/// The child has the rank's mask, and ignores what the rank ignores.
pid_t fork_of(const void* caller, decltype(&::fork) real) {
  RankProcess* process = process_of_caller(caller);
  LentMask inherited;
  const pid_t child = real();
  if (child == 0 && process != nullptr) {
    inherited.keep();
    process->signals().enter_child();
  }
  return recorded(caller, child);
}

}  // namespace

SORREL_INTERPOSED pid_t wait(int* status) {
  return wait_in_rank(__builtin_return_address(0), -1, status, 0, nullptr);
}

SORREL_INTERPOSED pid_t waitpid(pid_t id, int* status, int options) {
  return wait_in_rank(__builtin_return_address(0), id, status, options, nullptr);
}

SORREL_INTERPOSED pid_t wait3(int* status, int options, rusage* usage) noexcept {
  return wait_in_rank(__builtin_return_address(0), -1, status, options, usage);
}

SORREL_INTERPOSED pid_t wait4(pid_t id, int* status, int options, rusage* usage) noexcept {
  return wait_in_rank(__builtin_return_address(0), id, status, options, usage);
}

SORREL_INTERPOSED int waitid(idtype_t type, id_t id, siginfo_t* info, int options) {
  return wait_for_info(__builtin_return_address(0), type, id, info, options);
}

SORREL_INTERPOSED pid_t fork() noexcept {
  static auto* const real = next_definition<decltype(::fork)>("fork");
  return fork_of(__builtin_return_address(0), real);
}

SORREL_INTERPOSED pid_t vfork() noexcept {
  // glibc has _Fork since 2.34.
  static auto* const real = reinterpret_cast<decltype(&::fork)>(
      libc_function(libc_function("_Fork") != nullptr ? "_Fork" : "fork"));
  return fork_of(__builtin_return_address(0), real);
}

SORREL_INTERPOSED int posix_spawn(pid_t* child,
                                  const char* path,
                                  const posix_spawn_file_actions_t* actions,
                                  const posix_spawnattr_t* attributes,
                                  char* const words[],
                                  char* const environment[]) {
  static auto* const real = next_definition<decltype(::posix_spawn)>("posix_spawn");
  const LentMask inherited;
  pid_t made = 0;
  const int error = real(&made, path, actions, attributes, words, environment);
  if (error == 0) static_cast<void>(recorded(__builtin_return_address(0), made));
  if (error == 0 && child != nullptr) *child = made;
  return error;
}

SORREL_INTERPOSED int posix_spawnp(pid_t* child,
                                   const char* file,
                                   const posix_spawn_file_actions_t* actions,
                                   const posix_spawnattr_t* attributes,
                                   char* const words[],
                                   char* const environment[]) {
  static auto* const real = next_definition<decltype(::posix_spawnp)>("posix_spawnp");
  // The file is looked for in the rank's PATH.
  const ScopedEnvironment lent;
  const LentMask inherited;
  pid_t made = 0;
  const int error = real(&made, file, actions, attributes, words, environment);
  if (error == 0) static_cast<void>(recorded(__builtin_return_address(0), made));
  if (error == 0 && child != nullptr) *child = made;
  return error;
}
