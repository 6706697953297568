#include "os/thread.hpp"

#include <csignal>
#include <pthread.h>
#include <sys/prctl.h>

namespace sorrel::os {

bool start_background_thread(void* (*entry)(void* argument), void* argument) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  // The new thread inherits the mask.
  if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return false;
  pthread_t thread{};
  const bool has_started = pthread_create(&thread, nullptr, entry, argument) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (has_started) pthread_detach(thread);
  return has_started;
}

void set_timer_slack(long slack_ns) {
  prctl(PR_SET_TIMERSLACK, slack_ns, 0, 0, 0);
}

}  // namespace sorrel::os
