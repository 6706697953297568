#include "os/write_all.hpp"

#include <cerrno>
#include <climits>
#include <poll.h>
#include <unistd.h>

namespace sorrel::os {

namespace {

/// 0 when there is room for PIPE_BUF bytes, or the write will fail.
int await_room(int descriptor, int patience_ms) {
  pollfd room{.fd = descriptor, .events = POLLOUT, .revents = 0};
  for (;;) {
    const int ready_count = ::poll(&room, 1, patience_ms);
    if (ready_count > 0) return 0;
    if (ready_count == 0) return ETIMEDOUT;
    if (errno != EINTR) return errno;
  }
}

}  // namespace

int write_all(int descriptor, std::string_view text, int patience_ms) {
  const bool is_patient = patience_ms == any_patience;
  while (!text.empty()) {
    if (!is_patient) {
      if (const int error = await_room(descriptor, patience_ms); error != 0) return error;
    }
    // More could block.
    const std::string_view part = is_patient ? text : text.substr(0, PIPE_BUF);
    const ssize_t written = ::write(descriptor, part.data(), part.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      if (const int error = await_room(descriptor, patience_ms); error != 0) return error;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace sorrel::os
