#include "tools/sorrel/launch.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <fmt/core.h>
#include <memory>
#include <optional>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "os/clock.hpp"
#include "os/memory_barrier.hpp"
#include "os/shared_segment.hpp"
#include "tools/sorrel/children.hpp"
#include "tools/sorrel/complaint.hpp"
#include "tools/sorrel/label_pipes.hpp"

namespace sorrel::tool {

namespace {

using core::JobMemory;
using core::ProcessPhase;

constexpr std::array forwarded_signals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
/// How long those may go on who have been told to end, or who are ending the job.
constexpr std::int64_t grace_ns = 1'500'000'000;

bool is_fatal(int signal_number) {
  return signal_number != SIGUSR1 && signal_number != SIGUSR2;
}

class Launch {
 public:
  explicit Launch(const LaunchPlan& plan) : plan_(plan), pids_(plan.shape.process_count, 0) {}

  int run() {
    auto segment = os::SharedSegment::create(JobMemory::bytes_needed(plan_.shape));
    if (!segment.is_valid()) {
      return refuse("no memory to share between {} processes: {}", plan_.shape.process_count,
                    std::strerror(errno));
    }
    memory_ = std::make_unique<JobMemory>(plan_.shape, std::move(segment));
    memory_->set_has_barrier(os::has_barrier_of_processes());
    block_signals();
    // What a killed process leaves behind comes to us, and we end it.
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    if (plan_.label_lines) {
      labels_ = std::make_unique<LabelPipes>(plan_.shape.process_count);
      if (!labels_->is_valid())
        return refuse("--label needs two pipes a process: {}", std::strerror(errno));
    }
    for (std::uint32_t i = 0; i < plan_.shape.process_count; ++i) {
      if (!start(i)) break;
    }
    if (labels_ != nullptr) labels_->begin();
    while (live_count_ > 0)
      wait_for_news();
    if (is_ending_) end_children();
    labels_.reset();
    // As if it had been ours to die of.
    if (ended_by_signal_ != 0) die_of(ended_by_signal_);
    return status_;
  }

 private:
  void block_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int number : forwarded_signals)
      sigaddset(&signals, number);
    sigaddset(&signals, SIGCHLD);
    sigprocmask(SIG_BLOCK, &signals, &mask_before_);
    awaited_ = signals;
  }

  bool start(std::uint32_t index) {
    const pid_t own_pid = getpid();
    const pid_t child = fork();
    if (child == 0) become(index, own_pid);
    if (child < 0) {
      print_complaint(fmt::format("cannot start process {}: {}", index, std::strerror(errno)));
      begin_end(exit_cannot_execute);
      return false;
    }
    pids_[index] = child;
    ++live_count_;
    return true;
  }

  [[noreturn]] void become(std::uint32_t index, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    // The parent may have died before.
    if (getppid() != parent) _exit(1);
    if (index != 0) {
      // Rank 0 reads what was meant for the job.
      const int nothing = open("/dev/null", O_RDONLY);
      if (nothing > 0) {
        dup2(nothing, STDIN_FILENO);
        close(nothing);
      }
    }
    if (labels_ != nullptr) labels_->redirect(index);
    plan_.set_environment(index, memory_->descriptor());
    sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
    execv(plan_.program.c_str(), plan_.words);
    if (memory_->claim_ending(index)) {
      print_complaint(fmt::format("cannot start {}: {}", plan_.words[0], std::strerror(errno)));
    }
    _exit(exit_cannot_execute);
  }

  /// Sleeps until a signal comes or a time is up, and does what follows from it.
  void wait_for_news() {
    // Whoever ends the job may be stuck at it, and nothing else tells us.
    constexpr timespec between_looks{.tv_sec = 0, .tv_nsec = 500'000'000};
    siginfo_t info{};
    const int number = sigtimedwait(&awaited_, &info, &between_looks);
    if (number > 0 && number != SIGCHLD) forward(number, info);
    reap();
    if (memory_->ending_process() >= 0 && give_up_ns_ == 0) give_up_after_grace();
    if (give_up_ns_ != 0 && os::monotonic_ns() >= give_up_ns_) begin_end(std::max(status_, 1));
  }

