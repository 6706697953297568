#include "tools/sorrel/run/host_launch.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fmt/core.h>
#include <new>
#include <optional>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.hpp"
#include "os/clock.hpp"
#include "os/shared_segment.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/run/children.hpp"
#include "tools/sorrel/run/daemon_waker.hpp"
#include "tools/sorrel/run/ending.hpp"
#include "tools/sorrel/run/process_end.hpp"
#include "tools/sorrel/run/report_grace.hpp"
#include "transport/host/host_status.hpp"

namespace sorrel::tool {

namespace {

using transport::HostPhase;
using transport::HostStatus;

/// Limit of the wait for the launcher to read the output.
constexpr std::int64_t read_ns_max = 500'000'000;
constexpr std::int64_t poll_ns = 250'000'000;

/// Waits until the reader of a pipe has read all of it: a message that overtakes the last line
/// loses it.
void wait_until_read(int pipe) {
  const std::int64_t give_up_ns = os::monotonic_ns() + read_ns_max;
  int unread = 0;
  while (ioctl(pipe, FIONREAD, &unread) == 0 && unread > 0 && os::monotonic_ns() < give_up_ns)
    os::sleep_ns(1'000'000);
}

class HostLaunch {
 public:
  explicit HostLaunch(const HostLaunchPlan& plan) : plan_(plan), equal_processes_(plan.random) {}

  int run() {
    auto segment = os::SharedSegment::create(sizeof(HostStatus));
    if (!segment.is_valid())
      return report_error("cannot create shared memory for the program: {}", std::strerror(errno));
    host_status_ = new (segment.base()) HostStatus;
    block_signals();
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    const pid_t own_pid = getpid();
    daemon_ = getppid();
    if (plan_.has_sleepy_daemon && daemon_ > 1) waker_.emplace(daemon_);
    child_ = fork();
    if (child_ == 0) execute_program(own_pid, segment.descriptor());
    if (child_ < 0) {
      print_diagnostic(fmt::format("cannot start a process: {}", std::strerror(errno)));
      return exit_cannot_execute;
    }
    if (plan_.on_start) plan_.on_start();
    while (child_ != 0)
      wait_for_event();
    end_children();
    if (host_status_->phase.load(std::memory_order_acquire) != HostPhase::finished)
      remove_segments();
    // The daemon sleeps before it ends the other processes, and then because of this process.
    if (status_ != 0 || is_end_requested_) wake_daemon();
    // The program's numbers are set once it has joined.
    if (plan_.on_end &&
        host_status_->phase.load(std::memory_order_acquire) != HostPhase::starting) {
      const int status =
          plan_.on_end(host_status_->process, host_status_->process_count, status_ != 0);
      if (status != 0) status_ = status;
    }
    if (killed_by_ != 0) raise_same_signal();
    if (status_ != 0 && has_failed_first_) notify_launcher();
    return status_;
  }

 private:
  void block_signals() {
    sigemptyset(&awaited_);
    for (const int number : forwarded_signals)
      sigaddset(&awaited_, number);
    sigaddset(&awaited_, SIGCHLD);
    if (plan_.has_sleepy_daemon) sigaddset(&awaited_, SIGCONT);
    sigprocmask(SIG_BLOCK, &awaited_, &mask_before_);
  }

  [[noreturn]] void execute_program(pid_t parent, int status_descriptor) {
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    // The parent may have died before prctl().
    if (getppid() != parent) _exit(1);
    plan_.set_environment(status_descriptor);
    sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
    if (plan_.is_equal) EqualProcesses::prepare();
    execv(plan_.program.c_str(), plan_.words);
    print_diagnostic(fmt::format("cannot start {}: {}", plan_.words[0], std::strerror(errno)));
    host_status_->phase.store(HostPhase::ending, std::memory_order_release);
    _exit(exit_cannot_execute);
  }

