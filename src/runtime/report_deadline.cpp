#include "runtime/report_deadline.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "os/default_action.hpp"
#include "os/process_end.hpp"

namespace sorrel::runtime {

namespace {

constexpr int own_seconds = 2;
constexpr int foreign_seconds = 4;
constexpr int life_seconds = 5;
constexpr int kill_seconds_later = 1;

// Linux never sends it, and programs do not use it.
constexpr int deadline_signal = SIGSTKFLT;

enum class Deadline : int { none, foreign, own, life };

struct Timer {
  timer_t id{};
  bool is_made = false;
};

// The first sends the signal, the second kills. Made before the handlers are installed.
std::array<Timer, 2> timers;
// Relaxed: the signal arrives seconds after they are written.
std::atomic<Deadline> deadline{Deadline::none};
/// The signal, where the deadline is Deadline::life.
std::atomic<int> end_status{0};

void make(Timer& timer, int signal_number) {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = signal_number;
  timer.is_made = timer_create(CLOCK_MONOTONIC, &event, &timer.id) == 0;
}

void set(const Timer& timer, int seconds) {
  const itimerspec time{.it_interval = {}, .it_value = {.tv_sec = seconds, .tv_nsec = 0}};
  if (timer.is_made) timer_settime(timer.id, 0, &time, nullptr);
}

void set_timers(int seconds) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, deadline_signal);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  set(timers[0], seconds);
  set(timers[1], seconds + kill_seconds_later);
}

void end_late(int signal_number) {
  const Deadline kind = deadline.load(std::memory_order_relaxed);
  if (kind == Deadline::none) {
    // The signal is not the timer's.
    os::take_default_action(signal_number);
    return;
  }
  if (kind == Deadline::life) {
    os::take_default_action(end_status.load(std::memory_order_relaxed));
    return;
  }
  constexpr const char* text = "sorrel: the report took longer than 2 s and was cut off\n";
  // The report may be waiting for a reader that does not read.
  pollfd error_stream{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  if (kind == Deadline::own && poll(&error_stream, 1, 0) == 1)
    (void)!write(STDERR_FILENO, text, std::strlen(text));
  os::end_process(end_status.load(std::memory_order_relaxed));
}

}  // namespace

void prepare_report_deadline() {
  deadline.store(Deadline::none, std::memory_order_relaxed);
  make(timers[0], deadline_signal);
  make(timers[1], SIGKILL);
  struct sigaction action{};
  action.sa_handler = end_late;
  action.sa_flags = SA_ONSTACK;
  sigaction(deadline_signal, &action, nullptr);
}

void release_report_deadline() {
  signal(deadline_signal, SIG_DFL);
  for (Timer& timer : timers) {
    if (timer.is_made) timer_delete(timer.id);
    timer.is_made = false;
  }
}

void limit_own_report(int status) {
  end_status.store(status, std::memory_order_relaxed);
  deadline.store(Deadline::own, std::memory_order_relaxed);
  set_timers(own_seconds);
}

void limit_life(int signal_number) {
  Deadline none = Deadline::none;
  if (!deadline.compare_exchange_strong(none, Deadline::life, std::memory_order_relaxed)) return;
  end_status.store(signal_number, std::memory_order_relaxed);
  set_timers(life_seconds);
}

void limit_foreign_report(int status) {
  Deadline none = Deadline::none;
  if (!deadline.compare_exchange_strong(none, Deadline::foreign, std::memory_order_relaxed)) return;
  end_status.store(status, std::memory_order_relaxed);
  set_timers(foreign_seconds);
}

}  // namespace sorrel::runtime
