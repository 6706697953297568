#include "tools/sorrel/run/launch.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <fmt/core.h>
#include <memory>
#include <new>
#include <optional>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "launch/job_claims.hpp"
#include "os/clock.hpp"
#include "os/memory_barrier.hpp"
#include "os/shared_segment.hpp"
#include "os/write_all.hpp"
#include "report/activity_table.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/run/activity_request.hpp"
#include "tools/sorrel/run/children.hpp"
#include "tools/sorrel/run/ending.hpp"
#include "tools/sorrel/run/output_pipes.hpp"
#include "tools/sorrel/run/process_end.hpp"
#include "tools/sorrel/run/report_grace.hpp"

namespace sorrel::tool {

namespace {

using core::JobMemory;
using core::ProcessPhase;
using launch::JobClaims;

bool is_fatal(int signal_number) {
  return signal_number != SIGUSR1 && signal_number != SIGUSR2;
}

class Launch {
 public:
  explicit Launch(const LaunchPlan& plan)
      : plan_(plan),
        equal_processes_(plan.random),
        pids_(plan.shape.process_count, 0),
        claimants_(plan.shape.process_count, 0),
        claimant_gone_ns_(plan.shape.process_count, 0),
        activity_(plan) {
    SORREL_CHECK(plan.processes.size() == plan.shape.process_count, "%zu processes of %u",
                 plan.processes.size(), plan.shape.process_count);
  }

  /// The status of the command; nothing: the job is to be started again.
  std::optional<int> run() {
    auto segment = os::SharedSegment::create(JobMemory::bytes_needed(plan_.shape));
    if (!segment.is_valid()) return report_no_memory();
    memory_ = std::make_unique<JobMemory>(plan_.shape, std::move(segment));
    memory_->set_has_barrier(os::has_barrier_of_processes());
    if (has_wrapper() && !make_claims()) return report_no_memory();
    block_signals();
    // Orphans of a killed process are reparented to this one, which ends them.
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    std::vector<std::string> labels;
    for (const LaunchedProcess& process : plan_.processes)
      labels.push_back(process.label);
    outputs_ = std::make_unique<OutputPipes>(labels);
    if (!outputs_->is_valid()) {
      if (std::ranges::any_of(labels, [](const auto& label) { return !label.empty(); }))
        return report_error("--label needs two pipes a process: {}", std::strerror(errno));
      print_diagnostic(
          fmt::format("note: lines of different processes may mix: no pipes for {} processes: {}",
                      plan_.shape.process_count, std::strerror(errno)));
    }
    for (std::uint32_t i = 0; i < plan_.shape.process_count; ++i) {
      if (!start(i)) break;
    }
    outputs_->begin();
    if (plan_.on_start) plan_.on_start();
    while (live_count_ > 0 || may_go_on_without_wrapper())
      wait_for_event();
    is_ending_ = is_ending_ || is_left_;
    if (is_ending_ || ended_by_signal_ != 0) end_children();
    if (killed_ && begin_restart()) return std::nullopt;
    finish_output();
    if (plan_.on_end) plan_.on_end();
    take_late_signal();
    // Die of the signal as if it had not been blocked.
    if (ended_by_signal_ != 0) return die_of(ended_by_signal_);
    if (claims_ != nullptr) report_missing_claim();
    return status_;
  }

 private:
  static int report_no_memory() {
    return report_error("cannot create shared memory for the processes of the job: {}{}",
                        std::strerror(errno),
                        errno == EFBIG ? " (limit of file sizes, ulimit -f)" : "");
  }

  /// What the user has sent since the processes have ended.
  void take_late_signal() {
    constexpr timespec at_once{};
    for (int number = 0; (number = sigtimedwait(&awaited_, nullptr, &at_once)) > 0;) {
      if (number != SIGCHLD && is_fatal(number)) ended_by_signal_ = number;
    }
  }

  /// After the death of a process, when all have ended: whether the job is started again.
  bool begin_restart() {
    SORREL_ASSERT(plan_.restarts && killed_ && killed_->signal, "no process was killed");
    take_late_signal();
    outputs_->catch_up();
    std::optional<std::int64_t> pause_ns;
    if (ended_by_signal_ == 0 && !has_reported_unwritten_)
      pause_ns = plan_.restarts(*killed_->signal);
    bool is_again = pause_ns.has_value();
    if (is_again) {
      // However slow its reader is: the output goes on.
      is_ending_ = false;
      give_up_ns_ = 0;
      report_grace_.reset();
      finish_output();
      if (!is_ending_) wait_before_restart(*pause_ns);
      is_again = ended_by_signal_ == 0 && !is_ending_;
    }
    if (!is_again) write_process_end(*killed_, plan_.report_file);
    return is_again;
  }

