#include "os/signal_block.hpp"

#include <initializer_list>
#include <pthread.h>

namespace sorrel::os {

SignalBlock::SignalBlock() {
  sigset_t all;
  sigfillset(&all);
  // A blocked fault ends the process without a call of its handler.
  for (const int fault : {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP})
    sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, &before_);
}

SignalBlock::~SignalBlock() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace sorrel::os
