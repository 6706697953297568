#include "program/gpu/device_wait.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "core/scheduler.hpp"
#include "core/timer.hpp"
#include "core/worker.hpp"
#include "os/clock.hpp"
#include "program/gpu/rank_gpu.hpp"
#include "program/rank/outside_call.hpp"
#include "program/rank/rank_process.hpp"

namespace sorrel::program::gpu {

namespace {

constexpr std::size_t questions_per_run = 4;
/// An event is seen this part of the time waited later.
constexpr std::int64_t pause_part = 64;
constexpr std::int64_t pause_ns_min = 2'000;
constexpr std::int64_t pause_ns_max = 250'000;
/// A wait of this length has the driver wake the worker.
constexpr std::int64_t wake_after_ns = 1'000'000;
/// Meanwhile: a stream with an error runs no function.
constexpr std::int64_t pause_ns_woken = 10'000'000;

struct PendingWait {
  /// Null: nothing suspends, and `end` is called.
  core::Fiber* fiber;
  Context context;
  Awaited awaited;
  RankStreams& streams;
  std::int64_t began_ns;
  bool is_woken = false;
  Result result = not_ready;
  WaitEnd* end = nullptr;
};

Context context_of(const Awaited& awaited) {
  return awaited.context != nullptr ? awaited.context : ThreadContext::current();
}

Result ask(const Awaited& awaited) {
  return awaited.event != nullptr ? driver().cuEventQuery(awaited.event)
                                  : driver().cuStreamQuery(awaited.stream);
}

/// On a thread of the driver.
void wake_worker(void* worker) {
  static_cast<core::Worker*>(worker)->request_attention();
}

/// Has the driver wake the worker when the work is done.
void request_wake(core::Worker& worker, PendingWait& wait) {
  wait.is_woken = true;
  Stream stream = wait.awaited.stream;
  if (stream == nullptr && wait.awaited.event != nullptr) {
    stream = wait.streams.wake_stream();
    if (stream == nullptr || driver().cuStreamWaitEvent(stream, wait.awaited.event, 0) != success)
      return;
  }
  static_cast<void>(driver().cuLaunchHostFunc(stream, wake_worker, &worker));
}

/// The waits of one worker. On its thread alone.
class WaitList {
 public:
  void add(core::Worker& worker, PendingWait& wait) {
    SORREL_ASSERT((wait.fiber != nullptr) != (wait.end != nullptr) && wait.result == not_ready,
                  "a wait that is over");
    waits_.push_back(&wait);
    set(worker, wait.began_ns);
  }

  /// After the worker was woken.
  void poll_all(core::Worker& worker) {
    ask_for(worker, waits_.size());
    // The function that wakes is a part of the work, and has perhaps not returned.
    const std::int64_t now_ns = worker.now_ns();
    for (PendingWait* wait : waits_) {
      if (std::exchange(wait->is_woken, false)) wait->began_ns = now_ns;
    }
    set(worker, now_ns);
  }

 private:
  /// Two of them: no timer is taken back when an earlier one is needed.
  struct ListTimer : core::Timer {
    WaitList* list = nullptr;
    bool is_set = false;
  };

  static void run_timer(core::Worker& worker, core::Timer& timer) {
    auto& own = static_cast<ListTimer&>(timer);
    SORREL_ASSERT(own.is_set && own.list != nullptr, "a timer that was not set");
    own.is_set = false;
    own.list->ask_for(worker, std::min(questions_per_run, own.list->waits_.size()));
    own.list->set(worker, worker.now_ns());
  }

  void set(core::Worker& worker, std::int64_t now_ns) {
    if (waits_.empty()) return;
    std::int64_t pause_ns = pause_ns_woken;
    for (const PendingWait* wait : waits_) {
      if (wait->is_woken) continue;
      const std::int64_t part_ns = (now_ns - wait->began_ns) / pause_part;
      pause_ns = std::min(pause_ns, std::clamp(part_ns, pause_ns_min, pause_ns_max));
    }
    ListTimer& timer = pause_ns == pause_ns_woken ? late_ : soon_;
    if (timer.is_set) return;
    SORREL_ASSERT(pause_ns > 0 && pause_ns <= pause_ns_woken, "a pause of %lld ns",
                  static_cast<long long>(pause_ns));
    timer.due_ns = now_ns + pause_ns;
    timer.run = run_timer;
    timer.list = this;
    timer.is_set = true;
    worker.add_timer(timer);
  }