  /// Waits until the time is over or a signal ends the job.
  void wait_before_restart(std::int64_t pause_ns) {
    const std::int64_t end_ns = os::monotonic_ns() + pause_ns;
    for (std::int64_t left_ns = pause_ns; left_ns > 0 && ended_by_signal_ == 0;
         left_ns = end_ns - os::monotonic_ns()) {
      const timespec left{.tv_sec = left_ns / 1'000'000'000, .tv_nsec = left_ns % 1'000'000'000};
      const int number = sigtimedwait(&awaited_, nullptr, &left);
      if (number > 0 && number != SIGCHLD && is_fatal(number)) ended_by_signal_ = number;
    }
  }

  [[nodiscard]] const LaunchedProgram& program_of(std::uint32_t index) const {
    return *plan_.processes[index].program;
  }

  [[nodiscard]] bool has_wrapper(std::uint32_t index) const {
    return !program_of(index).wrapper.empty();
  }

  /// A wrapper would be what is made equal, not the program that it starts.
  [[nodiscard]] bool has_equal_processes() const {
    return (plan_.shape.process_count > 1 || plan_.is_saved) && !has_wrapper();
  }

  [[nodiscard]] bool has_wrapper() const { return first_wrapped() != plan_.shape.process_count; }

  /// The first process with a wrapper, or the number of processes.
  [[nodiscard]] std::uint32_t first_wrapped() const {
    std::uint32_t index = 0;
    while (index < plan_.shape.process_count && !has_wrapper(index))
      ++index;
    return index;
  }

  bool make_claims() {
    claims_segment_ = os::SharedSegment::create(sizeof(JobClaims));
    if (!claims_segment_.is_valid()) return false;
    claims_ = new (claims_segment_.base()) JobClaims;
    claims_->pid_namespace = launch::own_pid_namespace();
    return true;
  }

  void block_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int number : forwarded_signals)
      sigaddset(&signals, number);
    sigaddset(&signals, SIGCHLD);
    sigprocmask(SIG_BLOCK, &signals, nullptr);
    awaited_ = signals;
  }

  bool start(std::uint32_t index) {
    const pid_t own_pid = getpid();
    const pid_t child = fork();
    if (child == 0) execute_program(index, own_pid);
    if (child < 0) {
      print_diagnostic(fmt::format("cannot start process {}: {}", index, std::strerror(errno)));
      begin_end(exit_cannot_execute);
      return false;
    }
    SORREL_CHECK(pids_[index] == 0, "process %u is started twice", index);
    pids_[index] = child;
    ++live_count_;
    return true;
  }

  [[noreturn]] void execute_program(std::uint32_t index, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    // The parent may have died before prctl().
    if (getppid() != parent) _exit(1);
    if (index != 0) {
      // Only rank 0 reads the job's standard input.
      const int nothing = open("/dev/null", O_RDONLY);
      if (nothing > 0) {
        dup2(nothing, STDIN_FILENO);
        close(nothing);
      }
    }
    outputs_->redirect(index);
    plan_.set_environment(index, memory_->descriptor(), claims_segment_.descriptor());
    sigprocmask(SIG_SETMASK, &plan_.mask, nullptr);
    const LaunchedProgram& program = program_of(index);
    if (has_equal_processes()) EqualProcesses::prepare();
    execv(program.path.c_str(), program.words);
    if (memory_->claim_ending(index)) {
      print_diagnostic(fmt::format("cannot start {}: {}", program.words[0], std::strerror(errno)));
    }
    _exit(exit_cannot_execute);
  }

