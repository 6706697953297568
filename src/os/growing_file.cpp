#include "os/growing_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "os/file_size_limit.hpp"

namespace sorrel::os {

GrowingFile::~GrowingFile() {
  unmap();
  if (descriptor_ >= 0) close(descriptor_);
}

int GrowingFile::create(const char* path) {
  descriptor_ = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  return descriptor_ < 0 ? errno : 0;
}

int GrowingFile::next_chunk(std::size_t bytes) {
  if (!may_have_file_of(static_cast<std::size_t>(size_) + bytes)) return errno;
  int error = 0;
  do {
    error = posix_fallocate(descriptor_, size_, static_cast<off_t>(bytes));
  } while (error == EINTR);
  if (error != 0) return error;
  void* memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, descriptor_, size_);
  if (memory == MAP_FAILED) return errno;
  unmap();
  chunk_ = static_cast<std::byte*>(memory);
  chunk_bytes_ = bytes;
  size_ += static_cast<std::int64_t>(bytes);
  return 0;
}

void GrowingFile::finish(std::int64_t bytes) {
  unmap();
  (void)!ftruncate(descriptor_, bytes);
}

void GrowingFile::unmap() {
  if (chunk_ != nullptr) munmap(chunk_, chunk_bytes_);
  chunk_ = nullptr;
}

}  // namespace sorrel::os
