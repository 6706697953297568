#include "runtime/activity_report.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <gnu/libc-version.h>
#include <poll.h>
#include <signal.h>
#include <span>
#include <string>
#include <string_view>
#include <sys/auxv.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/fixed_text.hpp"
#include "base/text.hpp"
#include "mpi/match/rank_state.hpp"
#include "os/clock.hpp"
#include "os/futex.hpp"
#include "os/kernel_wait.hpp"
#include "os/thread.hpp"
#include "runtime/activity_table.hpp"
#include "runtime/backtrace.hpp"
#include "runtime/process_config.hpp"
#include "runtime/rank_activity.hpp"
#include "runtime/source_lines.hpp"
#include "runtime/stall_watch.hpp"

namespace sorrel::runtime {

namespace {

constexpr int request_signal = SIGUSR1;
/// Longest wait for the workers' threads.
constexpr std::int64_t answer_ns_max = 500'000'000;
constexpr std::int64_t poll_ns = 50'000;

enum Stage : std::uint32_t { before_ranks, open, reading, after_ranks };

/// The place that a rank runs at.
struct RunningAt {
  const void* place = nullptr;
  /// In a call of this library.
  bool is_in_call = false;
  /// In a call of the C library: the innermost function.
  const void* c_function = nullptr;
};

struct Description {
  RankActivity activity;
  RunningAt running;
  /// The wait outside of MPI, during which its worker runs other ranks.
  const program::OutsideWait* outside = nullptr;
};

enum class Answer : std::uint32_t { none, requested, being_given, given };

/// A thread that runs workers. Relaxed where nothing else is said.
struct Respondent {
  std::atomic<pid_t> thread{0};
  // Release by each side, after it has written; acquire by the other.
  std::atomic<Answer> answer{Answer::none};
};

// Set before the handler is installed.
pid_t watched_process = 0;
/// Distinguishes interruptions by the reporting thread.
const char interruption_tag = 0;

// Release by the first thread, acquire by handlers: what follows is made.
std::atomic<Job*> reported_job{nullptr};
// A Stage. Acquire and release: the ranks exist.
std::atomic<std::uint32_t> stage{before_ranks};

// For processes of several ranks. Made before the first rank runs; never destroyed, as handlers
// run as long as the process.
std::vector<Respondent>& respondents = *new std::vector<Respondent>;
// By index among the ranks of the process: of the reporting thread, and of a respondent while it
// gives its answer.
std::vector<Description>& descriptions = *new std::vector<Description>;
// Relaxed: StallWatch::wake() orders it.
std::atomic<bool> is_report_requested{false};

/// The launcher, which makes one report of those of its processes.
struct Parent {
  // Set before the handler is installed.
  core::JobMemory* memory = nullptr;
  std::uint32_t process = 0;
  pid_t pid = 0;
  // Relaxed: written by the only thread that answers.
  std::atomic<std::uint32_t> answered{0};

  void set_handles_requests(std::uint32_t value) const {
    // Relaxed: a signal sent meanwhile may be either's.
    if (memory != nullptr)
      memory->process(process).handles_requests.store(value, std::memory_order_relaxed);
  }

  /// The number of a request that has not been answered; 0: none, the process itself reports.
  [[nodiscard]] std::uint32_t new_request() {
    if (memory == nullptr) return 0;
    const std::uint32_t request = memory->requested_activity();
    if (request == answered.load(std::memory_order_relaxed)) return 0;
    answered.store(request, std::memory_order_relaxed);
    return request;
  }

  [[nodiscard]] bool has_request() const {
    return memory == nullptr ||
           memory->requested_activity() != answered.load(std::memory_order_relaxed);
  }

  [[nodiscard]] std::span<char> space() const { return memory->activity_space(process); }