  /// Sleeps until a signal arrives or a time has passed, and handles the result.
  void wait_for_event() {
    // The process that ends the job may hang, and no signal reports that.
    constexpr timespec poll_interval{.tv_sec = 0, .tv_nsec = 500'000'000};
    siginfo_t info{};
    constexpr timespec answer_interval{.tv_sec = 0, .tv_nsec = 2'000'000};
    const bool is_short = activity_.is_requested() || is_left_;
    const int number = sigtimedwait(&awaited_, &info, is_short ? &answer_interval : &poll_interval);
    if (number > 0 && number != SIGCHLD) forward(number, info);
    if (activity_.is_requested()) report_activity();
    reap();
    end_if_unwritten();
    if (claims_ != nullptr) watch_claimants();
    const std::int32_t ending = memory_->ending_process();
    if (ending >= 0 && give_up_ns_ == 0) {
      report_grace_.emplace().begin(pid_of_program(ending));
      give_up_after(ReportGrace::time_ns);
    }
    bool is_over = give_up_ns_ != 0 && os::monotonic_ns() >= give_up_ns_;
    if (is_over && report_grace_ && ending >= 0 && end_signal_ == 0 && !is_ending_ && !is_left_ &&
        report_grace_->extend(pid_of_program(ending))) {
      give_up_after(ReportGrace::time_ns);
      is_over = false;
    }
    if (is_over || (is_left_ && !may_any_end())) begin_end(std::max(status_, 1));
  }

  /// Whether a rank may be about to end by itself: a worker of a process that is left does not
  /// sleep.
  [[nodiscard]] bool may_any_end() const {
    const std::uint32_t worker_count = plan_.shape.workers_per_process;
    for (std::uint32_t i = 0; i < plan_.shape.process_count; ++i) {
      if (pids_[i] == 0) continue;
      for (std::uint32_t worker = 0; worker < worker_count; ++worker) {
        if (!memory_->parker(i * worker_count + worker).is_parked()) return true;
      }
    }
    return false;
  }

  [[nodiscard]] ProcessEnd end_of(std::uint32_t index,
                                  int status,
                                  std::optional<int> signal = std::nullopt) const {
    return {.process = index,
            .first_rank = plan_.processes[index].first_rank,
            .rank_count = plan_.processes[index].rank_count,
            .status = status,
            .signal = signal};
  }

  /// The output of a process precedes the message about its end.
  void report(const ProcessEnd& end) {
    outputs_->catch_up();
    report_process_end(end, plan_.report_file);
  }

  /// Ends the job if its output cannot be written.
  void end_if_unwritten() {
    if (has_reported_unwritten_) return;
    const std::string error = outputs_->error();
    if (error.empty()) return;
    has_reported_unwritten_ = true;
    print_diagnostic(error);
    begin_end(1);
  }

  /// Writes the rest of the output, as long as its reader takes it and no signal ends the wait;
  /// after a violent end only for grace_ns.
  void finish_output() {
    constexpr std::chrono::milliseconds poll_interval(50);
    if (is_ending_ || ended_by_signal_ != 0) give_up_after(grace_ns);
    while (!outputs_->finish(poll_interval)) {
      constexpr timespec at_once{};
      const int number = sigtimedwait(&awaited_, nullptr, &at_once);
      const bool is_end_requested = number > 0 && number != SIGCHLD && is_fatal(number);
      if (is_end_requested) ended_by_signal_ = number;
      if (is_end_requested || (give_up_ns_ != 0 && os::monotonic_ns() >= give_up_ns_))
        outputs_->abandon();
    }
    end_if_unwritten();
  }

  void give_up_after(std::int64_t ns) {
    SORREL_ASSERT(ns > 0, "no time to end: %lld ns", static_cast<long long>(ns));
    give_up_ns_ = os::monotonic_ns() + ns;
  }

  void forward(int number, const siginfo_t& info) {
    // Sent by the terminal: the wrapper gets it too, and may continue, as a debugger does.
    if (claims_ != nullptr && info.si_code == SI_KERNEL) {
      terminal_signal_ = number;
      return;
    }
    if (is_fatal(number)) {
      if (end_signal_ != 0) {
        begin_end(128 + number);
        return;
      }
      end_signal_ = number;
    }
    if (number == SIGTERM && plan_.on_end_request) {
      outputs_->catch_up();
      plan_.on_end_request();
    }
    // The terminal has sent it to every process of the group.
    if (info.si_code == SI_KERNEL) return;
    if (number == SIGUSR1) {
      activity_.request(*memory_, recipients());
      return;
    }
    for (const pid_t pid : pids_) {
      if (pid != 0) kill(pid, number);
    }
  }

