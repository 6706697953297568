#include "runtime/end/stall_watch.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <unistd.h>
#include <utility>

#include "base/check.hpp"
#include "base/text.hpp"
#include "os/clock.hpp"
#include "os/futex.hpp"
#include "os/kernel_wait.hpp"
#include "os/thread.hpp"
#include "runtime/base/report_window.hpp"
#include "runtime/end/deadlock_watch.hpp"
#include "runtime/live/rank_activity.hpp"

namespace sorrel::runtime {

namespace {

constexpr std::int64_t sample_period_ns = 1'000'000'000;
/// A sample this late is ignored: the whole process was stopped.
constexpr std::int64_t sample_period_ns_max = 2'500'000'000;
/// Number of consecutive samples that must agree.
constexpr int agreeing_samples_min = 5;
/// Limit of reports in a job whose ranks all wait outside of MPI.
constexpr std::size_t report_count_max = 8;

// On which the thread sleeps. Outlives every watch, because a signal may arrive at any time.
std::atomic<std::uint32_t> wake_count{0};

/// Reads a value that another thread may be changing.
template <class T>
[[gnu::no_sanitize("thread")]] T read_racy(const T& value) {
  return __atomic_load_n(&value, __ATOMIC_RELAXED);
}

void write_line(const std::string& line) {
  (void)!write(STDERR_FILENO, line.data(), line.size());
}

std::string counted(std::size_t count, const char* noun) {
  return text_of("%zu %s%s", count, noun, count == 1 ? "" : "s");
}

}  // namespace

struct StallWatch::Census {
  std::size_t waits_in_mpi = 0;
  /// By the call that they wait in.
  std::map<std::string_view, std::size_t> calls;
  /// In an OutsideWait that does not end by itself.
  std::vector<const mpi::RankState*> outside;
  /// In the kernel.
  std::vector<const mpi::RankState*> in_kernel;
  /// Whether a rank runs or will run without another rank's help.
  bool is_alive = false;
};

StallWatch::StallWatch(core::Scheduler& scheduler,
                       const Worlds& worlds,
                       const BodyView& body,
                       const Options& options)
    : scheduler_(scheduler),
      worlds_(worlds),
      body_(body),
      options_(options),
      workers_(scheduler.worker_count()) {
  if (!os::start_background_thread(thread_main, this)) has_ended_.store(1);
}

StallWatch::~StallWatch() {
  is_stopping_.store(true, std::memory_order_relaxed);
  wake();
  // Acquire, pairs with thread_main(): the thread no longer touches this object.
  while (has_ended_.load(std::memory_order_acquire) == 0)
    os::futex_wait(has_ended_, 0, sample_period_ns);
}

void StallWatch::wake() {
  // Release, pairs with thread_main(): what the thread is to do is written before.
  wake_count.fetch_add(1, std::memory_order_release);
  os::futex_wake_all(wake_count);
}

void* StallWatch::thread_main(void* argument) {
  StallWatch& self = *static_cast<StallWatch*>(argument);
  std::int64_t sampled_ns = os::monotonic_ns();
  for (;;) {
    const std::uint32_t seen = wake_count.load(std::memory_order_acquire);
    self.options_.on_wake();
    if (self.is_stopping_.load(std::memory_order_relaxed)) break;
    const std::int64_t left_ns = sampled_ns + sample_period_ns - os::monotonic_ns();
    if (left_ns > 0) {
      os::futex_wait(wake_count, seen, left_ns);
      continue;
    }
    const std::int64_t now_ns = os::monotonic_ns();
    self.sample(now_ns - sampled_ns);
    self.sample_deadlocks();
    sampled_ns = now_ns;
  }
  // Release, pairs with the destructor. The waiter may be gone after the store; waking its address
  // then does no harm.
  std::atomic<std::uint32_t>& has_ended = self.has_ended_;
  has_ended.store(1, std::memory_order_release);
  os::futex_wake_one(has_ended);
  return nullptr;
}

void StallWatch::sample(std::int64_t elapsed_ns) {
  SORREL_ASSERT(workers_.size() == scheduler_.worker_count(), "%zu of %u workers", workers_.size(),
                scheduler_.worker_count());
  bool is_worth_a_census = program::OutsideWaitMark::take_any();
  for (std::uint32_t i = 0; i < workers_.size(); ++i) {
    const Activity before = workers_[i].activity;
    Watched& watched = workers_[i];
    watched.activity = activity_of(scheduler_.worker(i), watched, elapsed_ns);
    if (elapsed_ns > sample_period_ns_max) watched.activity = Activity::none;
    if (watched.activity != before) watched.sample_count = watched.blocked_count = 0;
    is_worth_a_census |= watched.activity == Activity::kernel ||
                         (options_.is_verbose && watched.activity == Activity::compute);
  }
  if (!is_worth_a_census) {
    quiet_count_ = 0;
    return;
  }
  // The ranks of a worker end before the watch does.
  if (begin_reading() != RankStage::open) return;
  const Census census = count_ranks();
  for (std::uint32_t i = 0; i < workers_.size(); ++i)
    check_worker(i, workers_[i]);
  check_process(census);
  end_reading();
}

void StallWatch::sample_deadlocks() {
  if (options_.deadlocks == nullptr || begin_reading() != RankStage::open) return;
  options_.deadlocks->sample();
  end_reading();
}

StallWatch::Activity StallWatch::activity_of(core::Worker& worker,
                                             Watched& watched,
                                             std::int64_t elapsed_ns) {
  if (worker.seems_asleep()) return Activity::none;
  const int thread = worker.thread_number();
  const bool is_new = watched.thread != thread || watched.times == nullptr;
  if (is_new) {
    watched.thread = thread;
    watched.times = std::make_unique<os::SchedStat>(thread);
  }
  const auto times = watched.times->read();
  if (!times) return Activity::none;
  const std::int64_t ran_ns = times->run_ns - std::exchange(watched.run_ns, times->run_ns);
  const std::int64_t delay_ns = times->delay_ns - std::exchange(watched.delay_ns, times->delay_ns);
  if (is_new) return Activity::other;
  if (ran_ns == 0) return os::is_in_kernel_wait(thread) ? Activity::kernel : Activity::other;
  return ran_ns + delay_ns > elapsed_ns * 3 / 4 ? Activity::compute : Activity::other;
}

StallWatch::Census StallWatch::count_ranks() {
  Census census;
  std::vector<const mpi::RankState*> ran;
  for (Watched& watched : workers_) {
    ran.push_back(watched.rank);
    watched.rank = nullptr;
    watched.ready_count = 0;
    watched.has_outside_wait = false;
  }
  for (const auto& world : worlds_) {
    world->for_each_rank([&](const mpi::RankState& rank) { count(rank, census); });
  }
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    Watched& watched = workers_[i];
    if (watched.rank != ran[i]) watched.sample_count = watched.blocked_count = 0;
    const bool is_awake =
        watched.activity == Activity::compute || watched.activity == Activity::other;
    census.is_alive |= is_awake && !watched.has_outside_wait;
  }
  return census;
}

