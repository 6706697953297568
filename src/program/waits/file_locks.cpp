//! fcntl, lockf and flock: file locks belong to a rank, and while a rank waits for one its worker
//! runs other ranks.
//!
//! The system's record locks (F_SETLK, lockf) belong to the process, so all ranks would get the
//! same exclusive lock. A rank gets locks of the open file description instead (F_OFD_SETLK), which
//! exclude other ranks as well as other processes. They differ in two ways. They are released when
//! the description that they were set through is closed, not when any descriptor of the file is.
//! And a rank that opens a file twice excludes itself.

#include <cerrno>
#include <cstdarg>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "program/base/libc.hpp"
#include "program/base/user_memory.hpp"
#include "program/rank/rank_process.hpp"
#include "program/rank/retry.hpp"
#include "program/rank/starter_of_thread.hpp"

using namespace sorrel::program;

namespace {

constexpr OutsideWait lock_wait{.call = "a lock of a file", .is_endless = true};

int real_fcntl(int file, int command, void* argument) {
  static auto* const real = next_definition<int(int, int, ...)>("fcntl");
  return real(file, command, argument);
}

/// Calls `attempt()` until it does not fail because of a conflicting lock.
template <class Attempt>
int wait_for_lock(RankProcess& process, Attempt&& attempt) {
  int result = 0;
  const bool is_done = retry_until(process, lock_wait, [&] {
    result = attempt();
    return result == 0 || (errno != EAGAIN && errno != EACCES);
  });
  if (is_done) return result;
  errno = EINTR;
  return -1;
}

int set_lock(RankProcess& process, int file, const struct flock& lock, bool may_wait) {
  // The system requires that l_pid is 0 for locks of a description.
  struct flock own = lock;
  own.l_pid = 0;
  if (!may_wait) return real_fcntl(file, F_OFD_SETLK, &own);
  // A thread that the rank has started blocks in the system call.
  if (process_that_may_wait(nullptr) == nullptr) return real_fcntl(file, F_OFD_SETLKW, &own);
  return wait_for_lock(process, [&] { return real_fcntl(file, F_OFD_SETLK, &own); });
}

int get_lock(int file, struct flock& lock) {
  struct flock own = lock;
  own.l_pid = 0;
  const int result = real_fcntl(file, F_OFD_GETLK, &own);
  if (result != 0) return result;
  lock = own;
  // A lock of a description has no process: it belongs to another rank, most likely.
  if (lock.l_type != F_UNLCK && lock.l_pid == -1) lock.l_pid = ::getpid();
  return 0;
}

int control(const void* caller, int file, int command, void* argument) {
  const bool is_lock = command == F_SETLK || command == F_SETLKW || command == F_GETLK;
  RankProcess* process = is_lock ? process_of_caller(caller) : nullptr;
  struct flock lock{};
  // An address that is not valid gets the system's answer.
  if (process == nullptr || !copy_from_user(&lock, argument, sizeof lock))
    return real_fcntl(file, command, argument);
  if (command == F_GETLK) {
    const int result = get_lock(file, lock);
    if (result != 0) return result;
    return give(static_cast<struct flock*>(argument), lock) ? 0 : -1;
  }
  return set_lock(*process, file, lock, command == F_SETLKW);
}

int lock_section(const void* caller, int file, int command, off_t bytes) {
  static auto* const real = next_definition<decltype(::lockf)>("lockf");
  RankProcess* process = process_of_caller(caller);
  if (process == nullptr) return real(file, command, bytes);
  struct flock lock{};
  lock.l_whence = SEEK_CUR;
  lock.l_len = bytes;
  lock.l_type = command == F_ULOCK ? F_UNLCK : F_WRLCK;
  switch (command) {
    case F_LOCK:
    case F_TLOCK:
    case F_ULOCK:
      return set_lock(*process, file, lock, command == F_LOCK);
    case F_TEST:
      if (get_lock(file, lock) != 0) return -1;
      if (lock.l_type == F_UNLCK) return 0;
      errno = EACCES;
      return -1;
    default:
      errno = EINVAL;
      return -1;
  }
}

}  // namespace

static_assert(sizeof(off_t) == sizeof(off64_t) && sizeof(struct flock) == sizeof(struct flock64));

SORREL_INTERPOSED int fcntl(int file, int command, ...) {
  va_list values;
  va_start(values, command);
  void* argument = va_arg(values, void*);
  va_end(values);
  return control(__builtin_return_address(0), file, command, argument);
}

SORREL_INTERPOSED_AS(fcntl) int fcntl64(int file, int command, ...);

SORREL_INTERPOSED int lockf(int file, int command, off_t bytes) {
  return lock_section(__builtin_return_address(0), file, command, bytes);
}

SORREL_INTERPOSED_AS(lockf) int lockf64(int file, int command, off64_t bytes);

SORREL_INTERPOSED int flock(int file, int operation) noexcept {
  static auto* const real = next_definition<decltype(::flock)>("flock");
  RankProcess* process = (operation & (LOCK_NB | LOCK_UN)) != 0
                             ? nullptr
                             : process_that_may_wait(__builtin_return_address(0));
  if (process == nullptr) return real(file, operation);
  return wait_for_lock(*process, [&] { return real(file, operation | LOCK_NB); });
}
