//! Worker - an event loop that runs fibers: ready queue, mailboxes, timers, and the idle loop.
//!
//! Only the thread that runs the worker accesses it, except what is marked "any thread". A fiber
//! belongs to one worker; another one may run its program's code, not its calls (loans). A fiber
//! that suspends switches directly to the next ready one; when none is ready, the idle loop runs on
//! the stack of the fiber that suspended last, so a record for that same fiber costs no switch.
//! Thread-locals: current() and current_user() read the only one,
//! out of line, because compilers keep thread-local addresses across calls. See README.md for
//! parking, posting, loans and the end.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/cache_line.hpp"
#include "base/check.hpp"
#include "core/binding.hpp"
#include "core/burst.hpp"
#include "core/core_watch.hpp"
#include "core/fiber.hpp"
#include "core/job_memory.hpp"
#include "core/message_pool.hpp"
#include "core/parker.hpp"
#include "core/poll_limit.hpp"
#include "core/remote_call.hpp"
#include "core/seat.hpp"
#include "core/seeded_order.hpp"
#include "core/stop_point.hpp"
#include "core/sync.hpp"
#include "core/timer.hpp"
#include "core/worker_mailbox.hpp"
#include "os/clock.hpp"
#include "os/futex.hpp"
#include "os/yield_limit.hpp"
#include "trace/ring.hpp"
#include "trace/tracer.hpp"

namespace sorrel::core {

class FiberThread;
class Guest;
class Scheduler;

struct WorkerLimits {
  /// Longest spin of an idle worker before it sleeps; 0 where cores are scarce.
  std::int64_t spin_ns_max = poll_ns_max;
  /// Number of sched_yield() calls of an idle worker before it sleeps. Where processes share cores:
  /// the awaited process runs next, and neither side pays for a sleep. Fewer where other threads
  /// take the core (YieldLimit).
  int yield_count_max = 0;
  /// Limit of the message pool.
  std::size_t pool_bytes_max = std::size_t{64} << 20;
};

/// Addresses of the per-thread data of the C and C++ libraries, for the thread that runs a worker.
struct ThreadState {
  int* errno_address = nullptr;
  ExceptionState* exceptions = nullptr;
  std::uintptr_t thread_pointer = 0;
  /// As the system numbers it (os/sched_stat.hpp).
  int number = 0;
  /// For processes without a C++ library.
  ExceptionState no_exceptions;

  void take_calling_thread();
};

/// 8 KiB: a quarter of a first-level cache at most, and many times what a report shows.
using EventRing = trace::BasicRing<StdSync, 256>;

/// A fiber's sleep, which its worker may end early.
struct Sleep : Timer {
  Fiber* fiber = nullptr;
};

class Worker {
 public:
  Worker(Scheduler& scheduler,
         std::uint32_t index,
         WorkerId worker,
         JobMemory& memory,
         const WorkerLimits& limits,
         std::optional<std::uint64_t> seed);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// The worker of the calling thread, or null. Any thread.
  [[gnu::noinline]] static Worker* current();

  /// Fiber::user of the fiber that the calling thread runs; null when it runs none. Any thread.
  /// May suspend: ends a burst, and returns on the fiber's own worker. Every function of the
  /// library that uses state of a fiber or of its worker calls this first.
  static void* current_user() {
    void* user = user_of_running();
    return user != nullptr ? user : come_home();
  }

  /// current_user() for a fiber in a measured burst, and for callers without a fiber.
  [[gnu::noinline, gnu::cold]] static void* come_home();

  /// As current_user(), without an effect on the fiber, which may be on another worker
  /// than its own: for signal handlers and reports. Any thread.
  [[gnu::noinline]] static void* peek_user();

  /// At the end of a call of the library by the running fiber, if a worker seeks loans: from here
  /// to its next call the fiber runs code that needs nothing of the library. May suspend, and
  /// return on another worker. `burst`: of the fiber, made at the first call. `call_site`: of the
  /// call.
  [[gnu::cold]] void begin_burst(std::unique_ptr<Burst>& burst, const void* call_site);

  /// When no worker runs.
  [[nodiscard]] const LoanCounts& loan_counts() const { return loan_counts_; }

  /// Where SchedulerOptions::measures_fibers is set: the cycles for which a fiber with a thread
  /// control block of its own has run, on whatever worker. Any thread; what has not been added yet
  /// is added when the fiber's worker switches or idles.
  [[nodiscard]] static std::uint64_t busy_cycles_of(const Fiber& fiber);

