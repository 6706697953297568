#include "runtime/crash_report.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/check.hpp"
#include "base/fixed_text.hpp"
#include "check/checked_job.hpp"
#include "check/checker.hpp"
#include "mpi/job/process_world.hpp"
#include "mpi/match/rank_state.hpp"
#include "os/default_action.hpp"
#include "os/own_process.hpp"
#include "os/page_bytes.hpp"
#include "os/process_end.hpp"
#include "report/report_file.hpp"
#include "runtime/base/this_process.hpp"
#include "runtime/end/latest_events.hpp"
#include "runtime/end/report_deadline.hpp"
#include "runtime/end/stack_fault.hpp"
#include "runtime/live/rank_activity.hpp"
#include "runtime/python/lines.hpp"
#include "symbols/backtrace.hpp"

namespace sorrel::runtime {

namespace {

constexpr std::array deadly_signals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

using Line = FixedText<600>;

/// The only report of the process. Used by the reporting thread alone, except its number.
struct Report {
  // Relaxed: each thread compares it with its own number only. 0: none.
  std::atomic<pid_t> thread{0};

  /// True for one thread of the process.
  bool claim() {
    pid_t none = 0;
    return thread.compare_exchange_strong(none, gettid(), std::memory_order_relaxed);
  }

  [[nodiscard]] bool is_by_caller() const {
    return thread.load(std::memory_order_relaxed) == gettid();
  }