  void answer(std::uint32_t request, std::string_view text) const {
    const std::size_t bytes = std::min(text.size(), space().size());
    std::copy_n(text.begin(), bytes, space().begin());
    memory->answer_activity(process, request, bytes);
  }
};

Parent parent;

/// Neither waits for a reader nor allocates. For texts of less than 4 KiB.
void write_now(std::string_view text) {
  pollfd error_stream{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  if (poll(&error_stream, 1, 0) == 1) (void)!write(STDERR_FILENO, text.data(), text.size());
}

void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// Safe in a signal handler.
void report_no_ranks(std::uint32_t at_stage, std::uint32_t request) {
  if (request != 0) {
    parent.answer(request, {});
  } else {
    write_now(at_stage == after_ranks ? "sorrel: all ranks of this process have ended\n"
                                      : "sorrel: no rank of this process has started\n");
  }
}

core::Scheduler& scheduler_of(const Job& job) {
  return job.worlds().front()->scheduler();
}

const mpi::RankState& first_rank_of(const Job& job) {
  mpi::ProcessWorld& world = *job.worlds().front();
  return world.rank(world.first_own_rank());
}

bool is_of_this_library(const void* address) {
  return are_in_one_file(address, reinterpret_cast<const void*>(&watch_for_activity_requests));
}

bool is_of_c_library(const void* address) {
  return are_in_one_file(address, reinterpret_cast<const void*>(&gnu_get_libc_version));
}

/// Functions of the kernel in the process.
bool is_of_kernel(const void* address) {
  const unsigned long begin = getauxval(AT_SYSINFO_EHDR);
  return begin != 0 && are_in_one_file(address, reinterpret_cast<const void*>(begin));
}

/// Whether an address lies in code of the rank; for the only rank of a process, whether it lies
/// neither in this library nor in the system's.
bool is_code_of(const Job& job, const mpi::RankState& rank, const void* address) {
  if (job.own_rank_count() > 1) return job.rank_of_code(address) == rank.world_rank;
  return !is_of_this_library(address) && !is_of_c_library(address) && !is_of_kernel(address);
}

/// Of the running rank, in a signal handler that has interrupted it.
RunningAt running_at(const Job& job, const mpi::RankState& rank) {
  Backtrace backtrace;
  backtrace.take_of_interruption();
  const auto addresses = backtrace.addresses();
  const auto found = std::ranges::find_if(
      addresses, [&](const void* address) { return is_code_of(job, rank, address); });
  RunningAt at{.place = found == addresses.end() ? nullptr : *found};
  if (addresses.empty()) return at;
  at.is_in_call = is_of_this_library(addresses.front());
  // While the worker switches to the rank, the calls are those of another one.
  if (at.is_in_call && at.place == nullptr) at.place = rank.call_site;
  if (is_of_c_library(addresses.front())) at.c_function = addresses.front();
  return at;
}

/// In a signal handler on the thread of the rank's worker.
Description describe(const Job& job, const mpi::RankState& rank) {
  Description description{
      .activity = activity_of(rank), .running = {}, .outside = job.body().outside_wait(rank)};
  const bool is_interrupted = description.activity.state == core::FiberState::running &&
                              core::Worker::current() == rank.worker;
  if (is_interrupted) description.running = running_at(job, rank);
  return description;
}

/// Calls `visit(rank)` for each rank of the worker. Safe in a signal handler.
template <class Visit>
void for_each_rank(const Job& job, const core::Worker& worker, Visit&& visit) {
  for (const auto& world : job.worlds()) {
    if (!world->has_worker(worker)) continue;
    const mpi::Endpoint endpoint = world->endpoint_of(worker);
    const std::int32_t last = world->layout().last_rank(endpoint);
    for (std::int32_t i = world->layout().first_rank(endpoint); i < last; ++i)
      visit(std::as_const(world->rank(i)));
  }
}

/// In the handler of a worker's thread, which the reporting thread has interrupted.
void give_answer(const Job& job) {
  const pid_t self = gettid();
  const auto own = std::ranges::find_if(respondents, [&](const Respondent& respondent) {
    return respondent.thread.load(std::memory_order_relaxed) == self;
  });
  Answer expected = Answer::requested;
  if (own == respondents.end() || !own->answer.compare_exchange_strong(
                                      expected, Answer::being_given, std::memory_order_acquire))
    return;
  core::Scheduler& scheduler = scheduler_of(job);
  for (std::uint32_t i = 0; i < scheduler.worker_count(); ++i) {
    const core::Worker& worker = scheduler.worker(i);
    if (worker.thread_number() != self) continue;
    for_each_rank(job, worker, [&](const mpi::RankState& rank) {
      descriptions[job.index_of(rank)] = describe(job, rank);
    });
  }
  own->answer.store(Answer::given, std::memory_order_release);
}

/// Any thread, and signal handlers.
bool interrupt(pid_t thread) {
  return os::interrupt_thread(thread, request_signal, &interruption_tag);
}

using Row = FixedText<1000>;

/// The parts of a line about the only rank of a process.
struct LineParts {
  const RankActivity& activity;
  std::string_view state;
  std::string_view call;   ///< Empty: none.
  std::string_view place;  ///< Empty: not known.
};

/// For the launcher, as WaitTable::text().
void add_fields(Row& row, const mpi::RankState& rank, const LineParts& parts) {
  const RankActivity& activity = parts.activity;
  row.add("rank\t").add(rank.world_rank).add("-").add(rank.world_rank).add(",\t");
  row.add(parts.state).add("\t").add(parts.call.empty() ? "-" : parts.call).add("\t");
  row.add(peer_of(activity).text()).add("\t").add(tag_of(activity).text()).add("\t");
  row.add(activity.comm.is_empty() ? "-" : activity.comm.text()).add("\t");
  row.add(parts.place.empty() ? "-" : parts.place).add("\t");
  activity.awaited ? row.add(*activity.awaited) : row.add("-");
  row.add("\t");
  activity.collective ? row.add(*activity.collective) : row.add("-");
  row.add("\n");
}

/// For the user.
void add_sentence(Row& row, const mpi::RankState& rank, const LineParts& parts) {
  const RankActivity& activity = parts.activity;
  row.add("sorrel: rank ").add(rank.world_rank).add(" ").add(parts.state);
  if (!parts.call.empty()) row.add(" in ").add(parts.call);
  if (activity.peer != MPI_UNDEFINED) row.add(" ").add(peer_of(activity).text());
  if (activity.tag != MPI_UNDEFINED) row.add(", tag ").add(tag_of(activity).text());
  if (!activity.comm.is_empty()) row.add(", ").add(activity.comm.text());
  if (!parts.place.empty()) row.add(", at ").add(parts.place);
  row.add("\n");
}

/// "read" of "__GI___libc_read (libc.so.6+0x1234)".
std::string_view plain_name(std::string_view function) {
  function = function.substr(0, function.find(' '));
  for (const std::string_view prefix : {"__GI_", "__", "libc_"}) {
    if (function.starts_with(prefix)) function.remove_prefix(prefix.size());
  }
  return function;
}

/// In a process of one rank, in the handler on the rank's thread.
void report_rank(const Job& job, const mpi::RankState& rank) {
  const std::uint32_t request = parent.new_request();
  const Description description = describe(job, rank);
  const bool is_running = description.activity.state == core::FiberState::running;
  const std::array<const void*, 2> addresses = {
      is_running ? description.running.place : description.activity.call_site,
      description.running.c_function};
  std::array<SourceText, 2> texts{};
  describe_source(addresses, texts);
  LineParts parts{.activity = description.activity,
                  .state = is_running ? state_running : state_waiting,
                  .call = description.activity.call,
                  .place = texts[0].data()};
  if (description.outside != nullptr) {
    parts.call = description.outside->call;
  } else if (is_running && !description.running.is_in_call) {
    parts.call = plain_name(texts[1].data());
  }
  Row row;
  if (request != 0) {
    add_fields(row, rank, parts);
    parent.answer(request, row.text());
  } else {
    add_sentence(row, rank, parts);
    write_now(row.text());
  }
}

/// The signal's handler for a request.
void request(Job* job) {
  const std::uint32_t now = stage.load(std::memory_order_acquire);
  const bool has_ranks = now == open || now == reading;
  if (job == nullptr || !has_ranks) return report_no_ranks(now, parent.new_request());
  if (job->own_rank_count() > 1) {
    is_report_requested.store(true, std::memory_order_relaxed);
    StallWatch::wake();
    return;
  }
  const mpi::RankState& rank = first_rank_of(*job);
  const pid_t thread = rank.worker->thread_number();
  if (thread == gettid()) return report_rank(*job, rank);
  (void)interrupt(thread);
}

void die_of(int number) {
  signal(number, SIG_DFL);
  raise(number);
}

void handle(int number, siginfo_t* info, void* /*context*/) {
  const int error = errno;
  Job* job = reported_job.load(std::memory_order_acquire);
  const bool is_interruption =
      info->si_code == SI_QUEUE && info->si_value.sival_ptr == &interruption_tag;
  if (getpid() != watched_process || (!is_interruption && info->si_pid == getpid())) {
    // Of a child, or sent by the program itself.
    die_of(number);
  } else if (is_interruption && job != nullptr && job->own_rank_count() > 1) {
    give_answer(*job);
  } else if (is_interruption || info->si_pid != parent.pid || parent.has_request()) {
    // The launcher sends the signal again while it waits for answers: for programs with a handler.
    request(job);
  }
  errno = error;
}

/// What the reporting thread knows of a worker's thread.
struct WorkerView {
  pid_t thread = 0;
  /// The system call in which the program sleeps; empty: none.
  std::string call;
};

WorkerView view_of(const core::Worker& worker, bool& may_interrupt) {
  WorkerView view{.thread = worker.thread_number(), .call = {}};
  may_interrupt = view.thread != 0;
  if (worker.seems_asleep() || !may_interrupt || !os::is_in_kernel_wait(view.thread)) return view;
  os::KernelWait wait = os::kernel_wait_of(view.thread);
  may_interrupt = wait.is_restarted;
  view.call = std::move(wait.call);
  return view;
}

/// Requests descriptions from the threads that may be interrupted.
std::vector<WorkerView> request_answers(core::Scheduler& scheduler) {
  std::vector<WorkerView> views;
  for (std::uint32_t i = 0; i < scheduler.worker_count(); ++i) {
    bool may_interrupt = false;
    views.push_back(view_of(scheduler.worker(i), may_interrupt));
    const pid_t thread = views.back().thread;
    const bool is_requested = std::any_of(views.begin(), views.end() - 1, [&](const auto& earlier) {
      return earlier.thread == thread;
    });
    if (!may_interrupt || is_requested) continue;
    respondents[i].thread.store(thread, std::memory_order_relaxed);
    respondents[i].answer.store(Answer::requested, std::memory_order_release);
    if (!interrupt(thread)) respondents[i].answer.store(Answer::none, std::memory_order_relaxed);
  }
  return views;
}

/// From the return on, no thread writes a description.
void await_answers() {
  const std::int64_t give_up_ns = os::monotonic_ns() + answer_ns_max;
  for (Respondent& respondent : respondents) {
    for (;;) {
      Answer answer = respondent.answer.load(std::memory_order_acquire);
      if (answer == Answer::none || answer == Answer::given) break;
      // A thread that has begun to answer needs no help to continue.
      if (answer == Answer::requested && os::monotonic_ns() >= give_up_ns &&
          respondent.answer.compare_exchange_strong(answer, Answer::none,
                                                    std::memory_order_acquire))
        break;
      os::sleep_ns(poll_ns);
    }
    respondent.answer.store(Answer::none, std::memory_order_relaxed);
    respondent.thread.store(0, std::memory_order_relaxed);
  }
}

/// Fills `descriptions`.
std::vector<WorkerView> read_ranks(const Job& job) {
  descriptions.resize(static_cast<std::size_t>(job.own_rank_count()));
  core::Scheduler& scheduler = scheduler_of(job);
  for (std::uint32_t i = 0; i < scheduler.worker_count(); ++i) {
    for_each_rank(job, scheduler.worker(i), [&](const mpi::RankState& rank) {
      descriptions[job.index_of(rank)] = {
          .activity = outline_of(rank), .running = {}, .outside = job.body().outside_wait(rank)};
    });
  }
  std::vector<WorkerView> views = request_answers(scheduler);
  await_answers();
  return views;
}

std::string on_worker(const char* state, const core::Worker& worker) {
  return text_of("%s on worker %u", state, worker.id());
}

/// Completes a row except for its place, which is returned.
const void* describe_running(RankWait& row,
                             const Description& description,
                             const WorkerView& view,
                             const core::Worker& worker) {
  if (!view.call.empty()) {
    row.state = on_worker(state_blocked, worker);
    row.call = view.call;
  } else {
    row.state = on_worker(state_running, worker);
    if (!description.running.is_in_call) row.call = "-";
  }
  return description.running.place;
}

const void* describe_waiting(RankWait& row, const Description& description) {
  row.state = state_waiting;
  if (description.outside == nullptr) return description.activity.call_site;
  row.call = description.outside->call;
  return nullptr;
}

const void* describe_state(RankWait& row,
                           const Description& description,
                           const WorkerView& view,
                           const core::Worker& worker) {
  switch (description.activity.state) {
    case core::FiberState::running:
      return describe_running(row, description, view, worker);
    case core::FiberState::ready:
      row.state = on_worker(state_ready, worker);
      return description.activity.call_site;
    case core::FiberState::waiting:
      return describe_waiting(row, description);
    case core::FiberState::ended:
      break;
  }
  row.state = state_ended;
  row.call = "-";
  return nullptr;
}

std::string text_of_ranks_of(const Job& job) {
  const mpi::World& first = *job.worlds().front();
  const std::int32_t last = job.worlds().back()->last_own_rank() - 1;
  if (job.own_rank_count() == first.size()) return text_of("%d ranks", first.size());
  return text_of("ranks %d-%d of %d", first.first_own_rank(), last, first.size());
}

WaitTable table_of(const Job& job, const std::vector<WorkerView>& views) {
  std::vector<RankWait> rows;
  std::vector<const void*> places;
  for (const Description& description : descriptions) {
    const std::uint32_t worker = description.activity.worker;
    RankWait row = description_of(description.activity);
    places.push_back(
        describe_state(row, description, views[worker], scheduler_of(job).worker(worker)));
    if (row.call.empty()) row.call = "-";
    rows.push_back(std::move(row));
  }
  const std::vector<std::string> texts = source_lines(places);
  WaitTable table;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].place = texts[i];
    table.add(std::move(rows[i]));
  }
  return table;
}

/// On the reporting thread.
void write_report(const Job& job) {
  const std::uint32_t request = parent.new_request();
  std::uint32_t expected = open;
  if (!stage.compare_exchange_strong(expected, reading, std::memory_order_acq_rel)) {
    report_no_ranks(expected, request);
    return;
  }
  const std::vector<WorkerView> views = read_ranks(job);
  stage.store(open, std::memory_order_release);
  os::futex_wake_all(stage);
  const WaitTable table = table_of(job, views);
  descriptions = {};
  if (request != 0) {
    parent.answer(request, table.text(parent.space().size()));
  } else {
    write_all(activity_table(table, text_of_ranks_of(job), job.worlds().front()->size()));
  }
}

}  // namespace