  /// While all workers are stopped: the fiber, which waits, belongs to this worker from now on.
  void adopt(Fiber& fiber);

  /// Any thread, a hint: the fiber of another worker that it runs, or null.
  [[nodiscard]] const Fiber* borrowed() const { return borrowed_.load(std::memory_order_relaxed); }

  /// Sets the result of current() on the calling thread, or on one whose control block a fiber will
  /// use.
  [[gnu::noinline]] static void set_current(Worker* worker);

  /// As set_current(), for the control block of a fiber that does not run, if it has one.
  [[gnu::noinline]] static void set_current_of(const Fiber& fiber, Worker* worker);

  /// Number among the workers of its process.
  [[nodiscard]] std::uint32_t index() const { return index_; }

  /// Number among the workers of the job.
  [[nodiscard]] WorkerId id() const { return id_; }

  [[nodiscard]] Scheduler& scheduler() const { return scheduler_; }

  [[nodiscard]] Fiber& running() const { return *running_; }

  [[nodiscard]] bool in_fiber() const { return running_ != &root_; }

  [[nodiscard]] MessagePool& pool() { return pool_; }

  /// Data of the layers above for this worker; core does not use it.
  [[nodiscard]] void* user() const { return user_; }

  void set_user(void* user) { user_ = user; }

  /// Prepares a fiber on the given stack; it is ready at once. The caller keeps fiber and stack
  /// alive until it has ended.
  void start(
      Fiber& fiber, void* stack_bottom, std::size_t stack_bytes, FiberEntry entry, void* argument) {
    prepare(fiber, stack_bottom, stack_bytes, entry, argument);
    make_ready(fiber);
  }

  /// As start(), but the fiber waits until it is made ready.
  void prepare(
      Fiber& fiber, void* stack_bottom, std::size_t stack_bytes, FiberEntry entry, void* argument);

  /// Runs a waiting fiber of this worker at once. The running fiber becomes the last of the ready
  /// ones. May suspend.
  void run_at_once(Fiber& fiber);

  /// Runs the other ready fibers first. May suspend.
  void yield();

  /// Waits until make_ready() is called for the running fiber. May suspend.
  void suspend();

  /// Suspends the running fiber for at least `duration_ns`. May suspend.
  void sleep(std::int64_t duration_ns) {
    Sleep sleep;
    this->sleep(sleep, duration_ns);
  }

  /// As sleep(duration_ns), but end_sleep() may end it before its time. May suspend.
  void sleep(Sleep& sleep, std::int64_t duration_ns);

  /// Makes the fiber ready that is in `sleep`. Never suspends.
  void end_sleep(Sleep& sleep);

  /// Calls entry(argument) on the stack of `fiber`, a waiting fiber of this worker, as that fiber:
  /// for what interrupts a wait, a signal handler. Outside of any fiber. What is called must return
  /// and must not suspend.
  void visit(Fiber& fiber, FiberEntry entry, void* argument);

  /// Ends the running fiber.
  [[noreturn]] void end_fiber();

  /// Makes a waiting fiber of this worker ready. Never suspends.
  void make_ready(Fiber& fiber) {
    SORREL_ASSERT(fiber.state == FiberState::waiting && fiber.worker == this);
    fiber.state = FiberState::ready;
    if (fiber.goes_first) [[unlikely]] {
      ready_.push_first(fiber);
    } else {
      ready_.push(fiber);
    }
  }

  /// Makes every fiber of `queue` ready, in order, and empties it. All or none of them go first.
  /// Never suspends.
  void make_all_ready(FiberQueue& queue) {
    if (!queue.empty() && queue.first()->goes_first) [[unlikely]] {
      ready_.prepend(queue);
    } else {
      ready_.append(queue);
    }
  }

  /// Records that one poll takes from a mailbox, so that none waits behind a long stream.
  static constexpr int drain_count_max = 64;

  /// Handles records from other workers, at most `count_max` of each, due timers and deferred
  /// calls. Returns whether there were any. Never suspends. `flow`: what follows the first record.
  bool poll(int count_max = drain_count_max, Flow flow = Flow::single) {
    bool any = false;
    for (WorkerMailbox* mailbox : inbound_) {
      if (mailbox->has_record()) any |= drain(*mailbox, count_max, flow);
    }
    // Rare cases share one branch.
    if (!control_.newly_opened.seems_empty() || (deferred_count_ | rare_states_) != 0 ||
        !timers_.empty()) [[unlikely]]
      any |= poll_all();
    return any;
  }

