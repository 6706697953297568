#include "tools/sorrel/run/children.hpp"

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fmt/core.h>
#include <memory>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace sorrel::tool {

std::vector<pid_t> children() {
  std::vector<pid_t> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc"), closedir);
  while (folder != nullptr) {
    const dirent* entry = readdir(folder.get());
    if (entry == nullptr) break;
    const std::string path = fmt::format("/proc/{}/stat", entry->d_name);
    if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
    std::FILE* file = std::fopen(path.c_str(), "re");
    if (file == nullptr) continue;
    std::array<char, 512> text{};
    const std::size_t length = std::fread(text.data(), 1, text.size() - 1, file);
    std::fclose(file);
    // The name, in parentheses, may hold any character; state and parent follow it.
    const char* after_name = std::strrchr(text.data(), ')');
    int parent = 0;
    if (length > 0 && after_name != nullptr &&
        std::sscanf(after_name + 1, " %*c %d", &parent) == 1 && parent == getpid())
      found.push_back(static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10)));
  }
  return found;
}

void end_children() {
  for (;;) {
    const std::vector<pid_t> left = children();
    if (left.empty()) return;
    for (const pid_t pid : left)
      kill(pid, SIGKILL);
    while (waitpid(-1, nullptr, 0) > 0) {
    }
  }
}

}  // namespace sorrel::tool
