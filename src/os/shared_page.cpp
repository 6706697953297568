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

#include "base/check.hpp"
#include "os/file_size_limit.hpp"
#include "os/lost_page.hpp"

namespace sorrel::os {

namespace {

/// Fields of /proc/PID/stat.
struct ProcessStat {
  char state = '?';
  long thread_count = 0;
  /// Clock ticks from the machine's start to the process's.
  std::uint64_t start_time = 0;

  /// Whether the process has ended and is not reaped. A first thread that has ended before other
  /// threads looks the same, except for the number of threads.
  [[nodiscard]] bool is_dead() const { return state == 'X' || (state == 'Z' && thread_count <= 1); }
};

/// Nothing if there is no such process, or it is not visible to this user.
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
  // The name, in parentheses, may contain any character; the state is the third word.
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
  SORREL_ASSERT(process > 0 && process >> 31 == 0, "process %ld", process);
  return static_cast<std::uint64_t>(process) << 32 | (start_time & 0xffff'ffff);
}

std::uint64_t process_namespace() {
  struct stat status{};
  return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

constexpr std::size_t path_bytes_max = 128;

/// Allocates all memory of the file now, because the first access to a sparse page raises SIGBUS
/// when memory has run out. Returns "" or the error.
std::string allocate(int file, std::size_t bytes) {
  struct stat status{};
  if (fstat(file, &status) != 0) return std::strerror(errno);
  if (static_cast<std::size_t>(status.st_size) < bytes && !may_have_file_of(bytes))
    return std::strerror(errno);
  int error = 0;
  do {
    error = posix_fallocate(file, 0, static_cast<off_t>(bytes));
  } while (error == EINTR);
  return error == 0 ? std::string() : std::strerror(error);
}

/// Creates the file under a temporary name first, so that other processes find it complete or not
/// at all, and with the right mode for any umask. Returns "" or the error.
std::string create_file(const char* path, std::size_t bytes, mode_t mode) {
  char own_path[path_bytes_max + 16];
  std::snprintf(own_path, sizeof own_path, "%s.%d", path, static_cast<int>(getpid()));
  unlink(own_path);
  const int file = open(own_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return std::strerror(errno);
  std::string error = fchmod(file, mode) == 0 ? allocate(file, bytes) : std::strerror(errno);
  close(file);
  // If another process has created the file meanwhile, its file is used.
  if (error.empty() && link(own_path, path) != 0 && errno != EEXIST) error = std::strerror(errno);
  unlink(own_path);
  return error;
}

/// Returns "" or why the file must not be used.
std::string check_file(int file, mode_t mode) {
  struct stat status{};
  if (fstat(file, &status) != 0) return std::strerror(errno);
  if (!S_ISREG(status.st_mode)) return "it is not a regular file";
  if (status.st_uid != geteuid()) return "it belongs to another user";
  if ((status.st_mode & 0077 & ~mode) != 0) return "its mode allows access to other users";
  return {};
}

}  // namespace

std::string process_namespace_text() {
  char text[24];
  std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(process_namespace()));
  return text;
}

SharedPage map_shared_page(const char* name, std::size_t bytes, const PagePlace& place) {
  char path[path_bytes_max];
  const int length = std::snprintf(path, sizeof path, "%s/%s-%u-%s", place.folder, name, geteuid(),
                                   process_namespace_text().c_str());
  SORREL_CHECK(length > 0 && static_cast<std::size_t>(length) < sizeof path, "%s in %s", name,
               place.folder);
  const mode_t mode = place.is_readable_by_all ? 0644 : 0600;
  std::string error;
  // O_NONBLOCK: a FIFO or a device is opened without blocking.
  constexpr int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  int file = open(path, flags);
  if (file < 0 && errno == ENOENT) {
    error = create_file(path, bytes, mode);
    file = open(path, flags);
  }
  if (file < 0 && error.empty())
    error = errno == ELOOP ? "it is a symbolic link" : std::strerror(errno);
  SharedPage page;
  if (file >= 0) {
    error = check_file(file, mode);
    if (error.empty()) error = allocate(file, bytes);
    if (error.empty()) {
      void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      if (base == MAP_FAILED) {
        error = std::strerror(errno);
      } else {
        page.base = base;
      }
    }
    close(file);
  }
  if (page.base == nullptr) {
    page.error = std::string("cannot use ") + path + ": " + error;
  } else {
    replace_when_lost(page.base, bytes);
  }
  return page;
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
  // The process number may have been reused.
  return !stat->is_dead() && identity_of(process, stat->start_time) == identity;
}

}  // namespace sorrel::os
