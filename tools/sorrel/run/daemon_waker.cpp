#include "tools/sorrel/run/daemon_waker.hpp"

#include <csignal>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sorrel::tool {

DaemonWaker::DaemonWaker(pid_t daemon)
    : daemon_(static_cast<int>(syscall(SYS_pidfd_open, daemon, 0))) {}

DaemonWaker::~DaemonWaker() {
  if (daemon_ >= 0) close(daemon_);
}

void DaemonWaker::begin() const {
  if (daemon_ < 0 || fork() != 0) return;
  // Keeps no output open: the launcher reads a pipe until all its writers have closed it.
  dup2(daemon_, 0);
  syscall(SYS_close_range, 1, ~0U, 0);
  pollfd daemon{.fd = 0, .events = POLLIN, .revents = 0};
  for (int passed_ms = 0; passed_ms < limit_ms; passed_ms += period_ms) {
    syscall(SYS_pidfd_send_signal, 0, SIGCHLD, nullptr, 0);
    // Readable: the daemon has ended.
    if (poll(&daemon, 1, period_ms) != 0) break;
  }
  _exit(0);
}

}  // namespace sorrel::tool
