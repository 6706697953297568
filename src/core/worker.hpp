//! Worker - an OS thread that runs fibers: ready queue, mailboxes, timers, and what it does when
//! nothing is ready.
//!
//! Everything of a worker is touched by its own thread only, except what is marked "any thread".
//! Fibers do not move between workers. A fiber that suspends switches straight to the next ready
//! one; when none is ready, the idle loop runs on the stack of the fiber that suspended last, so
//! that news for that very fiber costs no switch at all. Thread-locals: current() and
//! current_user() read the only one, out of line, because compilers keep thread-local addresses
//! across calls. See README.md for parking, posting and the end.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/cache_line.hpp"
#include "base/check.hpp"
#include "core/fiber.hpp"
#include "core/job_memory.hpp"
#include "core/mailbox.hpp"
#include "core/message_pool.hpp"
#include "core/notice.hpp"
#include "core/parker.hpp"
#include "core/seeded_order.hpp"
#include "core/timer.hpp"
#include "os/clock.hpp"
#include "os/futex.hpp"

namespace sorrel::core {

class Scheduler;

struct WorkerLimits {
  /// An idle worker spins at most this long before it sleeps; 0 where cores are scarce.
  std::int64_t spin_ns_max = 50'000;
  /// An idle worker lets others have its core so many times before it sleeps. Where processes share
  /// cores: whoever it waits for runs next, and neither side pays for a sleep.
  int yield_count_max = 0;
  /// Bound of the message pool.
  std::size_t pool_bytes_max = std::size_t{64} << 20;
};

/// Where the C and C++ libraries keep what is a thread's: of the thread that runs a worker.
struct ThreadState {
  int* errno_place = nullptr;
  ExceptionState* exceptions = nullptr;
  std::uintptr_t thread_pointer = 0;
  /// For processes without a C++ library.
  ExceptionState no_exceptions;

  void take_calling_thread();
};

class Worker {
 public:
  Worker(Scheduler& scheduler,
         std::uint32_t index,
         std::uint32_t place,
         JobMemory& memory,
         const WorkerLimits& limits,
         std::optional<std::uint64_t> seed);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// The worker of the calling thread, or null. Any thread.
  [[gnu::noinline]] static Worker* current();

  /// Fiber::user of the fiber that the calling thread runs; null when it runs none. Any thread.
  [[gnu::noinline]] static void* current_user();

  /// Makes current() answer `worker` on the calling thread: its own, or one whose control block a
  /// fiber will use.
  [[gnu::noinline]] static void set_current(Worker* worker);

  /// Among the workers of its process.
  [[nodiscard]] std::uint32_t index() const { return index_; }

  /// Among the workers of the job.
  [[nodiscard]] std::uint32_t place() const { return place_; }

  [[nodiscard]] Scheduler& scheduler() const { return scheduler_; }

  [[nodiscard]] Fiber& running() const { return *running_; }

  [[nodiscard]] bool in_fiber() const { return running_ != &root_; }

  [[nodiscard]] MessagePool& pool() { return pool_; }

  /// What the layers above keep for this worker; the core does not look at it.
  [[nodiscard]] void* user() const { return user_; }

  void set_user(void* user) { user_ = user; }

  /// Prepares a fiber on the given stack; it is ready at once. The caller keeps fiber and stack
  /// alive until it has ended.
  void start(
      Fiber& fiber, void* stack_bottom, std::size_t stack_bytes, FiberEntry entry, void* argument);

  /// Lets the other ready fibers run first. May suspend.
  void yield();

  /// Gives the processor away until somebody calls make_ready() for the running fiber. May suspend.
  void suspend();

  /// Suspends the running fiber for at least `duration_ns`. May suspend.
  void sleep(std::int64_t duration_ns);

  /// Ends the running fiber.
  [[noreturn]] void end_fiber();

  /// Makes a waiting fiber of this worker ready. Never suspends.
  void make_ready(Fiber& fiber) {
    SORREL_ASSERT(fiber.state == FiberState::waiting && fiber.worker == this);
    fiber.state = FiberState::ready;
    ready_.push(fiber);
  }

  /// Makes every fiber of `queue` ready, in order, and empties it. Never suspends.
  void make_all_ready(FiberQueue& queue) { ready_.append(queue); }

  /// Takes what other workers have sent. Returns whether there was anything. Never suspends.
  bool poll() {
    bool any = false;
    for (Mailbox* mailbox : inbound_) {
      if (mailbox->has_record()) any |= drain(*mailbox);
    }
    // Rare things share one branch.
    if (!board_.newly_opened.seems_empty() || (deferred_count_ | is_seeded_) != 0 ||
        !timers_.empty()) [[unlikely]]
      any |= attend();
    return any;
  }

  /// Sends a notice to another worker of this process. Never suspends, never fails.
  void post(Worker& to, Notice& notice);

