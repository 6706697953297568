#include "os/user_pages.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/check.hpp"
#include "os/shared_page.hpp"

namespace sorrel::os {

bool is_folder_of_users(const char* folder) {
  struct stat status{};
  return lstat(folder, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == 0 &&
         (status.st_mode & 07777) == 01777;
}

UserPages::UserPages(std::string folder, const char* name, std::size_t bytes)
    : folder_(std::move(folder)),
      prefix_(std::string(name) + '-'),
      suffix_('-' + process_namespace_text()),
      bytes_(bytes) {}

UserPages::~UserPages() {
  close_all();
}

void UserPages::close_all() {
  for (const Page& page : pages_)
    close(page.file);
  pages_.clear();
}

void UserPages::find() {
  close_all();
  if (!is_folder_of_users(folder_.c_str())) return;
  DIR* folder = opendir(folder_.c_str());
  if (folder == nullptr) return;
  while (const dirent* entry = readdir(folder)) {
    std::string_view name(entry->d_name);
    if (!name.starts_with(prefix_) || !name.ends_with(suffix_)) continue;
    name.remove_prefix(prefix_.size());
    std::uint32_t user = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), user);
    const bool is_number = error == std::errc() && std::string_view(end) == suffix_;
    if (!is_number || user == own_user()) continue;
    const int file =
        openat(dirfd(folder), entry->d_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) continue;
    struct stat status{};
    // Another user may have made a file of this name.
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == user &&
        (status.st_mode & 0022) == 0) {
      pages_.push_back({.user = user, .file = file});
    } else {
      close(file);
    }
  }
  closedir(folder);
  std::ranges::sort(pages_, {}, &Page::user);
}

bool UserPages::copy(const Page& page, void* to) const {
  SORREL_ASSERT(page.file >= 0 && to != nullptr, "the page of user %u", page.user);
  return pread(page.file, to, bytes_, 0) == static_cast<ssize_t>(bytes_);
}

std::uint32_t own_user() {
  return geteuid();
}

bool is_process_of_user(std::uint64_t identity, std::uint32_t user) {
  char path[48];
  std::snprintf(path, sizeof path, "/proc/%ld", static_cast<long>(identity >> 32));
  struct stat status{};
  return stat(path, &status) == 0 && status.st_uid == user && is_process_alive(identity);
}

}  // namespace sorrel::os
