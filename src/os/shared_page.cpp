#include "os/shared_page.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sorrel::os {

namespace {

/// What /proc/PID/stat tells of a process.
struct ProcessStat {
  char state = '?';
  long thread_count = 0;
  /// Clock ticks from the machine's start to the process's.
  std::uint64_t start_time = 0;

  /// Nobody has asked for its exit status yet, but it runs no more. A first thread that has ended
  /// before others looks the same but for their number.
  [[nodiscard]] bool is_dead() const { return state == 'X' || (state == 'Z' && thread_count <= 1); }
};

/// Nothing if there is no such process, or it is hidden from us.
std::optional<ProcessStat> stat_of(long process) {
  char path[48];
  std::snprintf(path, sizeof path, "/proc/%ld/stat", process);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  char text[1024];
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return std::nullopt;
  text[length] = '\0';
  // The name, in parentheses, may hold anything; state is the third word.
  const char* at = std::strrchr(text, ')');
  if (at == nullptr || at[1] == '\0' || at[2] == '\0') return std::nullopt;
  ProcessStat stat{.state = at[2]};
  constexpr int threads_word = 20;
  constexpr int start_word = 22;
  for (int word = 3; word <= start_word && at != nullptr; ++word) {
    at = std::strchr(at + 1, ' ');
    if (at != nullptr && word == threads_word) stat.thread_count = std::strtol(at, nullptr, 10);
    if (at != nullptr && word == start_word) stat.start_time = std::strtoull(at, nullptr, 10);
  }
  return stat;
}

std::uint64_t identity_of(long process, std::uint64_t start_time) {
  return static_cast<std::uint64_t>(process) << 32 | (start_time & 0xffff'ffff);
}

std::uint64_t process_namespace() {
  struct stat status{};
  return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

}  // namespace

void* map_shared_page(const char* name, std::size_t bytes) {
  char path[128];
  std::snprintf(path, sizeof path, "/dev/shm/%s-%u-%llx", name, geteuid(),
                static_cast<unsigned long long>(process_namespace()));
  const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return nullptr;
  struct stat status{};
  const bool is_ours = fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
                       status.st_uid == geteuid() && (status.st_mode & 0777) == 0600;
  void* page = MAP_FAILED;
  if (is_ours && ftruncate(file, static_cast<off_t>(bytes)) == 0)
    page = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return page == MAP_FAILED ? nullptr : page;
}

std::uint64_t own_process_identity() {
  return identity_of(getpid(), stat_of(getpid()).value_or(ProcessStat{}).start_time);
}

bool is_process_gone(std::uint64_t identity) {
  return kill(static_cast<pid_t>(identity >> 32), 0) != 0 && errno == ESRCH;
}

bool is_process_alive(std::uint64_t identity) {
  const auto process = static_cast<long>(identity >> 32);
  if (is_process_gone(identity)) return false;
  const auto stat = stat_of(process);
  if (!stat) return true;
  // The number may have been given to another process since.
  return !stat->is_dead() && identity_of(process, stat->start_time) == identity;
}

}  // namespace sorrel::os