  /// Sends a record to another worker of this process; false when the way is full and the sender
  /// must keep its message.
  bool try_post(Worker& to, const Record& record, const void* payload) {
    return try_post_to_place(to.place_, record, payload);
  }

  /// Sends a record to another worker of the job; false as above.
  bool try_post_to_place(std::uint32_t place, const Record& record, const void* payload);

  void add_timer(Timer& timer);

  /// The time of this worker's timers: the system's, or an imagined one under a seed.
  [[nodiscard]] std::int64_t now_ns() {
    return is_seeded_ != 0 ? order_->now_ns() : os::monotonic_ns();
  }

  /// Whether its order and its clock are functions of a seed.
  [[nodiscard]] bool is_seeded() const { return is_seeded_ != 0; }

  /// Any thread: its thread shall look who is to run it, soon.
  void call_away();

  /// Makes the calling thread this worker's and what runs there its running fiber, on the thread's
  /// own stack. It ends with leave(). Instead of run().
  void adopt(Fiber& fiber);
  void leave();

  /// Whether a fiber of this worker is ready to run.
  [[nodiscard]] bool has_ready() const { return !ready_.empty(); }

  /// Any thread, after publishing something for this worker: wakes it when it sleeps. Returns
  /// whether it was the caller who did.
  bool wake();

  /// After its last fiber, on the thread that ends it: what others still send goes to
  /// drop(record) and to nobody else.
  template <class Drop>
  void drop_records(Drop&& drop) {
    accept_new_mailboxes();
    for (Mailbox* mailbox : inbound_) {
      while (mailbox->take([&](const Record& record, const std::byte*) { drop(record); })) {
      }
    }
  }

  /// Whether it has run its last fiber and told the hooks.
  [[nodiscard]] bool has_ended() const { return has_ended_; }

  /// Any thread, a hint: whether it sleeps.
  [[nodiscard]] bool seems_asleep() const { return memory_.parker(place_).is_parked(); }

 private:
  friend class Scheduler;
  friend class WorkerThread;

  struct Outbound {
    Mailbox* mailbox = nullptr;
    Notice* deferred_first = nullptr;
    Notice* deferred_last = nullptr;
  };

  Fiber& next_ready();
  Fiber& idle();
  Fiber& idle_in_real_time();
  Fiber& idle_under_seed();
  bool spin(Fiber*& found);
  bool ask_idle_source(bool is_about_to_sleep);
  enum class Slept { no, until_woken, until_look };
  Slept park();
  [[nodiscard]] Slept sleep_counted_in(Parker& parker);
  bool poll_for_ready();
  void get_up();
  bool attend();
  void switch_to(Fiber& next, bool ends = false);
  bool drain(Mailbox& mailbox);
  void open_mailbox(Outbound& outbound, std::uint32_t place);
  bool flush_deferred();
  bool accept_new_mailboxes();
  bool wake_place(std::uint32_t place);
  // For WorkerThread, on the thread that has this worker.
  void begin(ThreadState& thread);
  void run_until_called(ThreadState& thread);
  bool run_round(ThreadState& thread);
  void end(ThreadState& thread);
  void enter(ThreadState& thread);
  bool has_news();
  void lie_down();
  void rise();

  [[nodiscard]] std::int64_t sleep_end_ns() const;

  [[nodiscard]] Parker parker() { return memory_.parker(place_); }

  void note_call();
  void mark_gone();
  static void enter_fiber(void* argument);

  // Constant after construction; any thread may read.
  Scheduler& scheduler_;
  JobMemory& memory_;
  const std::uint32_t index_;
  const std::uint32_t place_;
  const os::FutexScope futex_scope_;
  const WorkerLimits limits_;

  // Own thread only; what is beside it in the board is anybody's.
  alignas(cache_line_bytes) Fiber* running_ = nullptr;
  void* user_ = nullptr;
  Board& board_;
  const RecordRunner* const runners_;
  FiberQueue ready_;
  int* errno_ = nullptr;
  ExceptionState* exceptions_ = nullptr;
  /// The control block of the thread that runs us.
  std::uintptr_t thread_pointer_ = 0;
  std::vector<Mailbox*> inbound_;
  std::vector<Outbound> outbound_;
  std::uint32_t deferred_count_ = 0;
  /// 1 when there is an order: a number, so that poll() looks at both at once.
  const std::uint32_t is_seeded_;
  TimerQueue timers_;
  std::int64_t spin_ns_;
  /// What the thread does besides running our fibers: ready when it shall do that again.
  Fiber root_;
  bool has_ended_ = false;
  MessagePool pool_;
  std::optional<SeededOrder> order_;
  /// Of an adopted thread.
  ThreadState adopted_;

  // Any thread: its call is in the list of opened mailboxes.
  alignas(cache_line_bytes) std::atomic<bool> is_called_{false};
};

}  // namespace sorrel::core
