#include "runtime/request_signal.hpp"

#include <csignal>
#include <unistd.h>

#include "os/default_action.hpp"
#include "os/kept_errno.hpp"
#include "os/own_process.hpp"

namespace sorrel::runtime {

namespace {

constexpr int request_signal = SIGUSR2;

// Set before the handler is installed.
void (*request_action)() = nullptr;

void handle_request(int number, siginfo_t* info, void*) {
  const os::KeptErrno kept;
  if (os::is_forked_child() || info->si_pid == getpid()) {
    // In a child, or sent by the program itself.
    os::take_default_action(number);
  } else {
    request_action();
  }
}

}  // namespace

void watch_requests(void (*on_request)()) {
  struct sigaction before{};
  if (sigaction(request_signal, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) return;
  os::record_own_process();
  request_action = on_request;
  struct sigaction action{};
  action.sa_sigaction = handle_request;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigaction(request_signal, &action, nullptr);
}

}  // namespace sorrel::runtime
