#include "os/file_owner.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.hpp"

namespace sorrel::os {

namespace {

std::string error_of(const struct stat& about) {
  if (S_ISLNK(about.st_mode)) return "is a symbolic link";
  if (about.st_uid != ::geteuid()) return text_of("belongs to user %u", about.st_uid);
  if ((about.st_mode & (S_IWGRP | S_IWOTH)) == 0) return "";
  return text_of("may be written by other users (mode %04o)", about.st_mode & 07777U);
}

}  // namespace

std::string owner_error(int descriptor) {
  struct stat about{};
  return ::fstat(descriptor, &about) == 0 ? error_of(about) : std::strerror(errno);
}

std::string owner_error(const std::string& path) {
  struct stat about{};
  return ::lstat(path.c_str(), &about) == 0 ? error_of(about) : std::strerror(errno);
}

std::string folder_owner_error(const std::string& path) {
  struct stat about{};
  if (::lstat(path.c_str(), &about) != 0) return std::strerror(errno);
  return S_ISDIR(about.st_mode) ? error_of(about) : "is not a folder";
}

std::string private_open_error(const std::string& path, int error) {
  switch (error) {
    case ELOOP:
      return path + " is a symbolic link";
    case EISDIR:
      return path + " is a folder";
    case ENXIO:
      return path + " is a FIFO, a device or a socket";
    default:
      return path + ": " + std::strerror(error);
  }
}

int make_private_folder(const std::string& path) {
  if (::mkdir(path.c_str(), S_IRWXU) != 0) return errno;
  // A mask that takes away the rights of the owner, and inherited rights of a group.
  return ::chmod(path.c_str(), S_IRWXU) == 0 ? 0 : errno;
}

int make_private_folders(const std::string& path) {
  int error = 0;
  for (std::size_t end = path.find('/', 1); error == 0; end = path.find('/', end + 1)) {
    struct stat about{};
    const std::string folder = path.substr(0, end);
    if (!folder.empty() && ::stat(folder.c_str(), &about) != 0) error = make_private_folder(folder);
    if (error == EEXIST) error = 0;
    if (end == std::string::npos) break;
  }
  return error;
}

}  // namespace sorrel::os
