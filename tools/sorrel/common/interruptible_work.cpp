#include "tools/sorrel/common/interruptible_work.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sorrel::tool {

namespace {

/// Blocks the signals on which the caller waits.
class AwaitedSignals {
 public:
  AwaitedSignals() {
    sigemptyset(&set_);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD})
      sigaddset(&set_, number);
    sigprocmask(SIG_BLOCK, &set_, &before_);
  }

  ~AwaitedSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

  AwaitedSignals(const AwaitedSignals&) = delete;
  AwaitedSignals& operator=(const AwaitedSignals&) = delete;

  /// Sleeps until one arrives.
  [[nodiscard]] int wait() const {
    int number = 0;
    while ((number = sigwaitinfo(&set_, nullptr)) < 0 && errno == EINTR) {
    }
    return number;
  }

 private:
  sigset_t set_{};
  sigset_t before_{};
};

[[noreturn]] void run_in_child(const std::function<int()>& work, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  // The parent may have died before prctl().
  if (getppid() != parent) _exit(1);
  const int status = work();
  std::fflush(nullptr);
  _exit(status);
}

}  // namespace

int run_interruptibly(const std::function<int()>& work, const std::function<void()>& undo) {
  const AwaitedSignals signals;
  // The child has a copy of what is in the buffers.
  std::fflush(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return work();
  if (child == 0) run_in_child(work, parent);
  int status = 0;
  while (waitpid(child, &status, WNOHANG) != child) {
    const int number = signals.wait();
    if (number == SIGCHLD) continue;
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    undo();
    // Pending until the mask of the caller is back.
    raise(number);
    return 128 + number;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace sorrel::tool
