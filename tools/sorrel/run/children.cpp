#include "tools/sorrel/run/children.hpp"

#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace sorrel::tool {

std::vector<pid_t> children(pid_t parent) {
  std::vector<pid_t> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    if (name[0] < '1' || name[0] > '9') continue;
    std::string text;
    std::getline(std::ifstream(entry.path() / "stat"), text, '\0');
    // The name, in parentheses, may hold any character; state and parent follow it.
    const std::size_t after_name = text.rfind(')');
    int parent_of_it = 0;
    if (after_name != std::string::npos &&
        std::sscanf(text.c_str() + after_name + 1, " %*c %d", &parent_of_it) == 1 &&
        parent_of_it == parent)
      found.push_back(static_cast<pid_t>(std::strtol(name.c_str(), nullptr, 10)));
  }
  return found;
}

void end_children() {
  for (;;) {
    const std::vector<pid_t> left = children(getpid());
    if (left.empty()) return;
    for (const pid_t pid : left)
      kill(pid, SIGKILL);
    while (waitpid(-1, nullptr, 0) > 0) {
    }
  }
}

}  // namespace sorrel::tool
