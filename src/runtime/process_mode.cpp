#include "runtime/process_mode.hpp"

#include <atomic>
#include <cstdio>
#include <errno.h>
#include <unistd.h>

#include "base/check.hpp"
#include "launch/exit_status.hpp"
#include "mpi/match/rank_state.hpp"
#include "os/own_process.hpp"
#include "runtime/activity_report.hpp"
#include "runtime/base/this_process.hpp"
#include "runtime/crash_report.hpp"
#include "runtime/end_request.hpp"
#include "runtime/host/host_job.hpp"
#include "runtime/job.hpp"
#include "runtime/main_thread_rank.hpp"
#include "runtime/process_config.hpp"
#include "runtime/uncaught_exception.hpp"
#include "runtime/wrapped_job.hpp"

namespace sorrel::runtime {

namespace {

/// The program's own streams are those of its C library.
class ProcessModeBody final : public RankBody {
 public:
  bool prepare(mpi::RankState& /*rank*/, const char** /*error*/) override { return true; }

  int run(mpi::RankState& /*rank*/) override { return 0; }

  void flush(mpi::RankState& /*rank*/) override { std::fflush(stdout); }
};

std::atomic_flag is_taken;
// Set if this library was loaded at the program's start, when it checked for a job of many ranks.
bool was_asked_at_start = false;
bool is_exit_watched = false;

void end_with_process(int status, void* /*argument*/) {
  if (os::is_forked_child()) return;
  if (Job* job = job_of_process(); job != nullptr) {
    job->end_attached_rank(status);
    leave_host(process_config());
    return;
  }
  // The process has never called MPI; other processes may wait for it without end, and get its end
  // reported.
  const Config& config = process_config();
  if (config.memory != nullptr) config.memory->mark_workers_gone(config.process_in_memory, 0);
  leave_host(config);
}

void watch_exit() {
  os::record_own_process();
  is_exit_watched = true;
  on_exit(end_with_process, nullptr);
}

/// A program that loads this library late can no longer be privatized.
[[noreturn]] void fail_late_program(const Config& config) {
  record_failure(config);
  std::fprintf(stderr,
               "sorrel: %s loads MPI while it runs, so every rank must be a process: --procs %d\n",
               program_invocation_short_name, config.rank_count);
  _exit(exit_invalid_input);
}

/// Whether the caller is a fiber of a rank, or a child of the process in which the rank began.
bool is_elsewhere() {
  return mpi::current_rank() != nullptr || os::is_forked_child();
}

/// Whether this process is a single rank: of a job with a process for each rank, or alone.
bool is_one_rank(const Config& config) {
  return config.process_mode ||
         (config.memory == nullptr && config.host == nullptr && config.rank_count == 1);
}

}  // namespace

bool is_process_mode() {
  was_asked_at_start = true;
  return process_config().process_mode;
}

void begin_process_mode() {
  // Registered before the program's constructors, so that it runs after the program's own handlers
  // and the destructors of its static objects. Registered after those of the loader and of a host
  // MPI, so that it runs before these, which finalize that MPI.
  watch_exit();
  watch_for_activity_requests();
  keep_memory_of_ranks(process_config());
}

bool awaits_init() {
  // Relaxed: orders nothing.
  return !is_elsewhere() && is_one_rank(process_config()) &&
         !is_taken.test(std::memory_order_relaxed);
}

void attach_calling_thread() {
  if (is_elsewhere()) return;
  if (!is_one_rank(process_config())) {
    if (!was_asked_at_start) fail_late_program(process_config());
    return;
  }
  // Relaxed: orders nothing; only the first caller continues.
  if (is_taken.test_and_set(std::memory_order_relaxed)) return;
  if (!is_exit_watched) watch_exit();
  Config own = process_config();
  own.process_mode = true;
  SORREL_ASSERT(job_of_process() == nullptr, "the process has a job already");
  // Kept until the process ends: exit handlers may still use the rank.
  auto* job = new Job(own, *new ProcessModeBody);
  set_job_of_process(job);
  watch_for_crashes();
  watch_for_end_requests();
  watch_for_activity_requests();
  report_activity_of(*job);
  watch_for_uncaught_exceptions();
  job->attach_calling_thread();
  set_main_thread_rank();
}

}  // namespace sorrel::runtime
