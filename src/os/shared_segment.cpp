#include "os/shared_segment.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/check.hpp"
#include "os/clock.hpp"
#include "os/file_size_limit.hpp"

namespace sorrel::os {

namespace {

/// A descriptor of unnamed shared memory, or -1.
int open_nameless() {
  const int descriptor = memfd_create("sorrel", 0);
  if (descriptor >= 0) return descriptor;
  char name[64];
  std::snprintf(name, sizeof name, "/sorrel-%d-%llx", static_cast<int>(getpid()),
                static_cast<unsigned long long>(monotonic_ns()));
  const int named = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
  if (named < 0) return -1;
  shm_unlink(name);
  fcntl(named, F_SETFD, 0);
  return named;
}

}  // namespace

SharedSegment::SharedSegment(SharedSegment&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

SharedSegment& SharedSegment::operator=(SharedSegment&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

SharedSegment::~SharedSegment() {
  if (base_ != nullptr) munmap(base_, bytes_);
  if (descriptor_ >= 0) close(descriptor_);
}

void SharedSegment::map(int descriptor, std::size_t bytes) {
  SORREL_ASSERT(base_ == nullptr && bytes != 0, "a segment of %zu bytes is mapped", bytes);
  void* range =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  if (range == MAP_FAILED) return;
  // A huge page would commit 2 MiB for the first touched byte of a mailbox.
  madvise(range, bytes, MADV_NOHUGEPAGE);
  base_ = static_cast<std::byte*>(range);
  bytes_ = bytes;
}

SharedSegment SharedSegment::create(std::size_t bytes) {
  SharedSegment segment;
  segment.descriptor_ = open_nameless();
  if (segment.descriptor_ < 0) return segment;
  if (may_have_file_of(bytes) && ftruncate(segment.descriptor_, static_cast<off_t>(bytes)) == 0)
    segment.map(segment.descriptor_, bytes);
  return segment;
}

SharedSegment SharedSegment::adopt(int descriptor, std::size_t bytes) {
  SharedSegment segment;
  struct stat status{};
  if (fstat(descriptor, &status) != 0) return segment;
  // A file with a name is a file of the user's.
  if (status.st_nlink != 0 || static_cast<std::size_t>(status.st_size) < bytes) {
    errno = EBADF;
    return segment;
  }
  segment.map(descriptor, bytes);
  close(descriptor);
  return segment;
}

SharedSegment SharedSegment::open_of(int pid, int descriptor, std::size_t bytes) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, descriptor);
  const int own = open(path, O_RDWR | O_CLOEXEC);
  if (own < 0) return {};
  SharedSegment segment = adopt(own, bytes);
  if (!segment.is_valid()) close(own);
  return segment;
}

void SharedSegment::close_descriptor() {
  if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
}

}  // namespace sorrel::os
