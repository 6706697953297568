#include "tools/sorrel/common/cache_file.hpp"

#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include "os/file_owner.hpp"
#include "os/file_size_limit.hpp"
#include "tools/sorrel/common/installation.hpp"

namespace sorrel::tool {

namespace {

namespace files = std::filesystem;

/// While it lives, the umask is that of files for this user only.
class OwnerMask {
 public:
  OwnerMask() : before_(umask(0077)) {}

  ~OwnerMask() { umask(before_); }

  OwnerMask(const OwnerMask&) = delete;
  OwnerMask& operator=(const OwnerMask&) = delete;

 private:
  mode_t before_;
};

}  // namespace

std::string cache_path(const std::string& name) {
  const std::string folder = cache_folder();
  return folder.empty() ? "" : (files::path(folder) / name).string();
}

void keep_file(const std::string& path, const std::string& text) {
  if (path.empty() || !os::may_have_file_of(text.size())) return;
  // The user's later runs must be able to read the file.
  const OwnerMask mask;
  std::error_code error;
  if (os::make_private_folders(files::path(path).parent_path().string()) != 0) return;
  const files::path half = path + "." + std::to_string(getpid());
  if (std::ofstream(half) << text) files::rename(half, path, error);
  files::remove(half, error);
}

}  // namespace sorrel::tool