void watch_for_activity_requests() {
  static bool is_done = false;
  if (std::exchange(is_done, true)) return;
  const Config& config = process_config();
  struct sigaction before{};
  if (sigaction(request_signal, nullptr, &before) == 0 && before.sa_handler == SIG_DFL) {
    Backtrace::prepare();
    watched_process = getpid();
    parent.memory = config.memory;
    parent.process = config.process_in_memory;
    parent.pid = config.launcher != 0 ? config.launcher : getppid();
    struct sigaction action{};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigaction(request_signal, &action, nullptr);
  }
  if (!config.blocks_requests) return;
  sigset_t requests;
  sigemptyset(&requests);
  sigaddset(&requests, request_signal);
  pthread_sigmask(SIG_UNBLOCK, &requests, nullptr);
}

void announce_handler(bool is_own) {
  if (watched_process != 0) parent.set_handles_requests(is_own ? 1 : 0);
}

void report_activity_of(Job& job) {
  if (job.own_rank_count() > 1)
    respondents = std::vector<Respondent>(scheduler_of(job).worker_count());
  reported_job.store(&job, std::memory_order_release);
}

void answer_activity_request() {
  const Job* job = reported_job.load(std::memory_order_acquire);
  if (job != nullptr && is_report_requested.exchange(false, std::memory_order_relaxed))
    write_report(*job);
}

void begin_reports_of(const Job& job) {
  if (reported_job.load(std::memory_order_acquire) == &job)
    stage.store(open, std::memory_order_release);
}

void end_reports_of(const Job& job) {
  if (reported_job.load(std::memory_order_acquire) != &job) return;
  for (;;) {
    std::uint32_t now = stage.load(std::memory_order_acquire);
    if (now == after_ranks) return;
    if (now == reading) {
      os::futex_wait(stage, reading, -1);
    } else if (stage.compare_exchange_strong(now, after_ranks, std::memory_order_acq_rel)) {
      return;
    }
  }
}

}  // namespace sorrel::runtime
