#include "runtime/activity_report.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <poll.h>
#include <pthread.h>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

#include "base/check.hpp"
#include "base/text.hpp"
#include "mpi/match/rank_state.hpp"
#include "os/default_action.hpp"
#include "os/own_process.hpp"
#include "os/write_all.hpp"
#include "report/activity_table.hpp"
#include "runtime/base/report_window.hpp"
#include "runtime/base/this_process.hpp"
#include "runtime/end/stall_watch.hpp"
#include "runtime/job.hpp"
#include "runtime/live/activity_answers.hpp"
#include "runtime/live/activity_description.hpp"
#include "runtime/live/activity_line.hpp"
#include "runtime/live/activity_rows.hpp"
#include "runtime/live/view_requests.hpp"
#include "runtime/live/view_text.hpp"
#include "runtime/own_mark.hpp"
#include "runtime/process_config.hpp"
#include "runtime/python/stack.hpp"
#include "runtime/reporting_launcher.hpp"
#include "symbols/backtrace.hpp"

namespace sorrel::runtime {

namespace {

/// For a reader of standard error that is slow; the rest of a report is dropped.
constexpr int reader_patience_ms = 1000;

// Relaxed: StallWatch::wake(), or the signal to the rank's thread, orders it.
std::atomic<bool> is_report_requested{false};

ReportingLauncher launcher;
// Set before the handler is installed.
bool has_handler = false;

void unblock_requests() {
  sigset_t requests;
  sigemptyset(&requests);
  sigaddset(&requests, activity_signal);
  pthread_sigmask(SIG_UNBLOCK, &requests, nullptr);
}

/// Neither waits for a reader nor allocates. For texts of less than 4 KiB.
void write_now(std::string_view text) {
  pollfd error_stream{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  if (poll(&error_stream, 1, 0) == 1) (void)!write(STDERR_FILENO, text.data(), text.size());
}

/// Safe in a signal handler.
void report_no_ranks(RankStage stage, std::uint32_t request) {
  if (request != 0) {
    launcher.answer(request, {});
  } else {
    write_now(stage == RankStage::after_ranks ? "sorrel: all ranks of this process have ended\n"
                                              : "sorrel: no rank of this process has started\n");
  }
}

/// Null: the process has no job.
const JobView* view_of_process() {
  const Job* job = job_of_process();
  return job == nullptr ? nullptr : &job->view();
}

const mpi::RankState& first_rank_of(const JobView& job) {
  SORREL_ASSERT(!job.worlds().empty(), "a job without ranks");
  mpi::ProcessWorld& world = *job.worlds().front();
  return world.rank(world.first_own_rank());
}

/// In the handler on the rank's thread.
PythonStack python_stack_of(const JobView& job,
                            const mpi::RankState& rank,
                            const ActivityDescription& description) {
  PythonStack python;
  if (description.python_state)
    python.take(job.index_of(rank), *description.python_state, PythonStack::depth_max);
  return python;
}

/// In a process of one rank, in the handler on the rank's thread.
void report_rank(const JobView& job, const mpi::RankState& rank) {
  const std::uint32_t request = launcher.new_request();
  const ActivityReader reader = request != 0 ? ActivityReader::launcher : ActivityReader::user;
  const ActivityDescription description = describe(job, rank);
  const PythonStack python = python_stack_of(job, rank, description);
  const ActivityLine line = activity_line(
      rank, description, job.body().memory_of(job.index_of(rank)), python.innermost(), reader);
  if (request != 0) {
    launcher.answer(request, line.text());
  } else {
    write_now(line.text());
  }
}

/// Gives every process that looks into this one the text of `text_for(space)`. Does not allocate.
template <class TextFor>
void answer_views(TextFor&& text_for) {
  while (const auto request = take_view_request()) {
    if (auto space = report::ViewSpace::open(*request))
      space->answer(request->slot, text_for(*space));
  }
}

report::ProcessView::Stage stage_of(RankStage stage) {
  return stage == RankStage::after_ranks ? report::ProcessView::Stage::after_ranks
                                         : report::ProcessView::Stage::before_ranks;
}

/// Safe in a signal handler.
void show_no_ranks(RankStage stage) {
  const auto text = view_text_without_ranks(stage_of(stage));
  answer_views([&](const report::ViewSpace& /*space*/) { return text.text(); });
}

/// In a process of one rank, in the handler on the rank's thread.
void show_rank(const JobView& job, const mpi::RankState& rank, const void* context) {
  const ActivityDescription description = describe(job, rank);
  const auto memory = job.body().memory_of(job.index_of(rank));
  const PythonStack python = python_stack_of(job, rank, description);
  RankStack stack;
  ShortViewText text;
  answer_views([&](const report::ViewSpace& space) {
    const bool has_stack = space.kind() == report::ViewKind::stacks;
    if (has_stack) stack.take(job, rank, context);
    text = view_text_of_rank(job, rank, description, memory, has_stack ? &stack : nullptr, python);
    return text.text();
  });
}

/// In a process of one rank, in the handler on the rank's thread.
void answer_for_rank(const JobView& job, const mpi::RankState& rank, const void* context) {
  if (is_report_requested.exchange(false, std::memory_order_relaxed)) report_rank(job, rank);
  show_rank(job, rank, context);
}

/// The signal's handler when a thread that may read the ranks is to answer a request.
void pass_on_request(const JobView& job, const void* context) {
  if (job.place_count() > 1) return StallWatch::wake();
  const mpi::RankState& rank = first_rank_of(job);
  SORREL_ASSERT(rank.worker != nullptr, "rank %d has no worker", rank.world_rank);
  const pid_t thread = rank.worker->thread_number();
  if (thread == gettid()) return answer_for_rank(job, rank, context);
  (void)interrupt_for_activity(thread);
}

[[nodiscard]] bool has_ranks(RankStage stage) {
  return stage == RankStage::open || stage == RankStage::reading || stage == RankStage::changing;
}

/// The signal's handler for a request of a report.
void request(const JobView* job, const void* context) {
  const RankStage now = rank_stage();
  if (job == nullptr || !has_ranks(now)) return report_no_ranks(now, launcher.new_request());
  is_report_requested.store(true, std::memory_order_relaxed);
  pass_on_request(*job, context);
}

/// The signal's handler for a request to look into the process.
void request_view(const report::ViewRequest& view, const JobView* job, const void* context) {
  add_view_request(view);
  const RankStage now = rank_stage();
  if (job == nullptr || !has_ranks(now)) return show_no_ranks(now);
  pass_on_request(*job, context);
}

void handle(int number, siginfo_t* info, void* context) {
  const int error = errno;
  const JobView* job = view_of_process();
  const bool is_interrupted = is_interruption(*info);
  const auto view = report::ViewRequest::of(*info);
  if (view && !os::is_forked_child()) {
    request_view(*view, job, context);
  } else if (os::is_forked_child() || (!is_interrupted && info->si_pid == getpid())) {
    // In a child, or sent by the program itself.
    os::take_default_action(number);
  } else if (is_interrupted && job != nullptr && job->place_count() > 1) {
    give_activity_answer(*job, context);
  } else if (is_interrupted && job != nullptr) {
    answer_for_rank(*job, first_rank_of(*job), context);
  } else if (info->si_pid != launcher.pid || launcher.has_request()) {
    // The launcher sends the signal again while it waits for answers: for programs with a handler.
    request(job, context);
  }
  errno = error;
}

std::string text_of_ranks_of(const JobView& job) {
  SORREL_ASSERT(!job.worlds().empty(), "a job without ranks");
  const mpi::World& first = *job.worlds().front();
  const std::int32_t last = job.worlds().back()->last_own_rank() - 1;
  if (job.own_rank_count() == first.size()) return text_of("%d ranks", first.size());
  return text_of("ranks %d-%d of %d", first.first_own_rank(), last, first.size());
}

/// On the reporting thread.
void write_report(const JobView& job) {
  const std::uint32_t request = launcher.new_request();
  const RankStage stage = begin_reading();
  if (stage != RankStage::open) {
    report_no_ranks(stage, request);
    return;
  }
  const ActivityAnswers answers = ask_for_activity(job);
  end_reading();
  const report::WaitTable table = activity_rows(job, answers);
  if (request != 0) {
    launcher.answer(request, table.text(launcher.space().size()));
  } else {
    // The end of the job waits for this thread.
    os::write_all(STDERR_FILENO,
                  report::activity_table(table, text_of_ranks_of(job), job.rank_count()),
                  reader_patience_ms);
  }
}

/// On the reporting thread.
void show_ranks(const JobView& job) {
  std::string text;
  answer_views([&](const report::ViewSpace& space) -> std::string_view {
    const RankStage stage = begin_reading();
    if (stage != RankStage::open) return text = view_text_without_ranks(stage_of(stage)).text();
    const bool has_stacks = space.kind() == report::ViewKind::stacks;
    const ActivityAnswers answers =
        ask_for_activity(job, has_stacks ? AnswerDetail::with_stacks : AnswerDetail::activity);
    end_reading();
    return text = view_text(job, answers, space.text_bytes_max());
  });
}

/// On the reporting thread, first without a request.
void answer_request() {
  SORREL_ASSERT(view_of_process() != nullptr, "a request in a process without a job");
  static bool takes_requests = false;
  if (!std::exchange(takes_requests, true)) {
    // Requests of other processes then interrupt no worker's thread.
    unblock_requests();
    mark_reporting_thread(gettid());
  }
  show_ranks(*view_of_process());
  if (is_report_requested.exchange(false, std::memory_order_relaxed))
    write_report(*view_of_process());
}

}  // namespace

void watch_for_activity_requests() {
  static bool is_done = false;
  if (std::exchange(is_done, true)) return;
  const Config& config = process_config();
  struct sigaction before{};
  if (sigaction(activity_signal, nullptr, &before) == 0 && before.sa_handler == SIG_DFL) {
    symbols::Backtrace::prepare();
    os::record_own_process();
    has_handler = true;
    launcher.memory = config.memory;
    launcher.process = config.process_in_memory;
    launcher.pid = config.launcher != 0 ? config.launcher : getppid();
    struct sigaction action{};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigaction(activity_signal, &action, nullptr);
    mark_request_handler(launch::RequestHandler::library);
  }
  if (config.blocks_requests) unblock_requests();
}

void announce_handler(bool is_own) {
  if (!has_handler) return;
  launcher.set_handles_requests(is_own ? 1 : 0);
  mark_request_handler(is_own ? launch::RequestHandler::library : launch::RequestHandler::program);
}

bool is_of_runtime(const siginfo_t& info) {
  return is_interruption(info) || report::ViewRequest::of(info).has_value();
}

void report_activity_of(Job& job) {
  if (job.view().place_count() > 1) prepare_activity_answers(job.view());
  set_report_answer(answer_request);
}

}  // namespace sorrel::runtime
