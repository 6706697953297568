//! RankSignals - a rank's instance of the signal state that the system keeps per process:
//! dispositions, the mask, pending signals, the alarm.
//!
//! A signal sent to the process is delivered to every rank that has a handler for it. A signal that
//! a rank raises, or requests by alarm(), is delivered to that rank (signal_delivery.hpp). A
//! handler runs on the rank's own stack: at once if the rank is in its program's code, at the
//! latest when it returns from this library. If the rank waits in MPI, the handler interrupts the
//! wait. There it may neither call MPI nor leave by a jump. Dispositions and alarms: any
//! thread of the rank. send() and all queries: any thread and signal handlers. The rest: the rank.
//!
//! What decides the fate of a signal (actions, alarms, and that a signal becomes pending) changes
//! under the SignalTableLock: so a signal that comes while its action changes has the action before
//! or after.
#pragma once

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>

#include "base/byte_cursor.hpp"
#include "base/byte_writer.hpp"
#include "program/state/signal_mask.hpp"

namespace sorrel::program {

class RankSignals {
 public:
  /// The code that a handler interrupts.
  enum class Interrupts {
    program,  ///< The program's code: the handler may do whatever a handler may.
    library,  ///< A call into this library: the handler must return.
  };

  RankSignals() = default;

  ~RankSignals();

  RankSignals(const RankSignals&) = delete;
  RankSignals& operator=(const RankSignals&) = delete;

  /// As sigaction(), for signals that can be caught. After it has set a handler, the caller starts
  /// the delivery of signals. False: no memory for the rank's table.
  [[nodiscard]] bool set_action(int number,
                                const struct sigaction* action,
                                struct sigaction* before);

  /// The rank has set a handler in a library that ranks share: it is the process's.
  void note_handler_of_library() { has_handler_of_library_.store(true, std::memory_order_relaxed); }

  [[nodiscard]] bool has_handler_of_library() const {
    return has_handler_of_library_.load(std::memory_order_relaxed);
  }

  /// Whether signals may have to be delivered to the rank.
  [[nodiscard]] bool needs_delivery() const { return handled() != 0 || alarm().left_ns != 0; }

  /// Any thread: what is known of the rank's actions agrees.
  void check_invariants() const;

  /// The rank has ended: nothing is delivered any more.
  void end();

  /// All of it, handlers by address: for a rank whose memory is saved and restored, and which is in
  /// no handler. While the rank does not run. restore() is for a rank that has changed nothing.
  /// False: no memory for the rank's table.
  void save(ByteWriter& to) const;
  [[nodiscard]] bool restore(ByteCursor& from);

  /// The rank has gone to another process, or does not come: the process's actions are those of its
  /// other ranks.
  void leave();

  /// In a child process of the rank's: its thread has the mask, and the process ignores what the
  /// rank ignores.
  void enter_child();

  [[nodiscard]] SignalMask handled() const { return handled_.load(std::memory_order_relaxed); }

  [[nodiscard]] SignalMask ignored() const { return ignored_.load(std::memory_order_relaxed); }

  [[nodiscard]] SignalMask blocked() const { return blocked_.load(std::memory_order_relaxed); }

  void set_blocked(SignalMask mask) { blocked_.store(mask, std::memory_order_relaxed); }

  /// As change_mask(), and nothing runs before the caller waits: the mask of a wait. Returns the
  /// mask before.
  SignalMask exchange_mask(SignalMask mask);

  /// As sigprocmask(); signals that are unblocked and pending run at once.
  void change_mask(SignalMask mask);

  [[nodiscard]] SignalMask pending() const { return pending_.load(std::memory_order_acquire); }

  /// The signals of which a handler must run.
  [[nodiscard]] SignalMask work() const { return pending() & ~blocked() & handled(); }

  [[nodiscard]] bool has_work() const { return work() != 0; }

  /// Under the SignalTableLock: makes the signal pending, unless it is ignored.
  void raise(int number);

  /// What has become of a signal that was sent.
  enum class Sent {
    pending,     ///< The rank handles or blocks it.
    ignored,     ///< Nothing.
    by_default,  ///< Nothing: its action is the one by default.
  };

  /// Without the SignalTableLock.
  Sent send(int number);

  /// Removes and returns one of the pending signals of `mask`; 0: none is pending.
  int take(SignalMask mask);

  /// Runs the handlers of the pending signals; returns whether there was one. `context`: the
  /// context argument of the system's handler, or null.
  bool run_pending(Interrupts interrupts, void* context);

  /// Handlers that have run, for a wait that must end after one. By the rank.
  [[nodiscard]] std::uint64_t run_count() const { return run_count_; }