  /// Sends a call to another worker of this process. Never suspends, never fails.
  void post(Worker& to, RemoteCall& call);

  /// Sends a record to another worker of this process. Returns false if the mailbox is full; the
  /// sender must then keep its message.
  [[gnu::always_inline]] bool try_post(Worker& to, const Record& record, const void* payload) {
    return try_post_to(to.id_, record, payload);
  }

  /// Sends a record to another worker of the job; false as above. Inlined, so that the record is
  /// made in its slot: a load that several recent stores feed waits until all stores before it have
  /// left the store buffer, here for cache lines of the other core.
  [[gnu::always_inline]] bool try_post_to(WorkerId worker,
                                          const Record& record,
                                          const void* payload) {
    SORREL_ASSERT(worker != id_);
    Outbound& outbound = outbound_[worker];
    if (outbound.mailbox == nullptr) [[unlikely]]
      open_mailbox(outbound, worker);
    // No record overtakes deferred calls.
    if (outbound.deferred_first != nullptr || !outbound.mailbox->try_post(record, payload))
      return false;
    wake_worker(worker);
    return true;
  }

  void add_timer(Timer& timer);

  /// The time of this worker's timers: the system's, or virtual under a seed.
  [[nodiscard]] std::int64_t now_ns() {
    return is_seeded() ? order_->now_ns() : os::monotonic_ns();
  }

  /// Whether order and clock are functions of a seed.
  [[nodiscard]] bool is_seeded() const { return (rare_states_ & seeded) != 0; }

  /// Any thread, and signal handlers: requests that the worker's thread soon leaves its fibers,
  /// checks which thread is to run the worker, and calls SchedulerHooks::on_attention().
  void request_attention();

  /// As request_attention(), for any worker of the job.
  void request_attention_of(WorkerId worker);

  /// Makes the calling thread run this worker, with its present flow of control as the running
  /// fiber, on the thread's own stack, instead of run(). Ends with detach_thread().
  void attach_thread(Fiber& fiber);
  void detach_thread();

  /// Whether a fiber of this worker is ready to run.
  [[nodiscard]] bool has_ready() const { return !ready_.empty(); }

  /// Any thread, after publishing something for this worker: wakes it if it sleeps. Returns whether
  /// this call woke it.
  bool wake();

  /// After the last fiber, on the thread that ends it: passes records that still arrive to
  /// drop(record).
  template <class Drop>
  void drop_records(Drop&& drop) {
    accept_new_mailboxes();
    for (WorkerMailbox* mailbox : inbound_) {
      while (mailbox->take([&](const Record& record, const std::byte*) { drop(record); })) {
      }
    }
  }

  /// Whether it has run its last fiber and called the hook.
  [[nodiscard]] bool has_ended() const { return has_ended_; }

  /// Its latest events, always recorded.
  [[nodiscard]] const EventRing& events() const { return events_; }

  /// Writes its events into a file; null: the run is not traced.
  [[nodiscard]] trace::Tracer* tracer() const { return tracer_; }

  /// Before the first fiber runs, and null after the last one: its tracer is complete then. The
  /// tracer outlives the worker.
  void set_tracer(trace::Tracer* tracer);

  /// Any thread, a hint: whether it sleeps.
  [[nodiscard]] bool seems_asleep() const { return memory_.parker(id_).is_parked(); }

  /// Any thread, a hint: the number of the thread that runs it; 0 before the first one does, and
  /// between two. Exact for that thread, and for its signal handlers.
  [[nodiscard]] int thread_number() const { return thread_number_.load(std::memory_order_relaxed); }

  [[nodiscard]] const WorkerLimits& limits() const { return limits_; }

  /// How often it has gone to sleep, and how often a thread other than the last one has begun to
  /// run it. Own thread only.
  [[nodiscard]] std::uint64_t park_count() const { return park_count_; }

  [[nodiscard]] std::uint64_t migration_count() const { return migration_count_; }

  /// Any thread, a hint for a worker that does not get to poll(): whether a worker of this process
  /// has sent it something.
  [[nodiscard]] bool seems_to_have_mail() const;

