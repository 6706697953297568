#include "runtime/request_signal.hpp"

#include <cerrno>
#include <csignal>
#include <unistd.h>

#include "os/default_action.hpp"

namespace sorrel::runtime {

namespace {

constexpr int request_signal = SIGUSR2;

// Set before the handler is installed.
pid_t watched_process = 0;
void (*request_action)() = nullptr;

void handle(int number, siginfo_t* info, void*) {
  const int error = errno;
  if (getpid() != watched_process || info->si_pid == getpid()) {
    // Of a child, or sent by the program itself.
    os::take_default_action(number);
  } else {
    request_action();
  }
  errno = error;
}

}  // namespace

void watch_requests(void (*on_request)()) {
  struct sigaction before{};
  if (sigaction(request_signal, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) return;
  watched_process = getpid();
  request_action = on_request;
  struct sigaction action{};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigaction(request_signal, &action, nullptr);
}

}  // namespace sorrel::runtime
