#include "os/thread.hpp"

#include <csignal>
#include <cstdint>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/check.hpp"
#include "os/clock.hpp"
#include "os/signal_block.hpp"
#include "os/yield_limit.hpp"

namespace sorrel::os {

bool start_background_thread(void* (*entry)(void* argument), void* argument) {
  SORREL_ASSERT(entry != nullptr, "a thread without a function");
  const SignalBlock block;
  pthread_t thread{};
  const bool has_started = pthread_create(&thread, nullptr, entry, argument) == 0;
  if (has_started) pthread_detach(thread);
  return has_started;
}

bool interrupt_thread(pid_t thread, int signal_number, const void* tag) {
  SORREL_ASSERT(thread > 0 && signal_number > 0 && signal_number <= SIGRTMAX,
                "signal %d for thread %d", signal_number, thread);
  siginfo_t info{};
  info.si_signo = signal_number;
  info.si_code = SI_QUEUE;
  info.si_pid = getpid();
  info.si_uid = getuid();
  info.si_value.sival_ptr = const_cast<void*>(tag);
  return syscall(SYS_rt_tgsigqueueinfo, getpid(), thread, signal_number, &info) == 0;
}

void wait_for_thread_end(pid_t thread) {
  constexpr std::int64_t poll_ns = 20'000;
  constexpr int poll_count_max = 50'000;
  for (int i = 0; i < poll_count_max && syscall(SYS_tgkill, getpid(), thread, 0) == 0; ++i)
    sleep_ns(poll_ns);
}

bool try_to_yield_core(YieldLimit& limit) {
  const std::int64_t began_ns = monotonic_ns();
  if (!limit.may_yield(began_ns)) return false;
  syscall(SYS_sched_yield);
  limit.record_turn(began_ns, monotonic_ns());
  return true;
}

void yield_core() {
  constexpr std::int64_t nap_ns = 20'000;
  [[gnu::tls_model("initial-exec")]] thread_local YieldLimit limit;
  if (!try_to_yield_core(limit)) sleep_ns(nap_ns);
}

void set_timer_slack(long slack_ns) {
  prctl(PR_SET_TIMERSLACK, slack_ns, 0, 0, 0);
}

}  // namespace sorrel::os