 private:
  friend class FiberThread;
  friend class Guest;
  friend class Scheduler;
  friend class WorkerThread;

  [[gnu::noinline]] static void* user_of_running();

  struct Outbound {
    WorkerMailbox* mailbox = nullptr;
    RemoteCall* deferred_first = nullptr;
    RemoteCall* deferred_last = nullptr;
  };

  Fiber& next_ready();
  void record(trace::Kind kind, const Fiber& fiber);
  void record_wait(trace::Kind wait, trace::Kind end);
  void record_yield();
  void record_loan(trace::Kind kind, const Fiber& fiber);
  Fiber& idle();
  Fiber& idle_measured();
  [[gnu::noinline]] void charge_running();
  [[nodiscard]] bool is_quiet() const;
  [[nodiscard]] bool is_quiet_inside() const;
  Fiber& idle_in_real_time();
  Fiber& idle_under_seed();
  bool spin(Fiber*& found, std::int64_t& began_ns);
  [[nodiscard]] std::int64_t spin_end_ns(std::int64_t now_ns) const;
  [[gnu::noinline]] void record_core_loss(std::int64_t now_ns);
  void retry_soon();
  void observe_bindings(std::int64_t now_ns);
  bool ask_idle_source(bool is_about_to_sleep);
  enum class Slept { no, until_woken, until_poll };
  Slept park();
  [[nodiscard]] Slept sleep_idle(Parker& parker);
  bool poll_for_ready();
  Slept park_beside_guests();
  void cancel_park();
  bool poll_all();
  void switch_to(Fiber& next, bool ends = false);
  void switch_with_settings(Fiber& next, bool ends);
  void exchange_thread_state(Fiber& previous, Fiber& next);
  bool drain(WorkerMailbox& mailbox, int count_max = drain_count_max, Flow flow = Flow::single);
  void open_mailbox(Outbound& outbound, WorkerId worker);
  bool flush_deferred();
  bool accept_new_mailboxes();
  bool wake_worker(WorkerId worker);
  void move_memory_to(int node) const;
  // For WorkerThread, on the thread that has this worker.
  void begin(ThreadState& thread);
  void run_until_attention(ThreadState& thread);
  bool run_round(ThreadState& thread);
  void arrive_at_stop();
  void leave_stop();

  [[nodiscard]] bool is_held() const { return held_by_.has_value(); }

  void end(ThreadState& thread);
  void enter(ThreadState& thread);
  void leave();

  /// Its thread gives it to another one.
  void leave_thread() { thread_number_.store(0, std::memory_order_relaxed); }

  bool has_work();
  // For a thread that sleeps for several workers.
  [[nodiscard]] std::int64_t next_sleep_end_ns();
  bool prepare_sleep();
  std::int64_t mark_sleep(std::int64_t end_ns);
  void mark_idle();
  void end_park();

  [[nodiscard]] std::int64_t sleep_end_ns() const;
  [[nodiscard]] std::int64_t idle_sleep_end_ns(std::int64_t end_ns) const;

  [[nodiscard]] Parker parker() { return memory_.parker(id_); }

  // Loans (worker_loans.cpp).
  void offer(Burst& burst);
  void publish_offers();
  bool take_back();
  bool take_back_if_due();
  bool borrow();
  void run_borrowed(Burst& burst);
  void go_home(Fiber& fiber);
  static void run_return(Worker& home, RemoteCall& call);
  void wake_seeker();
  void begin_to_seek();
  void end_seeking();

  void handle_attention();
  void mark_gone();

  // Traces.
  void add_traced(trace::Kind kind, const Fiber& fiber);
  void record_resume();
  void record_thread();

  // Guests (guest.cpp).
  /// The worker's thread, in a fiber: from now on guests may take its seat.
  void admit_guests();
  void expel_guests();
  /// The worker's thread; without effect before admit_guests().
  void take_seat();
  void give_seat();
  /// A thread that is no worker's.
  void take_seat_for_guest();
  void give_seat_of_guest();
  /// The running guest gives the seat back until it is granted a place.
  void wait_as_guest();
  /// Ends the wait of a guest, which was ready.
  void grant(Fiber& fiber);
  static void enter_fiber(void* argument);
  struct FiberStart;
  struct TracedThread;
  struct Visit;
  static void enter_visit(void* argument);

