#include "tools/sorrel/trace/part_bytes.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "os/log_file.hpp"

namespace sorrel::tool {

Result<PartBytes> PartBytes::read(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return Error{std::string("cannot be read: ") + std::strerror(errno)};
  struct stat status{};
  const bool is_file = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  auto file_bytes = static_cast<std::size_t>(is_file ? status.st_size : 0);
  os::LogRest rest;
  if (os::LogRest::read(std::filesystem::path(path).replace_extension(".rest").string(), rest)) {
    // Only a part that was cut has less than the log's beginning; then what follows is lost.
    if (rest.begin > file_bytes) {
      rest.bytes.clear();
    } else {
      file_bytes = rest.begin;
    }
  }
  const std::size_t bytes = file_bytes + rest.bytes.size();
  // The file lies over the beginning of private memory, and the rest behind it.
  constexpr int access = PROT_READ | PROT_WRITE;
  void* memory =
      bytes == 0 ? MAP_FAILED : mmap(nullptr, bytes, access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int error = memory == MAP_FAILED ? errno : 0;
  if (error == 0 && file_bytes != 0 &&
      mmap(memory, file_bytes, access, MAP_PRIVATE | MAP_FIXED, descriptor, 0) == MAP_FAILED) {
    error = errno;
    munmap(memory, bytes);
  }
  ::close(descriptor);
  if (!is_file) return Error{"is not a file"};
  if (bytes == 0) return Error{"is empty"};
  if (error != 0) return Error{std::string("cannot be read: ") + std::strerror(error)};
  std::ranges::copy(rest.bytes, static_cast<std::byte*>(memory) + file_bytes);
  return PartBytes({static_cast<std::byte*>(memory), bytes});
}

PartBytes::PartBytes(PartBytes&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

PartBytes& PartBytes::operator=(PartBytes&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

PartBytes::~PartBytes() {
  if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
}

}  // namespace sorrel::tool
