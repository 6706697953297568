#include "os/thread.hpp"

#include <csignal>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/signal_block.hpp"

namespace sorrel::os {

bool start_background_thread(void* (*entry)(void* argument), void* argument) {
  const SignalBlock block;
  pthread_t thread{};
  const bool has_started = pthread_create(&thread, nullptr, entry, argument) == 0;
  if (has_started) pthread_detach(thread);
  return has_started;
}

bool interrupt_thread(pid_t thread, int signal_number, const void* tag) {
  siginfo_t info{};
  info.si_signo = signal_number;
  info.si_code = SI_QUEUE;
  info.si_pid = getpid();
  info.si_uid = getuid();
  info.si_value.sival_ptr = const_cast<void*>(tag);
  return syscall(SYS_rt_tgsigqueueinfo, getpid(), thread, signal_number, &info) == 0;
}

void yield_core() {
  syscall(SYS_sched_yield);
}

void set_timer_slack(long slack_ns) {
  prctl(PR_SET_TIMERSLACK, slack_ns, 0, 0, 0);
}

}  // namespace sorrel::os
