#include "tools/sorrel/checkpoint/folder_lock.hpp"

#include <cerrno>
#include <fmt/core.h>

#include "checkpoint/generations.hpp"
#include "os/file_owner.hpp"
#include "os/lock_file.hpp"
#include "tools/sorrel/common/diagnostic.hpp"

namespace sorrel::tool {

Result<std::optional<int>> lock_folder(const std::string& folder) {
  const std::string path = folder + '/' + checkpoint::lock_name;
  os::LockFile lock;
  const int error = lock.take(path);
  if (error == EWOULDBLOCK) {
    return Error{fmt::format(
        "{} is in use: a job with its checkpoints there runs ({}); wait for its end, or end it",
        folder, lock.holder())};
  }
  if (error == ENOLCK) {
    print_diagnostic(fmt::format(
        "note: the file system of {} has no locks: nothing keeps a second job out of the folder",
        folder));
    return std::optional<int>();
  }
  if (error != 0) return Error{os::private_open_error(path, error)};
  return std::optional(lock.descriptor());
}

}  // namespace sorrel::tool
