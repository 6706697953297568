#include "runtime/end_request.hpp"

#include <csignal>
#include <unistd.h>

#include "os/default_action.hpp"
#include "os/kept_errno.hpp"
#include "os/own_process.hpp"
#include "runtime/end/report_deadline.hpp"
#include "runtime/process_config.hpp"

namespace sorrel::runtime {

namespace {

void handle_end_request(int number, siginfo_t* info, void*) {
  const os::KeptErrno kept;
  const Config& config = process_config();
  const pid_t launcher = config.launcher != 0 ? config.launcher : getppid();
  const bool is_of_launcher = info->si_pid == launcher;
  if (os::is_forked_child() || is_of_launcher || info->si_pid == getpid()) {
    os::take_default_action(number);
  } else {
    limit_life(number);
  }
}

}  // namespace

void watch_for_end_requests() {
  struct sigaction before{};
  if (!process_config().has_recorder || sigaction(SIGTERM, nullptr, &before) != 0 ||
      before.sa_handler != SIG_DFL)
    return;
  os::record_own_process();
  struct sigaction action{};
  action.sa_sigaction = handle_end_request;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace sorrel::runtime
