#include "runtime/live/activity_answers.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <unistd.h>
#include <utility>

#include "base/check.hpp"
#include "core/scheduler.hpp"
#include "os/clock.hpp"
#include "os/kernel_wait.hpp"
#include "os/thread.hpp"
#include "runtime/python/lines.hpp"

namespace sorrel::runtime {

namespace {

/// Longest wait for the workers' threads.
constexpr std::int64_t answer_ns_max = 500'000'000;
constexpr std::int64_t poll_ns = 50'000;

enum class Answer : std::uint32_t { none, requested, being_given, given };

/// A thread that runs workers. Relaxed where nothing else is said.
struct Respondent {
  std::atomic<pid_t> thread{0};
  // Release by each side, after it has written; acquire by the other.
  std::atomic<Answer> answer{Answer::none};
};

/// Distinguishes interruptions by the requester.
const char interruption_tag = 0;

// Made before the first rank runs; never destroyed, as handlers run as long as the process.
std::vector<Respondent>& respondents = *new std::vector<Respondent>;
// By JobView::index_of(): of the requester, and of a respondent while it gives its answer.
std::vector<ActivityDescription>& descriptions = *new std::vector<ActivityDescription>;

/// By JobView::index_of(), too.
struct Stacks {
  std::vector<RankStack> calls;     ///< Empty: not wanted.
  std::vector<PythonStack> python;  ///< Empty: the process runs no Python.
};

Stacks& stacks = *new Stacks;

/// Whether the system makes a call again that the handler has interrupted. A rank's own handler may
/// have other flags.
bool restarts_calls() {
  struct sigaction action{};
  return sigaction(activity_signal, nullptr, &action) == 0 && (action.sa_flags & SA_RESTART) != 0;
}

WorkerView view_of(const core::Worker& worker, bool& may_interrupt) {
  WorkerView view{.thread = worker.thread_number(), .call = {}};
  may_interrupt = view.thread != 0;
  if (worker.seems_asleep() || !may_interrupt || !os::is_in_kernel_wait(view.thread)) return view;
  os::KernelWait wait = os::kernel_wait_of(view.thread);
  may_interrupt = wait.is_restarted && restarts_calls();
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
    if (!interrupt_for_activity(thread))
      respondents[i].answer.store(Answer::none, std::memory_order_relaxed);
  }
  return views;
}

/// The part of the ranks that are in the process.
template <class T>
std::vector<T> part_of(std::vector<T> all, std::size_t first, std::size_t count) {
  if (all.size() <= count) return all;
  SORREL_CHECK(first + count <= all.size(), "%zu ranks behind %zu, of %zu", count, first,
               all.size());
  const auto begin = std::make_move_iterator(all.begin() + static_cast<std::ptrdiff_t>(first));
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
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

}  // namespace

void prepare_activity_answers(const JobView& job) {
  respondents = std::vector<Respondent>(job.scheduler().worker_count());
}

bool interrupt_for_activity(pid_t thread) {
  return os::interrupt_thread(thread, activity_signal, &interruption_tag);
}

bool is_interruption(const siginfo_t& info) {
  return info.si_code == SI_QUEUE && info.si_value.sival_ptr == &interruption_tag;
}

void give_activity_answer(const JobView& job, const void* context) {
  const pid_t self = gettid();
  const auto own = std::ranges::find_if(respondents, [&](const Respondent& respondent) {
    return respondent.thread.load(std::memory_order_relaxed) == self;
  });
  Answer expected = Answer::requested;
  if (own == respondents.end() || !own->answer.compare_exchange_strong(
                                      expected, Answer::being_given, std::memory_order_acquire))
    return;
  core::Scheduler& scheduler = job.scheduler();
  for (std::uint32_t i = 0; i < scheduler.worker_count(); ++i) {
    const core::Worker& worker = scheduler.worker(i);
    if (worker.thread_number() != self) continue;
    for_each_rank(job, worker, [&](const mpi::RankState& rank) {
      const std::size_t index = job.index_of(rank);
      SORREL_CHECK(index < descriptions.size(), "rank %d of %zu", rank.world_rank,
                   descriptions.size());
      descriptions[index] = describe(job, rank);
      if (!stacks.calls.empty()) stacks.calls[index].take(job, rank, context);
      const auto python_state = descriptions[index].python_state;
      if (!stacks.python.empty() && python_state)
        stacks.python[index].take(index, *python_state,
                                  stacks.calls.empty() ? 1 : PythonStack::depth_max);
    });
  }
  own->answer.store(Answer::given, std::memory_order_release);
}

ActivityAnswers ask_for_activity(const JobView& job, AnswerDetail detail) {
  const auto place_count = static_cast<std::size_t>(job.place_count());
  SORREL_ASSERT(respondents.size() == job.scheduler().worker_count(),
                "%zu respondents of %u workers", respondents.size(),
                job.scheduler().worker_count());
  descriptions.resize(place_count);
  if (detail == AnswerDetail::with_stacks) stacks.calls.resize(place_count);
  if (has_python()) stacks.python.resize(place_count);
  core::Scheduler& scheduler = job.scheduler();
  for (std::uint32_t i = 0; i < scheduler.worker_count(); ++i) {
    for_each_rank(job, scheduler.worker(i), [&](const mpi::RankState& rank) {
      descriptions[job.index_of(rank)] = outline(job, rank);
    });
  }
  std::vector<WorkerView> views = request_answers(scheduler);
  await_answers();
  const std::size_t first = job.first_index();
  SORREL_ASSERT(descriptions.size() == place_count, "%zu descriptions of %zu ranks",
                descriptions.size(), place_count);
  const auto count = static_cast<std::size_t>(job.own_rank_count());
  return {.ranks = part_of(std::exchange(descriptions, {}), first, count),
          .workers = std::move(views),
          .stacks = part_of(std::exchange(stacks.calls, {}), first, count),
          .python = part_of(std::exchange(stacks.python, {}), first, count)};
}

}  // namespace sorrel::runtime
