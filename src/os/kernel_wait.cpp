#include "os/kernel_wait.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string_view>
#include <sys/syscall.h>
#include <unistd.h>

namespace sorrel::os {

namespace {

/// A system call that may sleep, and whether its first argument is a descriptor.
struct SleepingCall {
  long number;
  const char* name;
  bool has_descriptor;
};

constexpr SleepingCall sleeping_calls[] = {
    {SYS_read, "read", true},
    {SYS_readv, "readv", true},
    {SYS_pread64, "pread", true},
    {SYS_write, "write", true},
    {SYS_writev, "writev", true},
    {SYS_pwrite64, "pwrite", true},
    {SYS_recvfrom, "recv", true},
    {SYS_recvmsg, "recvmsg", true},
    {SYS_sendto, "send", true},
    {SYS_sendmsg, "sendmsg", true},
    {SYS_accept, "accept", true},
    {SYS_accept4, "accept", true},
    {SYS_connect, "connect", true},
    {SYS_flock, "flock", true},
    {SYS_fcntl, "fcntl", true},
    {SYS_ioctl, "ioctl", true},
    {SYS_fsync, "fsync", true},
    {SYS_openat, "open", false},
    {SYS_futex, "a lock, semaphore or condition variable (futex)", false},
    {SYS_wait4, "waitpid", false},
    {SYS_waitid, "waitid", false},
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
    {SYS_open, "open", false},
    {SYS_poll, "poll", false},
    {SYS_select, "select", false},
    {SYS_epoll_wait, "epoll_wait", false},
    {SYS_pause, "pause", false},
#endif
};

/// The first bytes of a file in the thread's folder in /proc; empty if they cannot be read.
std::string_view read_of_thread(int thread, const char* file, std::array<char, 256>& space) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/%s", thread, file);
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return {};
  const ssize_t length = read(descriptor, space.data(), space.size() - 1);
  close(descriptor);
  if (length <= 0) return {};
  space[static_cast<std::size_t>(length)] = '\0';
  return {space.data(), static_cast<std::size_t>(length)};
}

std::string name_of_descriptor(long descriptor) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/fd/%ld", descriptor);
  std::array<char, 200> target{};
  const ssize_t length = readlink(path, target.data(), target.size());
  std::string name = std::to_string(descriptor);
  if (length > 0) name += ", " + std::string(target.data(), static_cast<std::size_t>(length));
  return name;
}

}  // namespace

bool is_in_kernel_wait(int thread) {
  std::array<char, 256> space{};
  const std::string_view stat = read_of_thread(thread, "stat", space);
  // The name before the state may contain any character, but the last parenthesis ends it.
  const std::size_t name_end = stat.rfind(") ");
  if (name_end == std::string_view::npos || name_end + 2 >= stat.size()) return false;
  const char state = stat[name_end + 2];
  return state == 'S' || state == 'D';
}

KernelWait kernel_wait_of(int thread) {
  std::array<char, 256> space{};
  const std::string_view text = read_of_thread(thread, "syscall", space);
  // "running" outside of system calls; else the number, and the arguments in hexadecimal.
  char* rest = nullptr;
  const long number = text.empty() ? -1 : std::strtol(text.data(), &rest, 10);
  if (text.empty() || rest == text.data() || number < 0) return {.call = "a system call"};
  const auto* known = std::ranges::find(sleeping_calls, number, &SleepingCall::number);
  if (known == std::end(sleeping_calls)) return {.call = "system call " + std::to_string(number)};
  if (!known->has_descriptor) return {.call = known->name};
  const long descriptor = std::strtol(rest, nullptr, 16);
  const bool is_read = number == SYS_read || number == SYS_readv;
  return {.call = std::string(known->name) + "(" + name_of_descriptor(descriptor) + ")",
          .is_for_input = is_read && descriptor == STDIN_FILENO};
}

}  // namespace sorrel::os