  /// By the delivery thread under the SignalTableLock, for a rank on a thread of its own: calls
  /// `interrupt(number)`, which sends a signal to that thread, if a handler must run. The signal
  /// arrives before a system call that the rank makes after it has taken that handler's signal, so
  /// none ends with EINTR without a handler.
  template <class Interrupt>
  void interrupt(Interrupt&& interrupt);

  /// Runs the handler of a signal that has just arrived. False: it has none any more.
  bool run(int number, siginfo_t& info, void* context, Interrupts interrupts);

  /// The rank, with the stack pointer `from`, is about to jump to where it is `to`: forgets the
  /// handlers that it leaves. False: one of them has interrupted a call of this library.
  [[nodiscard]] bool leave_handlers(std::uintptr_t from, std::uintptr_t to);

  /// Whether the rank is in a handler that has interrupted a call of this library. Then it may
  /// neither suspend nor leave the handler by a jump.
  [[nodiscard]] bool must_return() const { return must_return_; }

  /// Whether the rank is in a handler.
  [[nodiscard]] bool is_in_handler() const { return handlers_ != nullptr; }

  /// Whether the last handler lacks SA_RESTART, so that the interrupted system call must end.
  [[nodiscard]] bool has_interrupted() const { return has_interrupted_; }

  /// Counts the failed deliveries since a handler last ran.
  [[nodiscard]] int count_failed_delivery() { return ++failed_delivery_count_; }

  /// The stack passed to sigaltstack().
  [[nodiscard]] stack_t& alternate_stack() { return alternate_stack_; }

  /// SIGALRM comes in `left_ns`, then every `interval_ns`; 0: never.
  struct Alarm {
    std::int64_t left_ns = 0;
    std::int64_t interval_ns = 0;
  };

  /// Requests an alarm instead of the one before, which it returns. If time was left for that, it
  /// does not come any more; if not, it is pending, or has come. Any thread of the rank, which then
  /// starts the delivery of signals, or notifies it.
  Alarm set_alarm(const Alarm& alarm);

  [[nodiscard]] Alarm alarm() const;

  /// Under the SignalTableLock: raises SIGALRM if it is due. Returns the next due time, or 0.
  std::int64_t poll_alarm(std::int64_t now_ns);

 private:
  static constexpr int signal_count = 64;

  using ActionTable = std::array<struct sigaction, signal_count + 1>;

  /// A handler that runs, in the frame of its call.
  struct Handler {
    const Handler* outer;
    Interrupts interrupts;
    /// must_return() before.
    bool before_must_return;
    /// The stack pointer of what it has interrupted.
    std::uintptr_t interrupted_stack;
  };

  ActionTable* make_actions();
  [[nodiscard]] struct sigaction action_of(int number) const;
  bool change_action(int number, const struct sigaction& action);
  void reset_action(int number);
  [[nodiscard]] struct sigaction take_action(int number);
  [[nodiscard]] Alarm left_alarm() const;
  void wait_for_interruption() const;

  // 10 KiB, mapped when the rank sets its first action, which most ranks never do. Under the
  // SignalTableLock.
  ActionTable* actions_ = nullptr;
  // Written under the SignalTableLock, the next three; relaxed: read without it, they are a hint.
  std::atomic<SignalMask> handled_{0};
  std::atomic<SignalMask> ignored_{0};
  std::atomic<SignalMask> set_{0};
  std::atomic<bool> has_handler_of_library_{false};
  std::atomic<SignalMask> blocked_{0};
  // Release by the raising thread, acquire by the rank: orders what the raising thread did before.
  std::atomic<SignalMask> pending_{0};
  // The delivery thread sets it, and then looks for work; the rank takes the work, and then reads
  // it. Between both steps of each is a sequentially consistent fence.
  std::atomic<bool> is_being_interrupted_{false};
  stack_t alternate_stack_{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
  /// The innermost of the rank's handlers.
  const Handler* handlers_ = nullptr;
  bool must_return_ = false;
  bool has_interrupted_ = false;
  int failed_delivery_count_ = 0;
  std::uint64_t run_count_ = 0;
  // Under the SignalTableLock. 0: none.
  std::int64_t alarm_due_ns_ = 0;
  std::int64_t alarm_interval_ns_ = 0;
};

template <class Interrupt>
void RankSignals::interrupt(Interrupt&& interrupt) {
  is_being_interrupted_.store(true, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (const SignalMask now = work(); now != 0) interrupt(first_signal_of(now));
  // Release, pairs with wait_for_interruption(): the signal has been sent.
  is_being_interrupted_.store(false, std::memory_order_release);
}

}  // namespace sorrel::program