  void give_up_after_grace() { give_up_ns_ = os::monotonic_ns() + grace_ns; }

  void forward(int number, const siginfo_t& info) {
    if (is_fatal(number)) {
      if (told_to_end_ != 0) {
        begin_end(128 + number);
        return;
      }
      told_to_end_ = number;
    }
    // The terminal has sent it to every process of the group.
    if (info.si_code == SI_KERNEL) return;
    for (const pid_t pid : pids_) {
      if (pid != 0) kill(pid, number);
    }
  }

  void reap() {
    int wait_status = 0;
    for (;;) {
      const pid_t pid = waitpid(-1, &wait_status, WNOHANG);
      if (pid <= 0) return;
      const auto found = std::find(pids_.begin(), pids_.end(), pid);
      // Else something that a process has left behind.
      if (found == pids_.end()) continue;
      const auto index = static_cast<std::uint32_t>(found - pids_.begin());
      *found = 0;
      --live_count_;
      if (is_ending_) continue;
      if (WIFSIGNALED(wait_status)) {
        on_killed(index, WTERMSIG(wait_status));
      } else {
        on_exit(index, WEXITSTATUS(wait_status));
      }
    }
  }

  void on_killed(std::uint32_t index, int number) {
    if (told_to_end_ != 0) {
      // The others have heard it, too.
      ended_by_signal_ = told_to_end_;
      if (give_up_ns_ == 0) give_up_after_grace();
      return;
    }
    print_complaint(fmt::format("process {} ({}) was killed by signal {} ({})", index,
                                ranks_of_process(plan_, index), number, strsignal(number)));
    begin_end(128 + number);
  }

  void on_exit(std::uint32_t index, int status) {
    const std::int32_t ending = memory_->ending_process();
    if (ending == static_cast<std::int32_t>(index)) {
      begin_end(status);
    } else if (ending < 0 && memory_->process(index).phase.load(std::memory_order_acquire) ==
                                 ProcessPhase::running) {
      print_complaint(fmt::format("process {} ({}) ended with status {} in the middle of MPI",
                                  index, ranks_of_process(plan_, index), status));
      begin_end(std::max(status, 1));
    } else {
      status_ = std::max(status_, status);
    }
  }

  /// The job is over with this status: nobody goes on.
  void begin_end(int status) {
    if (!is_ending_) status_ = status;
    is_ending_ = true;
    for (const pid_t pid : pids_) {
      if (pid != 0) kill(pid, SIGKILL);
    }
  }

  void die_of(int number) const {
    signal(number, SIG_DFL);
    sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
    raise(number);
  }

  const LaunchPlan& plan_;
  std::unique_ptr<JobMemory> memory_;
  std::unique_ptr<LabelPipes> labels_;
  std::vector<pid_t> pids_;
  std::uint32_t live_count_ = 0;
  int status_ = 0;
  bool is_ending_ = false;
  int told_to_end_ = 0;
  int ended_by_signal_ = 0;
  /// When those who are left are killed; 0 = not yet known.
  std::int64_t give_up_ns_ = 0;
  sigset_t mask_before_{};
  sigset_t awaited_{};
};

}  // namespace

std::string ranks_of_process(const LaunchPlan& plan, std::uint32_t index) {
  const auto first_of = [&](std::uint64_t process) {
    return plan.rank_count * process * plan.shape.workers_per_process / plan.shape.place_count();
  };
  const std::uint64_t first = first_of(index);
  const std::uint64_t last = first_of(index + 1) - 1;
  return first == last ? fmt::format("rank {}", first) : fmt::format("ranks {}-{}", first, last);
}

int launch(const LaunchPlan& plan) {
  return Launch(plan).run();
}

}  // namespace sorrel::tool