void StallWatch::count(const mpi::RankState& rank, Census& census) {
  const core::FiberState real_state = read_racy(rank.fiber.state);
  // A rank that is lent occupies the worker that runs it.
  const core::Worker* borrower = real_state == core::FiberState::lent ? borrower_of(rank) : nullptr;
  const core::FiberState state =
      real_state == core::FiberState::lent ? core::FiberState::running : real_state;
  const std::uint32_t index = (borrower != nullptr ? borrower : rank.worker)->index();
  SORREL_CHECK(index < workers_.size(), "rank %d on worker %u of %zu", rank.world_rank, index,
               workers_.size());
  Watched& watched = workers_[index];
  if (state == core::FiberState::ended) return;
  if (rank.fiber.is_guest) {
    // It has threads of its own, and holds up no other rank.
    census.is_alive = true;
    return;
  }
  const program::OutsideWait* outside = body_.outside_state(rank).wait;
  if (state == core::FiberState::running) watched.rank = &rank;
  if (outside != nullptr && outside->is_endless) {
    watched.has_outside_wait = true;
    census.outside.push_back(&rank);
  } else if (state == core::FiberState::running && watched.activity == Activity::kernel) {
    census.in_kernel.push_back(&rank);
  } else if (state == core::FiberState::waiting && outside == nullptr) {
    ++census.waits_in_mpi;
    ++census.calls[read_racy(rank.fiber.call)];
  } else {
    // A rank that is ready on a worker that sleeps in the kernel cannot run either.
    watched.ready_count += state == core::FiberState::ready ? 1 : 0;
    census.is_alive |= watched.activity != Activity::kernel;
  }
}