  /// By process: the program, or the wrapper that has not started it.
  [[nodiscard]] std::vector<Recipient> recipients() const {
    std::vector<Recipient> recipients;
    for (std::uint32_t i = 0; i < plan_.shape.process_count; ++i) {
      const pid_t program = program_below_wrapper(i);
      recipients.push_back(program != 0 ? Recipient{.pid = program}
                                        : Recipient{.pid = pids_[i], .is_wrapper = has_wrapper(i)});
    }
    return recipients;
  }

  /// 0: the process has no wrapper, or it has not started the program, or that has ended.
  [[nodiscard]] pid_t program_below_wrapper(std::uint32_t index) const {
    if (!has_wrapper(index)) return 0;
    // Relaxed, as in is_claimed().
    const std::int32_t claimant = claims_->pids[index].load(std::memory_order_relaxed);
    return claimant > 0 && kill(claimant, 0) == 0 ? claimant : 0;
  }

  [[nodiscard]] pid_t pid_of_program(std::int32_t process) const {
    SORREL_CHECK(process >= 0 && static_cast<std::size_t>(process) < pids_.size(),
                 "process %d of %zu", process, pids_.size());
    const auto index = static_cast<std::uint32_t>(process);
    const pid_t program = program_below_wrapper(index);
    return program != 0 ? program : pids_[index];
  }

  /// Reports what the ranks do when all have answered, or the time is over.
  void report_activity() {
    const auto table = activity_.take_table(*memory_);
    if (!table) return;
    outputs_->catch_up();
    const auto count = static_cast<std::int32_t>(plan_.rank_count);
    const std::string text = report::activity_table(*table, fmt::format("{} ranks", count), count);
    // The rest of a report is dropped if no process reads it: the job is to go on.
    constexpr int reader_patience_ms = 1000;
    os::write_all(STDERR_FILENO, text, reader_patience_ms);
  }

  void reap() {
    struct Ended {
      pid_t pid;
      int status;
    };

    std::vector<Ended> all;
    int wait_status = 0;
    for (pid_t pid = 0; (pid = waitpid(-1, &wait_status, WNOHANG)) > 0;) {
      if (WIFSTOPPED(wait_status)) {
        equal_processes_.on_stop(pid, WSTOPSIG(wait_status));
      } else {
        all.push_back({.pid = pid, .status = wait_status});
      }
    }
    // A process that was killed is the cause, also if another one has ended the job because of it.
    std::ranges::stable_partition(all,
                                  [](const Ended& ended) { return WIFSIGNALED(ended.status); });
    for (const Ended& ended : all)
      on_child_end(ended.pid, ended.status);
  }

  void on_child_end(pid_t pid, int wait_status) {
    auto found = std::find(pids_.begin(), pids_.end(), pid);
    std::size_t index = static_cast<std::size_t>(found - pids_.begin());
    if (found != pids_.end()) {
      SORREL_CHECK(live_count_ > 0, "process %d has ended, and none lived", pid);
      *found = 0;
      --live_count_;
    } else {
      // A program that has outlived its wrapper, or an orphan of a process.
      found = std::find(claimants_.begin(), claimants_.end(), pid);
      if (found == claimants_.end()) return;
      index = static_cast<std::size_t>(found - claimants_.begin());
    }
    if (is_ending_ || is_left_) return;
    if (WIFEXITED(wait_status) && has_left_its_program(index, pid)) {
      status_ = std::max(status_, WEXITSTATUS(wait_status));
    } else if (WIFSIGNALED(wait_status)) {
      on_killed(static_cast<std::uint32_t>(index), WTERMSIG(wait_status));
    } else {
      on_exit(static_cast<std::uint32_t>(index), WEXITSTATUS(wait_status));
    }
  }

  /// Whether a wrapper has ended before the program below it, which then is a child of this
  /// process.
  [[nodiscard]] bool has_left_its_program(std::size_t index, pid_t pid) const {
    if (claims_ == nullptr) return false;
    // Relaxed, as in is_claimed().
    const std::int32_t claimant = claims_->pids[index].load(std::memory_order_relaxed);
    return claimant > 0 && claimant != pid && kill(claimant, 0) == 0;
  }

  /// Whether there are children; orphans count.
  static bool has_children() {
    siginfo_t info{};
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
  }

