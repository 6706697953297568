#include "runtime/end/report_deadline.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "os/cpu_time.hpp"
#include "os/default_action.hpp"
#include "os/kept_errno.hpp"
#include "os/process_end.hpp"

namespace sorrel::runtime {

namespace {

constexpr std::int64_t ns_per_ms = 1'000'000;
// A report is looked at soon, for its processor time then, and again and again.
constexpr std::int64_t first_look_ns = 500 * ns_per_ms;
constexpr std::int64_t look_ns = 2000 * ns_per_ms;
constexpr std::int64_t foreign_ns = 4000 * ns_per_ms;
constexpr std::int64_t life_ns = 5000 * ns_per_ms;
/// A thread that waits for a core for longer than this cannot tell that it does.
constexpr std::int64_t kill_later_ns = 2000 * ns_per_ms;
/// Processor time between two looks, of a report that goes on: more than a look itself takes.
constexpr std::int64_t progress_ns_min = ns_per_ms;
/// All processor time that a report may take: it may go round in a circle in damaged memory.
constexpr std::int64_t processor_ns_max = 4000 * ns_per_ms;
constexpr std::int64_t look_count_max = 30;

// Linux never sends it, and programs do not use it.
constexpr int deadline_signal = SIGSTKFLT;

enum class Deadline : int { none, foreign, own, life };

struct Timer {
  timer_t id{};
  bool is_made = false;

  void make(int signal_number) {
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = signal_number;
    is_made = timer_create(CLOCK_MONOTONIC, &event, &id) == 0;
  }

  void set(std::int64_t after_ns) const {
    const itimerspec time{.it_interval = {},
                          .it_value = {.tv_sec = after_ns / (1000 * ns_per_ms),
                                       .tv_nsec = after_ns % (1000 * ns_per_ms)}};
    if (is_made) timer_settime(id, 0, &time, nullptr);
  }
};

/// The limit of this process.
struct Limit {
  // The first sends the signal, the second kills. Made before the handlers are installed.
  std::array<Timer, 2> timers;
  // Relaxed, all of these: the signal arrives much later than they are written.
  std::atomic<Deadline> deadline{Deadline::none};
  /// The signal, where the deadline is Deadline::life.
  std::atomic<int> end_status{0};
  /// The thread that writes the report.
  std::atomic<pid_t> reporter{0};
  // Used in the handler only. A timer's signals come one after the other.
  std::int64_t looked_at_ns = 0;
  int look_count = 0;
};

Limit limit;

static_assert(first_look_ns + look_ns < foreign_ns && foreign_ns < life_ns,
              "the process that reports says first why it ends");

void set_timers(std::int64_t after_ns) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, deadline_signal);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  limit.timers[0].set(after_ns);
  limit.timers[1].set(after_ns + kill_later_ns);
}

/// Whether the thread that reports has had processor time since the last look. A busy machine gives
/// it little, and a wait for a lock or for a reader takes none.
bool goes_on() {
  const auto now_ns = os::cpu_ns_of_thread(limit.reporter.load(std::memory_order_relaxed));
  if (!now_ns || *now_ns > processor_ns_max || ++limit.look_count > look_count_max) return false;
  if (limit.look_count > 1 && *now_ns < limit.looked_at_ns + progress_ns_min) return false;
  limit.looked_at_ns = *now_ns;
  return true;
}

void end_late(int signal_number) {
  const os::KeptErrno kept;
  const Deadline kind = limit.deadline.load(std::memory_order_relaxed);
  if (kind == Deadline::none) {
    // The signal is not the timer's.
    os::take_default_action(signal_number);
    return;
  }
  if (kind == Deadline::life) {
    os::take_default_action(limit.end_status.load(std::memory_order_relaxed));
    return;
  }
  if (kind == Deadline::own && goes_on()) return set_timers(look_ns);
  constexpr const char* text = "sorrel: the report did not go on for 2 s and was cut off\n";
  // The report may be waiting for a reader that does not read.
  pollfd error_stream{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  if (kind == Deadline::own && poll(&error_stream, 1, 0) == 1)
    (void)!write(STDERR_FILENO, text, std::strlen(text));
  os::end_process(limit.end_status.load(std::memory_order_relaxed));
}

}  // namespace

void prepare_report_deadline() {
  limit.deadline.store(Deadline::none, std::memory_order_relaxed);
  limit.timers[0].make(deadline_signal);
  limit.timers[1].make(SIGKILL);
  struct sigaction action{};
  action.sa_handler = end_late;
  // The report goes on after a look.
  action.sa_flags = SA_ONSTACK | SA_RESTART;
  sigaction(deadline_signal, &action, nullptr);
}

void release_report_deadline() {
  signal(deadline_signal, SIG_DFL);
  for (Timer& timer : limit.timers) {
    if (timer.is_made) timer_delete(timer.id);
    timer.is_made = false;
  }
}

void limit_own_report(int status) {
  limit.end_status.store(status, std::memory_order_relaxed);
  limit.reporter.store(gettid(), std::memory_order_relaxed);
  limit.deadline.store(Deadline::own, std::memory_order_relaxed);
  set_timers(first_look_ns);
}

void limit_life(int signal_number) {
  Deadline none = Deadline::none;
  if (!limit.deadline.compare_exchange_strong(none, Deadline::life, std::memory_order_relaxed))
    return;
  limit.end_status.store(signal_number, std::memory_order_relaxed);
  set_timers(life_ns);
}

void limit_foreign_report(int status) {
  Deadline none = Deadline::none;
  if (!limit.deadline.compare_exchange_strong(none, Deadline::foreign, std::memory_order_relaxed))
    return;
  limit.end_status.store(status, std::memory_order_relaxed);
  set_timers(foreign_ns);
}

}  // namespace sorrel::runtime