  /// Asks for `count` of the waits, and ends those that are over.
  void ask_for(core::Worker& worker, std::size_t count) {
    if (count == 0) return;
    ThreadContext thread;
    const std::int64_t now_ns = worker.now_ns();
    for (; count > 0; --count) {
      if (next_ >= waits_.size()) next_ = 0;
      PendingWait& wait = *waits_[next_];
      thread.use(wait.context);
      wait.result = ask(wait.awaited);
      if (wait.result != not_ready) {
        waits_[next_] = waits_.back();
        waits_.pop_back();
        finish(worker, wait);
        continue;
      }
      if (!wait.is_woken && now_ns - wait.began_ns > wake_after_ns) request_wake(worker, wait);
      ++next_;
    }
  }

  /// The wait is in the list no longer.
  static void finish(core::Worker& worker, PendingWait& wait) {
    if (wait.fiber != nullptr) {
      worker.make_ready(*wait.fiber);
      return;
    }
    const std::unique_ptr<PendingWait> ended(&wait);
    wait.end->end(wait.awaited, wait.result);
  }

  std::vector<PendingWait*> waits_;
  std::size_t next_ = 0;
  ListTimer soon_;
  ListTimer late_;
};

// (W) release, when the lists are made; acquire where they are used.
std::atomic<WaitList*> wait_lists{nullptr};

/// Made at the first wait of any rank; stays until the process ends.
WaitList& list_of(core::Worker& worker) {
  static std::once_flag once;
  std::call_once(once, [&worker] {
    const std::uint32_t count = worker.scheduler().worker_count();
    wait_lists.store(new WaitList[count], std::memory_order_release);  // (W)
  });
  return wait_lists.load(std::memory_order_acquire)[worker.index()];  // (W)
}

Result wait_in_driver(const Awaited& awaited) {
  return awaited.event != nullptr ? driver().cuEventSynchronize(awaited.event)
                                  : driver().cuStreamSynchronize(awaited.stream);
}

/// What reports say of a wait. Copies of messages and windows are in streams that the program does
/// not know; their calls say it.
OutsideSubject subject_of(const Awaited& awaited, RankStreams& streams) {
  OutsideSubject subject{.began_ns = os::monotonic_ns()};
  if (awaited.context != nullptr) {
    subject.kind = "GPU";
  } else if (awaited.event != nullptr) {
    subject.kind = "GPU event";
    subject.handle = reinterpret_cast<std::uintptr_t>(awaited.event);
  } else if (streams.is_default(awaited.stream)) {
    subject.kind = "GPU default stream";
  } else {
    subject.kind = "GPU stream";
    subject.handle = reinterpret_cast<std::uintptr_t>(awaited.stream);
  }
  return subject;
}

}  // namespace

Result wait_for(RankProcess* process, const Awaited& awaited, const OutsideWait& outside) {
  {
    ThreadContext thread;
    if (awaited.context != nullptr) thread.use(awaited.context);
    const Result result = process == nullptr ? wait_in_driver(awaited) : ask(awaited);
    if (process == nullptr || result != not_ready) return result;
  }
  SORREL_ASSERT(core::Worker::current() != nullptr, "rank %d waits on no worker", process->rank());
  core::Worker& worker = *core::Worker::current();
  core::Fiber& fiber = worker.running();
  PendingWait wait{.fiber = &fiber,
                   .context = context_of(awaited),
                   .awaited = awaited,
                   .streams = gpu_of(*process).streams(),
                   .began_ns = worker.now_ns()};
  const OutsideCall call(process->outside_wait(), fiber, outside,
                         subject_of(awaited, wait.streams));
  list_of(worker).add(worker, wait);
  worker.suspend();
  return wait.result;
}

void end_later(const Awaited& awaited, RankStreams& streams, WaitEnd& end) {
  SORREL_ASSERT(awaited.context != nullptr, "a wait without a context");
  core::Worker& worker = *core::Worker::current();
  auto wait = std::make_unique<PendingWait>(PendingWait{.fiber = nullptr,
                                                        .context = awaited.context,
                                                        .awaited = awaited,
                                                        .streams = streams,
                                                        .began_ns = worker.now_ns(),
                                                        .end = &end});
  list_of(worker).add(worker, *wait.release());
}

void poll_waits(core::Worker& worker) {
  WaitList* lists = wait_lists.load(std::memory_order_acquire);  // (W)
  if (lists != nullptr) lists[worker.index()].poll_all(worker);
}

}  // namespace sorrel::program::gpu