  [[nodiscard]] bool has_children_of_wrappers() const {
    if (live_count_ == 0) return has_children();
    return std::ranges::any_of(children(getpid()), [&](pid_t pid) {
      return std::ranges::find(pids_, pid) == pids_.end();
    });
  }

  /// Every wrapper has ended, but a program left by one is the job or may join it.
  bool may_go_on_without_wrapper() {
    if (claims_ == nullptr || is_ending_ || is_left_ || end_signal_ != 0 || !has_children())
      return false;
    watch_claimants();
    for (std::uint32_t i = 0; i < plan_.shape.process_count; ++i) {
      if (!has_wrapper(i)) continue;
      if (!is_claimed(i) || (claimants_[i] != 0 && kill(claimants_[i], 0) == 0)) return true;
    }
    return false;
  }

  // Relaxed: what else the claimant writes is published by other means.
  [[nodiscard]] bool is_claimed(std::uint32_t index) const {
    return claims_->pids[index].load(std::memory_order_relaxed) != 0;
  }

  /// Below a wrapper that continues, only this finds that a program has ended, or that there is
  /// none.
  void watch_claimants() {
    bool has_absent = false;
    for (std::uint32_t i = 0; i < plan_.shape.process_count && !is_ending_; ++i) {
      if (!has_wrapper(i)) continue;
      const std::int32_t pid = claims_->pids[i].load(std::memory_order_relaxed);
      if (pid > 0) claimants_[i] = pid;
      has_absent = has_absent || (pid == 0 && pids_[i] == 0);
      if (plan_.shape.process_count > 1 && pid > 0 && kill(pid, 0) != 0 && errno == ESRCH)
        on_claimant_gone(i);
    }
    if (has_absent && !is_ending_ && plan_.shape.process_count > 1 && !has_children_of_wrappers())
      mark_absent();
  }

  void on_claimant_gone(std::uint32_t index) {
    // Acquire, pairs with the release at the program's end.
    const auto phase = memory_->process(index).phase.load(std::memory_order_acquire);
    if (phase != ProcessPhase::running || memory_->ending_process() >= 0 || end_signal_ != 0)
      return;
    // Most wrappers end at once too, with a status that tells why, as that of timeout does.
    const std::int64_t now_ns = os::monotonic_ns();
    if (claimant_gone_ns_[index] == 0) claimant_gone_ns_[index] = now_ns;
    if (pids_[index] != 0 && now_ns - claimant_gone_ns_[index] < wrapper_grace_ns) return;
    ProcessEnd end = end_of(index, 1);
    end.wrapper = program_of(index).wrapper;
    report(end);
    begin_end(1);
  }

  /// For the other processes, which may wait for a process that never starts MPI.
  void mark_absent() {
    for (std::uint32_t i = 0; i < plan_.shape.process_count; ++i) {
      if (!has_wrapper(i) || is_claimed(i) || pids_[i] != 0) continue;
      claims_->pids[i].store(JobClaims::unknown_pid, std::memory_order_relaxed);
      ++absent_count_;
      SORREL_ASSERT(absent_count_ <= plan_.shape.process_count, "%u processes of %u are absent",
                    absent_count_, plan_.shape.process_count);
      memory_->mark_workers_gone(i, 0);
    }
  }

  /// A program without MPI has run once in each process instead of N times, or an MPI program as N
  /// separate jobs: neither must end without a message.
  void report_missing_claim() {
    if (claims_->has_failed.load(std::memory_order_relaxed) != 0)
      status_ = std::max(status_, exit_invalid_input);
    std::uint32_t claimed_count = 0;
    for (std::uint32_t i = 0; i < plan_.shape.process_count; ++i)
      claimed_count += has_wrapper(i) && is_claimed(i) ? 1 : 0;
    const LaunchedProgram& program = program_of(first_wrapped());
    if (claimed_count > absent_count_ || status_ != 0 || plan_.rank_count == 1) return;
    const bool has_all_copies = plan_.shape.process_count == plan_.rank_count;
    const bool is_requested = plan_.is_count_requested && !(has_all_copies && program.has_no_ranks);
    if (!is_requested && !program.is_mpi_seen) return;
    const bool is_wrong = !has_all_copies || program.is_mpi_seen;
    const std::string cure =
        program.is_mpi_seen || has_all_copies
            ? "a wrapper must pass on its environment and descriptors"
            : fmt::format("a program without MPI runs once in each process; {0} times: --procs {0}",
                          plan_.rank_count);
    print_diagnostic(fmt::format(
        "{}{} has ended, and no MPI program below it has joined this job of {} ranks ({})",
        is_wrong ? "" : "note: ", program.wrapper, plan_.rank_count, cure));
    if (is_wrong) status_ = 1;
  }