  void wait_for_event() {
    SORREL_ASSERT(child_ > 0, "an event of no process is awaited");
    const timespec poll_interval{.tv_sec = 0, .tv_nsec = poll_ns};
    siginfo_t info{};
    const int number = sigtimedwait(&awaited_, &info, &poll_interval);
    if (number == SIGCONT) {
      // Either sent by the user, to continue after a stop, or the first of three signals that end
      // the job.
      if (info.si_pid == daemon_) wake_daemon();
    } else if (number > 0 && number != SIGCHLD) {
      forward(number);
    }
    reap();
    if (child_ == 0) return;
    // The launcher's daemon is gone: no other process ends this one.
    if (getppid() != daemon_) kill(child_, SIGKILL);
    // The process that ends the job may hang.
    const auto phase = host_status_->phase.load(std::memory_order_acquire);
    if (phase == HostPhase::ending && give_up_ns_ == 0) {
      report_grace_.emplace().begin(child_);
      give_up_after(ReportGrace::time_ns);
    }
    const bool is_over = give_up_ns_ != 0 && os::monotonic_ns() >= give_up_ns_;
    if (is_over && report_grace_ && !is_end_requested_ && report_grace_->extend(child_))
      give_up_after(ReportGrace::time_ns);
    if (give_up_ns_ != 0 && os::monotonic_ns() >= give_up_ns_) {
      is_end_requested_ = true;
      kill(child_, SIGKILL);
    }
  }

  /// Unlinks segments that the host MPI unlinks only after a regular end.
  void remove_segments() const {
    const std::string_view recorded(
        host_status_->segments.data(),
        strnlen(host_status_->segments.data(), host_status_->segments.size()));
    for (std::size_t from = 0; from < recorded.size();) {
      const std::size_t end = std::min(recorded.find('\n', from), recorded.size());
      const std::string name(recorded.substr(from, end - from));
      // Other processes of the job unlink it as well.
      if (transport::is_host_segment(name)) shm_unlink(name.c_str());
      from = end + 1;
    }
  }

  void wake_daemon() const {
    if (waker_) waker_->begin();
  }

  void give_up_after(std::int64_t ns) { give_up_ns_ = os::monotonic_ns() + ns; }

  void forward(int number) {
    if (number == SIGTERM && !is_end_requested_ && plan_.on_end_request) plan_.on_end_request();
    kill(child_, number);
    if (number == SIGUSR1 || number == SIGUSR2) return;
    is_end_requested_ = true;
    if (give_up_ns_ == 0) give_up_after(grace_ns);
  }

  void reap() {
    int wait_status = 0;
    for (;;) {
      const pid_t pid = waitpid(-1, &wait_status, WNOHANG);
      if (pid <= 0) return;
      if (WIFSTOPPED(wait_status)) {
        equal_processes_.on_stop(pid, WSTOPSIG(wait_status));
        continue;
      }
      if (pid != child_) continue;
      child_ = 0;
      if (WIFSIGNALED(wait_status)) {
        on_killed(WTERMSIG(wait_status));
      } else {
        on_exit(WEXITSTATUS(wait_status));
      }
    }
  }

  void report_end(ProcessEnd end) const {
    SORREL_ASSERT(host_status_->first_rank <= host_status_->last_rank, "process %u has no ranks",
                  host_status_->process);
    end.process = host_status_->process;
    end.first_rank = static_cast<std::uint64_t>(host_status_->first_rank);
    end.rank_count = static_cast<std::uint64_t>(host_status_->last_rank) - end.first_rank;
    report_process_end(end, plan_.report_file);
  }

  /// Whether the launcher has ended this process because another one failed. Before the start, the
  /// first process reports for all, though another may have failed earlier.
  [[nodiscard]] bool is_secondary_failure(HostPhase phase) const {
    return is_end_requested_ && (phase != HostPhase::starting || !plan_.is_first);
  }

  /// Most often all processes have the same error: the first one reports it, and its launcher ends
  /// the other processes before they do.
  void report_start_failure(const std::string& how) const {
    constexpr timespec enough{.tv_sec = 1, .tv_nsec = 0};
    if (!plan_.is_first) {
      const int number = sigtimedwait(&awaited_, nullptr, &enough);
      if (number > 0 && number != SIGCHLD) return;
    }
    if (!plan_.wrapper.empty() && killed_by_ == 0) {
      print_diagnostic(fmt::format("{} has ended, and no MPI program below it has joined this job",
                                   plan_.wrapper));
      return;
    }
    print_diagnostic(fmt::format("the host MPI ({}) has not started: {}", plan_.host, how));
  }

