#include "os/kernel_wait.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string_view>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/printable.hpp"

namespace sorrel::os {

namespace {

/// A system call that may sleep.
struct SleepingCall {
  long number;
  const char* name;
  /// Its first argument is a descriptor.
  bool has_descriptor;
  /// The system makes the call again after a handler with SA_RESTART, whatever its arguments.
  bool is_restarted = false;
};

constexpr const char* name_of_futex = "a lock, semaphore or condition variable (futex)";

constexpr SleepingCall sleeping_calls[] = {
    {SYS_read, "read", true, true},
    {SYS_readv, "readv", true, true},
    {SYS_pread64, "pread", true, true},
    {SYS_write, "write", true, true},
    {SYS_writev, "writev", true, true},
    {SYS_pwrite64, "pwrite", true, true},
    {SYS_recvfrom, "recv", true},
    {SYS_recvmsg, "recvmsg", true},
    {SYS_sendto, "send", true},
    {SYS_sendmsg, "sendmsg", true},
    {SYS_accept, "accept", true},
    {SYS_accept4, "accept", true},
    {SYS_connect, "connect", true},
    {SYS_flock, "flock", true, true},
    {SYS_fcntl, "fcntl", true, true},
    {SYS_ioctl, "ioctl", true},
    {SYS_fsync, "fsync", true, true},
    {SYS_openat, "open", false, true},
    {SYS_futex, name_of_futex, false, true},
    {SYS_wait4, "waitpid", false, true},
    {SYS_waitid, "waitid", false, true},
    {SYS_ppoll, "ppoll", false},
    {SYS_pselect6, "pselect", false},
    {SYS_epoll_pwait, "epoll_wait", false},
    {SYS_clock_nanosleep, "clock_nanosleep", false},
    {SYS_nanosleep, "nanosleep", false},
    {SYS_semop, "semop", false},
    {SYS_semtimedop, "semtimedop", false},
    {SYS_msgrcv, "msgrcv", false},
    {SYS_msgsnd, "msgsnd", false},
    {SYS_mq_timedreceive, "mq_receive", false},
    {SYS_rt_sigsuspend, "sigsuspend", false},
    {SYS_rt_sigtimedwait, "sigwait", false},
#if defined(__x86_64__)
    {SYS_open, "open", false, true},
    {SYS_poll, "poll", false},
    {SYS_select, "select", false},
    {SYS_epoll_wait, "epoll_wait", false},
    {SYS_pause, "pause", false},
#endif
};

/// The folder of a thread in /proc.
using Folder = std::array<char, 64>;

Folder folder_of_thread(int thread) {
  Folder folder{};
  std::snprintf(folder.data(), folder.size(), "/proc/self/task/%d", thread);
  return folder;
}

Folder folder_of_process(int process) {
  Folder folder{};
  std::snprintf(folder.data(), folder.size(), "/proc/%d", process);
  return folder;
}

/// The first bytes of a file in the folder; empty if they cannot be read.
std::string_view read_of(const Folder& folder, const char* file, std::array<char, 256>& space) {
  char path[96];
  std::snprintf(path, sizeof path, "%s/%s", folder.data(), file);
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return {};
  const ssize_t length = read(descriptor, space.data(), space.size() - 1);
  close(descriptor);
  if (length <= 0) return {};
  space[static_cast<std::size_t>(length)] = '\0';
  return {space.data(), static_cast<std::size_t>(length)};
}

std::string name_of_descriptor(const Folder& folder, long descriptor) {
  char path[96];
  std::snprintf(path, sizeof path, "%s/fd/%ld", folder.data(), descriptor);
  std::array<char, 200> target{};
  const ssize_t length = readlink(path, target.data(), target.size());
  std::string name = std::to_string(descriptor);
  if (length > 0) name += ", " + printable({target.data(), static_cast<std::size_t>(length)});
  return name;
}

bool is_asleep(const Folder& folder) {
  std::array<char, 256> space{};
  const std::string_view stat = read_of(folder, "stat", space);
  // The name before the state may contain any character, but the last parenthesis ends it.
  const std::size_t name_end = stat.rfind(") ");
  if (name_end == std::string_view::npos || name_end + 2 >= stat.size()) return false;
  const char state = stat[name_end + 2];
  return state == 'S' || state == 'D';
}

KernelWait wait_in(const Folder& folder) {
  std::array<char, 256> space{};
  const std::string_view text = read_of(folder, "syscall", space);
  // "running" outside of system calls; else the number, and the arguments in hexadecimal.
  char* rest = nullptr;
  const long number = text.empty() ? -1 : std::strtol(text.data(), &rest, 10);
  // Only a debugger may read `syscall` of a process that is no child.
  if (text.empty() && read_of(folder, "wchan", space).starts_with("futex"))
    return {.call = name_of_futex, .is_restarted = true};
  if (text.empty() || rest == text.data() || number < 0) return {.call = "a system call"};
  const auto* known = std::ranges::find(sleeping_calls, number, &SleepingCall::number);
  if (known == std::end(sleeping_calls)) return {.call = "system call " + std::to_string(number)};
  if (!known->has_descriptor) return {.call = known->name, .is_restarted = known->is_restarted};
  const long descriptor = std::strtol(rest, nullptr, 16);
  const bool is_read = number == SYS_read || number == SYS_readv;
  return {.call = std::string(known->name) + "(" + name_of_descriptor(folder, descriptor) + ")",
          .is_for_input = is_read && descriptor == STDIN_FILENO,
          .is_restarted = known->is_restarted};
}

}  // namespace

bool is_in_kernel_wait(int thread) {
  return is_asleep(folder_of_thread(thread));
}

KernelWait kernel_wait_of(int thread) {
  return wait_in(folder_of_thread(thread));
}

std::optional<KernelWait> kernel_wait_of_process(int process) {
  const Folder folder = folder_of_process(process);
  return is_asleep(folder) ? std::optional(wait_in(folder)) : std::nullopt;
}

}  // namespace sorrel::os