  void on_killed(std::uint32_t index, int number) {
    if (terminal_signal_ != 0 && number == terminal_signal_) end_signal_ = number;
    if (end_signal_ != 0) {
      // All other processes got the signal too.
      ended_by_signal_ = end_signal_;
      if (give_up_ns_ == 0) give_up_after(grace_ns);
      return;
    }
    SORREL_ASSERT(index < pids_.size() && number > 0, "process %u of %zu, signal %d", index,
                  pids_.size(), number);
    const ProcessEnd end = end_of(index, 128 + number, number);
    // A process that has ended the job, as after a crash, has said why.
    if (plan_.restarts && memory_->ending_process() != static_cast<std::int32_t>(index)) {
      outputs_->catch_up();
      print_process_end(end);
      killed_ = end;
    } else {
      report(end);
    }
    begin_end(128 + number);
  }

  void on_exit(std::uint32_t index, int status) {
    SORREL_ASSERT(index < pids_.size() && status >= 0, "process %u of %zu, status %d", index,
                  pids_.size(), status);
    const std::int32_t ending = memory_->ending_process();
    if (ending == static_cast<std::int32_t>(index)) {
      // A wrapper may return a status of its own.
      status_ = std::max(status, 1);
      if (memory_->process(index).phase.load(std::memory_order_acquire) == ProcessPhase::left) {
        // Ranks that end at the same time, for the same reason, write their last lines.
        is_left_ = true;
        give_up_after(grace_ns);
      } else {
        begin_end(status_);
      }
    } else if (ending < 0 && memory_->process(index).phase.load(std::memory_order_acquire) ==
                                 ProcessPhase::running) {
      report(end_of(index, status));
      begin_end(std::max(status, 1));
    } else {
      status_ = std::max(status_, status);
    }
  }

  /// Ends the job with this status: all processes are killed.
  void begin_end(int status) {
    if (!is_ending_) status_ = status;
    is_ending_ = true;
    for (const pid_t pid : pids_) {
      if (pid != 0) kill(pid, SIGKILL);
    }
  }

  /// Returns the status of a shell for such a death, in a process that no signal ends: the first
  /// one of a container.
  [[nodiscard]] int die_of(int number) const {
    signal(number, SIG_DFL);
    sigprocmask(SIG_SETMASK, &plan_.mask, nullptr);
    raise(number);
    return 128 + number;
  }

  const LaunchPlan& plan_;
  const EqualProcesses equal_processes_;
  std::unique_ptr<JobMemory> memory_;
  std::unique_ptr<OutputPipes> outputs_;
  std::vector<pid_t> pids_;
  os::SharedSegment claims_segment_;
  JobClaims* claims_ = nullptr;
  /// By process: the program below the wrapper; 0: not known.
  std::vector<pid_t> claimants_;
  /// By process: when it was seen that this program has ended before its wrapper; 0: not seen.
  std::vector<std::int64_t> claimant_gone_ns_;
  std::uint32_t absent_count_ = 0;
  ActivityRequest activity_;
  /// A rank has ended without MPI_Finalize.
  bool is_left_ = false;
  /// The last signal that the terminal has sent to the whole process group.
  int terminal_signal_ = 0;
  std::uint32_t live_count_ = 0;
  int status_ = 0;
  bool is_ending_ = false;
  /// A process whose death may be followed by a restart.
  std::optional<ProcessEnd> killed_;
  bool has_reported_unwritten_ = false;
  int end_signal_ = 0;
  int ended_by_signal_ = 0;
  /// Time at which the remaining processes are killed; 0: none.
  std::int64_t give_up_ns_ = 0;
  /// Once a process of the job ends it.
  std::optional<ReportGrace> report_grace_;
  sigset_t awaited_{};
};

}  // namespace

int launch(const LaunchPlan& plan) {
  for (;;) {
    if (const std::optional<int> status = Launch(plan).run()) return *status;
  }
}

}  // namespace sorrel::tool
