#include "program/state/working_directory.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>
#include <tuple>
#include <unistd.h>

#include "base/check.hpp"
#include "program/base/libc.hpp"
#include "program/state/shared_values.hpp"

namespace sorrel::program {

namespace {

/// Device and number of the directory, and its path, which mounts of one directory differ in.
using Place = std::tuple<dev_t, ino_t, std::string>;

[[nodiscard]] SharedValues<Place, WorkingDirectory>& directories() {
  static auto& values = *new SharedValues<Place, WorkingDirectory>;
  return values;
}

/// A descriptor of the thread's directory in the upper half; negative if there is none. Low numbers
/// are left to the program, which may expect them.
[[nodiscard]] int open_directory() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return -1;
  const int least = static_cast<int>(std::min<rlim_t>(files.rlim_cur, 1 << 16) / 2);
  const int file = ::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  const int moved = file < 0 ? -1 : ::fcntl(file, F_DUPFD_CLOEXEC, least);
  if (file >= 0) ::close(file);
  return moved;
}

/// "" if the directory has no path: it was removed.
[[nodiscard]] std::string path_of_thread() {
  char path[PATH_MAX];
  return ::getcwd(path, sizeof path) != nullptr ? path : "";
}

}  // namespace

std::shared_ptr<const WorkingDirectory> WorkingDirectory::of_thread() {
  struct stat status{};
  if (::stat(".", &status) != 0) return nullptr;
  const std::string path = path_of_thread();
  auto found = directories().find_or_make(Place(status.st_dev, status.st_ino, path), [&] {
    return std::make_unique<WorkingDirectory>(open_directory(), status, path);
  });
  if (found->file_ >= 0 || !path.empty()) return found;
  errno = EMFILE;
  return nullptr;
}

WorkingDirectory::~WorkingDirectory() {
  if (file_ >= 0) ::close(file_);
}

bool WorkingDirectory::enter_path() const {
  static auto* const real = next_definition<decltype(::chdir)>("chdir");
  struct stat status{};
  if (real(path_.c_str()) != 0 || ::stat(".", &status) != 0) return false;
  if (status.st_dev == device_ && status.st_ino == number_) return true;
  errno = ENOENT;
  return false;
}

void WorkingDirectory::enter() const {
  static auto* const real = next_definition<decltype(::fchdir)>("fchdir");
  const bool is_entered = file_ >= 0 ? real(file_) == 0 : enter_path();
  SORREL_CHECK(is_entered, "the working directory of a rank is lost: %s: %s", path_.c_str(),
               std::strerror(errno));
}

}  // namespace sorrel::program
