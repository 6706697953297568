#include "tools/sorrel/common/command_output.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sorrel::tool {

namespace {

using Clock = std::chrono::steady_clock;

/// Appends what comes from `pipe` until its writers have closed it; false at the deadline.
bool read_until(int pipe, Clock::time_point deadline, std::string& text) {
  char buffer[4096];
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd wanted{.fd = pipe, .events = POLLIN, .revents = 0};
    const int count =
        poll(&wanted, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, INT_MAX)));
    if (count < 0 && errno == EINTR) continue;
    if (count == 0 && Clock::now() < deadline) continue;
    if (count <= 0) return false;
    const ssize_t size = read(pipe, buffer, sizeof buffer);
    if (size == 0 || (size < 0 && errno != EINTR)) return true;
    if (size > 0) text.append(buffer, static_cast<std::size_t>(size));
  }
}

}  // namespace

CommandOutput output_of(std::vector<std::string> words, std::chrono::milliseconds limit) {
  CommandOutput output;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    output.error = errno;
    return output;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  std::vector<char*> pointers;
  for (std::string& word : words)
    pointers.push_back(word.data());
  pointers.push_back(nullptr);
  pid_t child = 0;
  output.error = posix_spawnp(&child, pointers[0], &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (output.error == 0) {
    output.is_late = !read_until(ends[0], Clock::now() + limit, output.text);
    if (output.is_late) kill(child, SIGKILL);
    while (waitpid(child, &output.status, 0) < 0 && errno == EINTR) {
    }
  }
  close(ends[0]);
  return output;
}

}  // namespace sorrel::tool