/// Whether the rank that occupies the worker keeps other ranks from running.
void StallWatch::check_worker(std::uint32_t index, Watched& watched) {
  const bool counts =
      watched.rank != nullptr &&
      (watched.activity == Activity::kernel ||
       (options_.is_verbose && watched.activity == Activity::compute && !watched.has_outside_wait));
  if (!counts) {
    watched.sample_count = watched.blocked_count = 0;
    return;
  }
  ++watched.sample_count;
  const bool holds_up = watched.ready_count > 0 || (watched.activity == Activity::kernel &&
                                                    scheduler_.worker(index).seems_to_have_mail());
  watched.blocked_count = holds_up ? watched.blocked_count + 1 : 0;
  if (watched.blocked_count >= agreeing_samples_min && is_first_report_of(*watched.rank))
    report_blocked(watched);
}

/// Whether every rank waits, and at least one of them for a rank that waits outside of MPI.
void StallWatch::check_process(const Census& census) {
  const bool is_quiet = !census.is_alive && census.waits_in_mpi > 0 &&
                        census.outside.size() + census.in_kernel.size() > 0;
  quiet_count_ = is_quiet ? quiet_count_ + 1 : 0;
  if (quiet_count_ < agreeing_samples_min) return;
  quiet_count_ = 0;
  SORREL_ASSERT(!census.outside.empty() || !census.in_kernel.empty(), "no rank waits outside");
  report_awaited(census);
}

bool StallWatch::is_first_report_of(const mpi::RankState& rank) {
  if (reported_.size() >= report_count_max ||
      std::ranges::find(reported_, &rank) != reported_.end())
    return false;
  reported_.push_back(&rank);
  return true;
}

void StallWatch::report_blocked(const Watched& watched) {
  std::string line = text_of("sorrel: note: rank %d has ", watched.rank->world_rank);
  if (watched.activity == Activity::kernel) {
    line += "waited for 5 s outside of MPI, in " + os::kernel_wait_of(watched.thread).call;
  } else {
    line += "computed for 5 s without a wait";
  }
  line += watched.ready_count == 0
              ? ", while messages for other ranks of its worker have come"
              : ", while " + counted(static_cast<std::size_t>(watched.ready_count), "rank") +
                    " of its worker could run";
  line +=
      text_of("; with --procs %d every rank is a process, as under mpiexec\n", options_.rank_count);
  write_line(line);
}

void StallWatch::report_awaited(const Census& census) {
  const bool is_in_kernel = !census.in_kernel.empty();
  const mpi::RankState& rank = is_in_kernel ? *census.in_kernel.front() : *census.outside.front();
  std::string call;
  if (is_in_kernel) {
    const os::KernelWait wait = os::kernel_wait_of(workers_[rank.worker->index()].thread);
    // The rank waits for a user's input.
    if (wait.is_for_input) return;
    call = wait.call;
  } else {
    const program::OutsideWait* wait = body_.outside_state(rank).wait;
    if (wait == nullptr) return;
    call = wait->call;
  }
  if (!is_first_report_of(rank)) return;
  std::string line =
      text_of("sorrel: note: rank %d has waited for 5 s outside of MPI, in ", rank.world_rank) +
      call;
  const std::size_t more = census.in_kernel.size() + census.outside.size() - 1;
  if (more > 0) line += ", as have " + counted(more, "more rank");
  line += ", and " + counted(census.waits_in_mpi, "rank") + " wait" +
          (census.waits_in_mpi == 1 ? "s" : "") + " in MPI:";
  const char* separator = " ";
  for (const auto& [name, count] : census.calls) {
    line += text_of("%s%s %zu", separator, std::string(name).c_str(), count);
    separator = ", ";
  }
  write_line(line + "; nothing else runs\n");
}

}  // namespace sorrel::runtime
