#include "tools/sorrel/common/command_output.hpp"

#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sorrel::tool {

CommandOutput output_of(std::vector<std::string> words) {
  CommandOutput output;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {.error = errno, .status = 0, .text = ""};
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
    char buffer[4096];
    ssize_t size = 0;
    while ((size = read(ends[0], buffer, sizeof buffer)) > 0 || (size < 0 && errno == EINTR)) {
      if (size > 0) output.text.append(buffer, static_cast<std::size_t>(size));
    }
    while (waitpid(child, &output.status, 0) < 0 && errno == EINTR) {
    }
  }
  close(ends[0]);
  return output;
}

}  // namespace sorrel::tool
