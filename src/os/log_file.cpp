#include "os/log_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <new>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.hpp"
#include "os/file_size_limit.hpp"
#include "os/write_all.hpp"

namespace sorrel::os {

namespace {

constexpr std::uint64_t header_format = 0x31474f4c4c525253;  // "SRRLLOG1", little-endian

}  // namespace

LogFile::~LogFile() {
  if (header_ != nullptr) munmap(header_, sizeof(Header) + buffer_bytes_);
  if (descriptor_ >= 0) close(descriptor_);
}

int LogFile::create(const std::string& path,
                    const std::string& buffer_path,
                    std::size_t buffer_bytes) {
  SORREL_ASSERT(header_ == nullptr && buffer_bytes != 0, "a buffer of %zu bytes", buffer_bytes);
  constexpr int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;
  constexpr mode_t mode = 0666;
  descriptor_ = open(path.c_str(), flags, mode);
  if (descriptor_ < 0) return errno;
  const std::size_t bytes = sizeof(Header) + buffer_bytes;
  if (!may_have_file_of(bytes)) return errno;
  const int buffer = open(buffer_path.c_str(), flags, mode);
  if (buffer < 0) return errno;
  int error = 0;
  do {
    error = posix_fallocate(buffer, 0, static_cast<off_t>(bytes));
  } while (error == EINTR);
  void* memory = MAP_FAILED;
  if (error == 0) {
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, buffer, 0);
    if (memory == MAP_FAILED) error = errno;
  }
  close(buffer);
  if (error != 0) {
    unlink(buffer_path.c_str());
    return error;
  }
  header_ = new (memory) Header{.format = header_format};
  buffer_ = reinterpret_cast<std::byte*>(header_ + 1);
  buffer_bytes_ = buffer_bytes;
  buffer_path_ = buffer_path;
  return 0;
}

int LogFile::append() {
  // Relaxed: this thread's own store.
  const std::uint64_t end = header_->end.load(std::memory_order_relaxed);
  SORREL_CHECK(end >= begin_ && end - begin_ <= buffer_bytes_,
               "a buffer of %zu bytes holds those from %llu to %llu", buffer_bytes_,
               static_cast<unsigned long long>(begin_), static_cast<unsigned long long>(end));
  if (!may_have_file_of(static_cast<std::size_t>(end))) return errno;
  const std::string_view filled(reinterpret_cast<const char*>(buffer_), end - begin_);
  if (const int error = write_all(descriptor_, filled); error != 0) {
    // A part of the buffer would take the last space of a full disk.
    (void)!ftruncate(descriptor_, static_cast<off_t>(begin_));
    return error;
  }
  begin_ = end;
  header_->begin.store(end, std::memory_order_release);
  return 0;
}

void LogFile::finish() {
  if (append() == 0) unlink(buffer_path_.c_str());
}

bool LogRest::read(const std::string& buffer_path, LogRest& rest) {
  const int file = open(buffer_path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return false;
  struct stat status{};
  constexpr std::size_t header_bytes = sizeof(LogFile::Header);

  // A copy of the words: the file may be anything.
  struct {
    std::uint64_t format;
    std::uint64_t begin;
    std::uint64_t end;
  } words{};

  bool is_whole = fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
                  pread(file, &words, sizeof words, 0) == ssize_t{sizeof words} &&
                  words.format == header_format && words.begin <= words.end;
  const std::uint64_t count = words.end - words.begin;
  is_whole = is_whole && static_cast<std::uint64_t>(status.st_size) >= header_bytes &&
             count <= static_cast<std::uint64_t>(status.st_size) - header_bytes;
  if (is_whole) {
    rest.begin = words.begin;
    rest.bytes.resize(count);
    is_whole = pread(file, rest.bytes.data(), count, header_bytes) == static_cast<ssize_t>(count);
  }
  close(file);
  return is_whole;
}

}  // namespace sorrel::os