  // Constant after construction; any thread may read.
  Scheduler& scheduler_;
  JobMemory& memory_;
  const std::uint32_t index_;
  const WorkerId id_;
  const os::FutexScope futex_scope_;
  const WorkerLimits limits_;
  const bool has_loans_;

  // Own thread only; other members of the control are for any thread.
  alignas(cache_line_bytes) Fiber* running_ = nullptr;
  void* user_ = nullptr;
  WorkerControl& control_;
  const RecordRunner* const runners_;
  FiberQueue ready_;
  int* errno_ = nullptr;
  ExceptionState* exceptions_ = nullptr;
  /// Control block of the first thread, for fibers without one. 0: none yet.
  std::uintptr_t thread_pointer_ = 0;
  std::vector<WorkerMailbox*> inbound_;
  std::vector<Outbound> outbound_;
  std::uint32_t deferred_count_ = 0;

  /// A bit for each state in which poll() has more to do: one number, so that it tests them at
  /// once.
  enum RareState : std::uint32_t {
    seeded = 1,      ///< There is an order.
    has_offers = 2,  ///< There may be bursts in the list of offers or in `box_`.
    measured = 4,    ///< Running times are measured. poll() does not mind.
  };

  std::uint32_t rare_states_;
  TimerQueue timers_;
  /// Duration of the last wait without a ready fiber, its sleeps included; 0: too short to be
  /// measured.
  std::int64_t last_wait_ns_ = 0;
  CoreWatch core_watch_;
  os::YieldLimit yield_limit_;
  /// Made where threads are bound.
  std::optional<BindingWatch> binding_watch_;
  trace::Tracer* tracer_ = nullptr;
  /// Traces only.
  std::unique_ptr<TracedThread> traced_thread_;
  /// The thread's flow of control outside fibers: ready when it must run again.
  Fiber root_;
  bool has_ended_ = false;
  /// Counted as idle in the present sleep.
  bool is_counted_ = false;
  // Guests: the worker's thread alone writes the first one, holders of the seat the others.
  bool has_guests_ = false;
  bool has_missed_attention_ = false;
  /// Fibers that move to threads of their own when this thread is outside of fibers.
  std::vector<FiberThread*> moving_;
  /// The worker's thread sleeps until then.
  std::int64_t parked_until_ns_ = 0;
  /// The thread is to leave the worker's fibers.
  bool has_attention_ = false;
  bool has_requested_stop_ = false;
  /// It has arrived, and must not run until the stop is over.
  std::optional<HeldStop> held_by_;
  /// On the cycle counter: what the running fiber has run since then is not counted yet.
  std::uint64_t uncounted_since_ = 0;
  /// Idle for a while, and no long burst since.
  bool is_seeker_ = false;
  /// Bursts that are to be put into the box.
  Burst* first_offer_ = nullptr;
  Burst* last_offer_ = nullptr;
  /// Since the last offer was taken back, or the first one made.
  std::uint32_t polls_with_offers_ = 0;
  /// The running fiber's, while it is measured.
  Burst* burst_ = nullptr;
  /// The burst of another worker's fiber that the root runs, or is to run.
  Burst* loan_ = nullptr;
  /// Where the last loan was found.
  std::uint32_t lender_ = 0;
  LoanCounts loan_counts_;
  MessagePool pool_;
  std::optional<SeededOrder> order_;
  /// State of an attached thread.
  ThreadState attached_;
  std::uint64_t park_count_ = 0;
  std::uint64_t migration_count_ = 0;
  /// The number of the thread that has run it last; 0: none.
  int last_thread_number_ = 0;
  EventRing events_;

  // Any thread. Relaxed: nothing is read through these.
  alignas(cache_line_bytes) std::atomic<int> thread_number_{0};
  std::atomic<bool> seeks_loans_{false};
  std::atomic<const Fiber*> borrowed_{nullptr};
  LoanBox box_;
  Seat seat_;
};

/// While it exists, the running fiber is not lent: for calls of the program's functions by the
/// library, whose own frames must stay on the fiber's worker.
class PinnedFiber {
 public:
  PinnedFiber();
  ~PinnedFiber();
  PinnedFiber(const PinnedFiber&) = delete;
  PinnedFiber& operator=(const PinnedFiber&) = delete;

 private:
  /// Null outside of fibers.
  Fiber* fiber_;
};

}  // namespace sorrel::core
