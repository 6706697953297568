#include "tools/sorrel/check/schedule_process.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/sorrel/common/diagnostic.hpp"

namespace sorrel::tool {

namespace {

constexpr int end_requests[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

bool is_ignored(int number) {
  struct sigaction action{};
  return sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

/// Blocks the signals that concern the job, and the one of its end.
class ScheduleSignals {
 public:
  ScheduleSignals() {
    sigemptyset(&set_);
    for (const int number : {SIGCHLD, SIGUSR1, SIGUSR2})
      sigaddset(&set_, number);
    for (const int number : end_requests) {
      if (!is_ignored(number)) sigaddset(&set_, number);
    }
    sigprocmask(SIG_BLOCK, &set_, &before_);
  }

  ~ScheduleSignals() { end(); }

  ScheduleSignals(const ScheduleSignals&) = delete;
  ScheduleSignals& operator=(const ScheduleSignals&) = delete;

  void end() const { sigprocmask(SIG_SETMASK, &before_, nullptr); }

  /// Sleeps until one arrives.
  [[nodiscard]] siginfo_t wait() const {
    siginfo_t info{};
    while (sigwaitinfo(&set_, &info) < 0 && errno == EINTR) {
    }
    return info;
  }

 private:
  sigset_t set_{};
  sigset_t before_{};
};

void silence_output() {
  const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (null < 0) return;
  dup2(null, STDOUT_FILENO);
  dup2(null, STDERR_FILENO);
}

[[noreturn]] void run_in_child(bool is_silent, pid_t parent, const std::function<int()>& run) {
  prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
  // The parent may have died before prctl().
  if (getppid() != parent) _exit(1);
  if (is_silent) silence_output();
  const int status = run();
  std::fflush(nullptr);
  _exit(status);
}

}  // namespace

ScheduleEnd run_schedule(bool is_silent,
                         const std::function<int()>& run,
                         const std::function<void()>& on_activity_request) {
  const ScheduleSignals signals;
  std::fflush(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) {
    print_diagnostic(fmt::format("--schedules: no process: {}", std::strerror(errno)));
    return {.status = exit_cannot_execute};
  }
  if (child == 0) {
    signals.end();
    run_in_child(is_silent, parent, run);
  }
  ScheduleEnd end;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) != child) {
    const siginfo_t info = signals.wait();
    if (info.si_signo == SIGCHLD) continue;
    if (info.si_signo == SIGUSR1) {
      on_activity_request();
    } else if (info.si_signo != SIGUSR2) {
      end.end_signal = info.si_signo;
    }
    // The terminal has sent it to every process of the group.
    if (info.si_code != SI_KERNEL) kill(child, info.si_signo);
  }
  end.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return end;
}

}  // namespace sorrel::tool
