//! setuid, setgid, setgroups and their variants. The C library changes the identity of all threads
//! by a signal, whose handler marks the thread by its control block. A worker that runs a rank with
//! a control block of the rank's own would mark that one, and the C library would wait for ever. So
//! a process whose threads exchange blocks does not change its identity, and the reverse.

#include <array>
#include <atomic>
#include <cerrno>
#include <grp.h>
#include <unistd.h>

#include "os/thread_pointer.hpp"
#include "program/base/libc.hpp"
#include "program/rank/rank_process.hpp"
#include "program/rank/starter_of_thread.hpp"

using namespace sorrel::program;

namespace {

bool may_change() {
  return sorrel::os::claim_blocks(sorrel::os::BlockUse::by_identities);
}

int refuse(const void* caller, const char* function) {
  static std::atomic<bool> was_reported{false};
  const RankProcess* process = process_of_caller(caller);
  if (process != nullptr && !was_reported.exchange(true, std::memory_order_relaxed))
    ::dprintf(
        STDERR_FILENO,
        "sorrel: note: rank %d: %s fails: threads of this job exchange their control blocks, so "
        "the C library cannot change the identity of their process; --procs gives each rank a "
        "process\n",
        process->rank(), function);
  errno = EPERM;
  return -1;
}

/// -1 leaves a part of an identity as it is.
template <class Id>
bool are_equal(const std::array<Id, 3>& now, const std::array<Id, 3>& wanted) {
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (wanted[i] != static_cast<Id>(-1) && wanted[i] != now[i]) return false;
  }
  return true;
}

bool is_user(uid_t real, uid_t effective, uid_t saved) {
  std::array<uid_t, 3> now{};
  return ::getresuid(&now[0], &now[1], &now[2]) == 0 &&
         are_equal(now, std::array{real, effective, saved});
}

bool is_group(gid_t real, gid_t effective, gid_t saved) {
  std::array<gid_t, 3> now{};
  return ::getresgid(&now[0], &now[1], &now[2]) == 0 &&
         are_equal(now, std::array{real, effective, saved});
}

constexpr uid_t any = static_cast<uid_t>(-1);

}  // namespace

/// `is_same`: the call changes nothing.
#define SORREL_IDENTITY(name, is_same, parameters, ...)                          \
  SORREL_INTERPOSED int name parameters noexcept {                               \
    static auto* const real_function = next_definition<decltype(::name)>(#name); \
    if (is_same) return 0;                                                       \
    if (!may_change()) return refuse(__builtin_return_address(0), #name);        \
    return real_function(__VA_ARGS__);                                           \
  }

SORREL_IDENTITY(setuid, is_user(id, id, id), (uid_t id), id)
SORREL_IDENTITY(seteuid, is_user(any, id, any), (uid_t id), id)
SORREL_IDENTITY(setreuid, is_user(real, id, id), (uid_t real, uid_t id), real, id)
SORREL_IDENTITY(
    setresuid, is_user(real, id, saved), (uid_t real, uid_t id, uid_t saved), real, id, saved)
SORREL_IDENTITY(setgid, is_group(id, id, id), (gid_t id), id)
SORREL_IDENTITY(setegid, is_group(any, id, any), (gid_t id), id)
SORREL_IDENTITY(setregid, is_group(real, id, id), (gid_t real, gid_t id), real, id)
SORREL_IDENTITY(
    setresgid, is_group(real, id, saved), (gid_t real, gid_t id, gid_t saved), real, id, saved)
SORREL_IDENTITY(setgroups, false, (std::size_t count, const gid_t* groups), count, groups)

SORREL_INTERPOSED int initgroups(const char* user, gid_t group) {
  static auto* const real_function = next_definition<decltype(::initgroups)>("initgroups");
  if (!may_change()) return refuse(__builtin_return_address(0), "initgroups");
  return real_function(user, group);
}