  int status = 0;
  bool is_line_written = false;
  symbols::Backtrace backtrace;
};

Report report;

/// In English; strsignal() would look up a translation.
const char* name_of(int signal_number) {
  const char* name = sigdescr_np(signal_number);
  return name != nullptr ? name : "Deadly signal";
}

void write_line(const Line& line) {
  (void)!write(STDERR_FILENO, line.c_str(), line.text().size());
  report.is_line_written = true;
}

/// False for a general protection fault too: the processor does not report its address.
bool has_address(const siginfo_t& info) {
  return info.si_code > 0 && info.si_code != SI_KERNEL;
}

Fault fault_of(const siginfo_t& info, const void* context) {
  const mcontext_t& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  const auto stack_pointer = static_cast<std::uintptr_t>(machine.gregs[REG_RSP]);
#else
  const auto stack_pointer = static_cast<std::uintptr_t>(machine.sp);
#endif
  // mincore() answers for mapped pages only.
  const std::uintptr_t page_bytes = os::page_bytes();
  unsigned char is_resident = 0;
  auto* page = reinterpret_cast<void*>(stack_pointer / page_bytes * page_bytes);
  return {.address = has_address(info) ? info.si_addr : nullptr,
          .stack_pointer = reinterpret_cast<const void*>(stack_pointer),
          .is_pointer_mapped = mincore(page, page_bytes, &is_resident) == 0};
}

void add_stack_overflow(Line& line, const os::StackSlab& stacks, std::size_t index, Fault fault) {
  const std::size_t kib = stacks.stack_bytes() >> 10;
  const auto bottom = reinterpret_cast<std::uintptr_t>(stacks.bottom(index));
  const auto pointer = reinterpret_cast<std::uintptr_t>(fault.stack_pointer);
  const std::size_t missing_kib = pointer < bottom ? (bottom - pointer) >> 10 : 0;
  line.add("stack overflow: its stack has ").add(kib).add(" KiB; enlarge it with --stack ");
  line.add(std::max(4 * kib, 2 * (kib + missing_kib))).add("K");
}

void add_signal(Line& line, int signal_number, const siginfo_t& info) {
  if (signal_number == SIGABRT) {
    line.add("aborted");
  } else {
    line.add(name_of(signal_number));
  }
  line.add(" (signal ").add(signal_number).add(")");
  // A signal that a process has sent has no address.
  if (signal_number == SIGABRT || info.si_code <= 0) return;
  if (has_address(info)) {
    line.add(" at address ").add_hex(reinterpret_cast<std::uintptr_t>(info.si_addr));
  } else {
    line.add(" at an unknown address: a non-canonical address or a privileged instruction");
  }
}

/// That of the rank, or of the nonblocking collective that runs for it.
core::FiberPool::Stack stack_of(const Job& job, const mpi::RankState* rank) {
  if (rank == nullptr) return {.slab = &job.view().stacks(), .index = 0};
  if (const auto stack = mpi::operation_stack_of(*rank)) return *stack;
  return {.slab = &job.view().stacks(), .index = job.view().index_of(*rank)};
}

void add_reason(Line& line,
                const Job& job,
                const mpi::RankState* rank,
                int signal_number,
                const siginfo_t& info,
                const void* context) {
  const bool is_memory_fault = signal_number == SIGSEGV || signal_number == SIGBUS;
  const Fault fault = fault_of(info, context);
  StackFault kind = StackFault::none;
  const auto [stacks, index] = stack_of(job, rank);
  if (rank != nullptr && is_memory_fault && info.si_code > 0)
    kind = classify_fault(*stacks, index, fault);
  if (kind == StackFault::overflow) {
    add_stack_overflow(line, *stacks, index, fault);
    return;
  }
  add_signal(line, signal_number, info);
  if (kind != StackFault::wild_into_guard) return;
  const std::size_t left = bytes_left(*stacks, index, fault.stack_pointer);
  line.add(", between two stacks: a wild pointer; ").add(left >> 10).add(" of ");
  line.add(stacks->stack_bytes() >> 10).add(" KiB of its own stack are free");
}

/// The rank for which a thread without a rank works, found by the rank's code among its calls.
std::optional<std::int32_t> owner_of(const Job& job, const symbols::Backtrace& backtrace) {
  for (const void* address : backtrace.addresses()) {
    if (const auto rank = job.view().rank_of_code(address)) return rank;
  }
  return std::nullopt;
}

void add_failed_rank(Line& line,
                     const Job& job,
                     const mpi::RankState* rank,
                     std::optional<std::int32_t> owner) {
  if (owner) {
    line.add("rank ").add(*owner);
  } else if (const auto process = job.process_number()) {
    line.add("process ").add(*process);
  }
  if (rank != nullptr) return;
  if (!owner) {
    line.add(job.process_number() ? ", in a thread that runs no rank"
                                  : "in a thread that runs no rank");
  } else {
    line.add(core::Worker::current() == nullptr ? ", in a thread that it has started"
                                                : ", in work that a worker does for it");
  }
}

[[noreturn]] void wait_for_end(int status) {
  limit_foreign_report(status);
  for (;;)
    pause();
}

/// Makes the calling thread the one that writes the report of this process; returns only in that
/// thread. From here on a crash of the thread is handled by end_in_report().
void begin_report(Job& job, int status) {
  if (!report.claim()) wait_for_end(status);
  report.status = status;
  // A thread that ends the job for another reason may crash meanwhile.
  if (!job.is_ended_by_caller() && !job.claim_ending()) wait_for_end(status);
  limit_own_report(status);
}

/// The report itself has crashed on damaged memory.
[[noreturn]] void end_in_report(int signal_number) {
  Line line;
  if (report.is_line_written) {
    line.add("  (what follows cannot be read)\n");
  } else {
    line.add("sorrel: ").add(name_of(signal_number)).add(" (signal ").add(signal_number);
    line.add("), and the runtime's own memory is damaged\n");
  }
  write_line(line);
  os::end_process(report.status);
}

/// Writes the line and the calls, and the same into the user's file: first without the calls, whose
/// search may crash. `context`: of the signal that led here; null if the calls have been taken.
void write_report(const Job& job,
                  const mpi::RankState* rank,
                  std::string_view what,
                  std::optional<int> signal_number,
                  void* context) {
  const auto owner =
      rank != nullptr ? std::optional(rank->world_rank) : owner_of(job, report.backtrace);
  Line line;
  line.add("sorrel: ");
  add_failed_rank(line, job, rank, owner);
  line.add(": ").add(what).add("\n");
  write_line(line);
  report::Failure failure{.kind = "crash",
                          .status = report.status,
                          .what = what,
                          .rank = owner,
                          .process = job.process_number(),
                          .signal = signal_number,
                          .calls = {}};
  job.report_file().write(failure);
  if (context != nullptr) report.backtrace.take_of_signal(context);
  symbols::Backtrace::Texts calls;
  report.backtrace.describe(calls);
  symbols::write_calls(calls);
  failure.calls = calls;
  job.report_file().write(failure);
  if (job.is_verbose()) write_latest_events(job.view());
}

/// Adds a checked run's finding. Last: it allocates memory, which may be damaged.
void add_finding(const Job& job, const mpi::RankState& rank, int signal_number) {
  check::Checker* checker = check::checker_of(rank);
  if (checker == nullptr) return;
  const auto addresses = report.backtrace.addresses();
  const auto found = std::ranges::find_if(
      addresses, [&](const void* address) { return job.view().rank_of_code(address).has_value(); });
  symbols::SourceText script;
  const bool is_in_script =
      runs_flow_of(rank) && has_python() &&
      describe_python_of(job.view().index_of(rank), PythonState::interrupted, {&script, 1}) > 0;
  checker->on_crash(rank, name_of(signal_number), found == addresses.end() ? nullptr : *found,
                    is_in_script ? script.data() : nullptr);
}

/// If the user has asked for core files (ulimit -c): a child has the memory and the calling thread,
/// and takes the signal's default action, which writes one. True in the child.
bool leave_core_file(int signal_number) {
  struct rlimit limit{};
  if (getrlimit(RLIMIT_CORE, &limit) != 0 || limit.rlim_cur == 0) return false;
  const pid_t child = _Fork();
  if (child == 0) {
    os::take_default_action(signal_number);
    return true;
  }
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return false;
}

void handle(int signal_number, siginfo_t* info, void* context) {
  if (report.is_by_caller()) end_in_report(signal_number);
  Job* job = job_of_process();
  if (job == nullptr || os::is_forked_child()) {
    os::take_default_action(signal_number);
    return;
  }
  begin_report(*job, 128 + signal_number);
  const mpi::RankState* rank = mpi::peek_rank();
  report.backtrace = job->backtrace_of(rank);
  Line reason;
  add_reason(reason, *job, rank, signal_number, *info, context);
  // The line begins with the rank; for a thread without one, the calls determine it.
  if (rank == nullptr) report.backtrace.take_of_signal(context);
  write_report(*job, rank, reason.text(), signal_number, rank != nullptr ? context : nullptr);
  if (rank != nullptr) add_finding(*job, *rank, signal_number);
  if (leave_core_file(signal_number)) return;
  os::end_process(report.status);
}

}  // namespace

void watch_for_crashes() {
  symbols::Backtrace::prepare();
  prepare_report_deadline();
  struct sigaction action{};
  action.sa_sigaction = handle;
  // A crash in the report is delivered to the handler again.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (const int number : deadly_signals) {
    // A program in process mode may have its own.
    struct sigaction before{};
    if (sigaction(number, nullptr, &before) == 0 && before.sa_handler == SIG_DFL)
      sigaction(number, &action, nullptr);
  }
}

void stop_watching_for_crashes() {
  for (const int number : deadly_signals)
    signal(number, SIG_DFL);
  release_report_deadline();
}

bool is_watching(int signal_number) {
  struct sigaction now{};
  return job_of_process() != nullptr && !os::is_forked_child() &&
         sigaction(signal_number, nullptr, &now) == 0 && now.sa_sigaction == handle;
}

void end_with_backtrace(std::string_view what, std::span<const void* const> left_out) {
  constexpr int status = 128 + SIGABRT;
  SORREL_ASSERT(job_of_process() != nullptr, "a report without a job");
  Job& job = *job_of_process();
  begin_report(job, status);
  report.backtrace = job.backtrace_of(mpi::peek_rank());
  report.backtrace.take_of_caller(left_out);
  write_report(job, mpi::peek_rank(), what, std::nullopt, nullptr);
  os::end_process(status);
}

}  // namespace sorrel::runtime