  /// A launcher may check only whether a signal has killed a failed process. Hydra does if it has
  /// not seen the end of the process's connection before that of this parent.
  void raise_same_signal() const {
    SORREL_ASSERT(killed_by_ != 0, "no signal has ended the process");
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    std::signal(killed_by_, SIG_DFL);
    sigset_t fatal;
    sigemptyset(&fatal);
    sigaddset(&fatal, killed_by_);
    raise(killed_by_);
    sigprocmask(SIG_UNBLOCK, &fatal, nullptr);
  }

  /// Hydra does not end the other processes because of a status, and does not always see the
  /// process's connection close first. It therefore gets the message that MPI_Abort would write.
  void notify_launcher() const {
    const char* connection = std::getenv("PMI_FD");
    if (connection == nullptr || !plan_.has_hydra) return;
    wait_until_read(STDOUT_FILENO);
    wait_until_read(STDERR_FILENO);
    const std::string words = fmt::format("cmd=abort exitcode={}\n", status_);
    if (write(std::atoi(connection), words.data(), words.size()) < 0) return;
  }

  /// Launchers signal parent and process at the same time; the process may die before the parent
  /// has read its own signal.
  void await_own(int number) {
    if (std::ranges::find(forwarded_signals, number) == forwarded_signals.end()) return;
    constexpr timespec enough{.tv_sec = 0, .tv_nsec = 100'000'000};
    sigset_t same;
    sigemptyset(&same);
    sigaddset(&same, number);
    if (sigtimedwait(&same, nullptr, &enough) == number) is_end_requested_ = true;
  }

  void on_killed(int number) {
    status_ = 128 + number;
    killed_by_ = number;
    if (!is_end_requested_) await_own(number);
    // Acquire, pairs with the process's release: its number and ranks are valid.
    const auto phase = host_status_->phase.load(std::memory_order_acquire);
    if (phase == HostPhase::ending || getppid() != daemon_ || is_secondary_failure(phase)) return;
    if (phase == HostPhase::starting) {
      report_start_failure(fmt::format("signal {} ({})", number, strsignal(number)));
    } else {
      report_end({.status = status_, .signal = number});
    }
  }

  void on_exit(int status) {
    status_ = status;
    // Acquire, as above.
    const auto phase = host_status_->phase.load(std::memory_order_acquire);
    has_failed_first_ = phase != HostPhase::finished && !is_end_requested_ &&
                        !(phase == HostPhase::starting && plan_.may_have_no_ranks);
    // A wrapper may return a status of its own.
    if (phase == HostPhase::ending) status_ = std::max(status, 1);
    if (phase == HostPhase::ending || phase == HostPhase::finished || is_secondary_failure(phase))
      return;
    if (phase == HostPhase::starting && plan_.may_have_no_ranks) return;
    status_ = std::max(status, 1);
    if (phase == HostPhase::starting) {
      report_start_failure(fmt::format("it ended with status {}", status));
    } else {
      report_end({.status = status, .signal = std::nullopt});
    }
  }

  const HostLaunchPlan& plan_;
  const EqualProcesses equal_processes_;
  HostStatus* host_status_ = nullptr;
  pid_t child_ = 0;
  pid_t daemon_ = 0;
  std::optional<DaemonWaker> waker_;
  int status_ = 0;
  /// The signal that has ended the process, or 0.
  int killed_by_ = 0;
  /// The other processes must be ended because this one failed.
  bool has_failed_first_ = false;
  bool is_end_requested_ = false;
  /// Time at which the process is killed; 0: none.
  std::int64_t give_up_ns_ = 0;
  /// Once the process ends the job.
  std::optional<ReportGrace> report_grace_;
  sigset_t mask_before_{};
  sigset_t awaited_{};
};

}  // namespace

int launch_under_host(const HostLaunchPlan& plan) {
  return HostLaunch(plan).run();
}

}  // namespace sorrel::tool
