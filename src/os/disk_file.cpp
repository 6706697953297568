#include "os/disk_file.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/check.hpp"
#include "base/copy_bytes.hpp"
#include "os/page_bytes.hpp"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace sorrel::os {

namespace {

/// The system moves at most this much in one call.
constexpr std::size_t call_bytes_max = std::size_t{1} << 30;

/// Local file systems whose mapped memory is the memory that read and write use.
bool is_coherent(int descriptor) {
  struct statfs about;
  if (::fstatfs(descriptor, &about) != 0) return false;
  switch (static_cast<unsigned long>(about.f_type)) {
    case EXT4_SUPER_MAGIC:
    case TMPFS_MAGIC:
    case OVERLAYFS_SUPER_MAGIC:
    case BTRFS_SUPER_MAGIC:
    case F2FS_SUPER_MAGIC:
    case 0x58465342:  // XFS
      return true;
    default:
      return false;
  }
}

/// Calls move(bytes, done) until all is moved, nothing more comes, or it fails.
template <class Move>
Moved move_all(std::size_t bytes, Move&& move) {
  Moved moved;
  while (moved.bytes < bytes) {
    const ssize_t now = move(std::min(bytes - moved.bytes, call_bytes_max), moved.bytes);
    SORREL_ASSERT(now <= static_cast<ssize_t>(bytes - moved.bytes), "%zd bytes of %zu", now,
                  bytes - moved.bytes);
    if (now > 0) {
      moved.bytes += static_cast<std::size_t>(now);
    } else if (now == 0) {
      break;
    } else if (errno != EINTR) {
      moved.error = errno;
      break;
    }
  }
  return moved;
}

/// Calls `function` until no signal interrupts it.
template <class Function>
int repeat(Function&& function) {
  while (function() != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

}  // namespace

DiskFile::~DiskFile() {
  (void)close();
}

int DiskFile::open(const char* path, OpenMode mode) {
  // O_NONBLOCK: a FIFO is opened without its other end.
  const int how = O_CLOEXEC | (mode.creates ? O_CREAT : 0) | (mode.is_exclusive ? O_EXCL : 0) |
                  (mode.is_private ? O_NOFOLLOW | O_NONBLOCK : 0);
  const mode_t own = S_IRUSR | S_IWUSR;
  const mode_t rights = mode.is_private ? own : own | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH;
  const int access = !mode.writes ? O_RDONLY : mode.reads ? O_RDWR : O_WRONLY;
  const auto try_open = [&](int with) {
    do {
      descriptor_ = ::open(path, how | with, rights);
    } while (descriptor_ < 0 && errno == EINTR);
    return descriptor_ >= 0;
  };
  is_readable_ = true;
  if (!try_open(access == O_WRONLY ? O_RDWR : access)) {
    if (access != O_WRONLY || errno != EACCES || !try_open(O_WRONLY)) return errno;
    is_readable_ = false;
  }
  struct stat about;
  int error = ::fstat(descriptor_, &about) != 0 ? errno : S_ISDIR(about.st_mode) ? EISDIR : 0;
  if (error == 0 && mode.is_private && !S_ISREG(about.st_mode)) error = ENXIO;
  // A mask that takes away the rights of the owner.
  if (error == 0 && mode.is_private && mode.creates && ::fchmod(descriptor_, own) != 0)
    error = errno;
  if (error != 0) {
    (void)close();
    return error;
  }
  may_map_ = mode.writes && is_readable_ && S_ISREG(about.st_mode) && is_coherent(descriptor_);
  return 0;
}

int DiskFile::close() {
  if (descriptor_ < 0) return 0;
  const int closed = descriptor_;
  descriptor_ = -1;
  // After EINTR the descriptor is closed, too.
  return ::close(closed) == 0 || errno == EINTR ? 0 : errno;
}

Moved DiskFile::read(void* to, std::size_t bytes, std::int64_t offset) const {
  SORREL_ASSERT(offset >= 0, "%lld", static_cast<long long>(offset));
  return move_all(bytes, [&](std::size_t now, std::size_t done) {
    return ::pread(descriptor_, static_cast<std::byte*>(to) + done, now,
                   offset + static_cast<std::int64_t>(done));
  });
}

Moved DiskFile::write(const void* from, std::size_t bytes, std::int64_t offset) const {
  SORREL_ASSERT(offset >= 0, "%lld", static_cast<long long>(offset));
  Moved moved = move_all(bytes, [&](std::size_t now, std::size_t done) {
    return ::pwrite(descriptor_, static_cast<const std::byte*>(from) + done, now,
                    offset + static_cast<std::int64_t>(done));
  });
  // A device that takes nothing more and names no error.
  if (moved.error == 0 && moved.bytes < bytes) moved.error = ENOSPC;
  return moved;
}

bool DiskFile::write_mapped(std::span<const FilePiece> pieces) const {
  if (!may_map_ || pieces.empty()) return false;
  // The last piece makes the file long enough.
  const FilePiece& last = pieces.back();
  const std::int64_t end = last.offset + static_cast<std::int64_t>(last.bytes);
  if (const Moved moved = write(last.from, last.bytes, last.offset); moved.error != 0) return false;
  const auto page = static_cast<std::int64_t>(page_bytes());
  const std::int64_t begin = pieces.front().offset / page * page;
  const auto bytes = static_cast<std::size_t>(end - begin);
  void* mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, begin);
  if (mapped == MAP_FAILED) return false;
  // Where an access would raise SIGBUS (no space, a broken device), this fails instead.
  const bool is_populated =
      repeat([&] { return ::madvise(mapped, bytes, MADV_POPULATE_WRITE); }) == 0;
  if (is_populated) {
    for (const FilePiece& piece : pieces.first(pieces.size() - 1)) {
      SORREL_CHECK(
          piece.offset >= begin && piece.offset + static_cast<std::int64_t>(piece.bytes) <= end,
          "%zu bytes at %lld, not in %lld to %lld", piece.bytes,
          static_cast<long long>(piece.offset), static_cast<long long>(begin),
          static_cast<long long>(end));
      copy_bytes(static_cast<std::byte*>(mapped) + (piece.offset - begin), piece.from, piece.bytes);
    }
  }
  (void)::munmap(mapped, bytes);
  return is_populated;
}

int DiskFile::get_size(std::int64_t* bytes) const {
  struct stat about;
  if (::fstat(descriptor_, &about) != 0) return errno;
  *bytes = about.st_size;
  return 0;
}

int DiskFile::set_size(std::int64_t bytes) const {
  return repeat([&] { return ::ftruncate(descriptor_, bytes); });
}

int DiskFile::allocate(std::int64_t bytes) const {
  SORREL_ASSERT(bytes >= 0, "%lld", static_cast<long long>(bytes));
  if (bytes == 0) return 0;
  // Returns the error instead of setting errno.
  int error = 0;
  do {
    error = ::posix_fallocate(descriptor_, 0, bytes);
  } while (error == EINTR);
  return error;
}

int DiskFile::sync() const {
  const int error = repeat([&] { return ::fsync(descriptor_); });
  // A pipe, a terminal: there is no device.
  return error == EINVAL || error == EROFS ? 0 : error;
}

int DiskFile::set_lock(FileRange range, int type) const {
  SORREL_ASSERT(range.begin < range.end, "%lld to %lld", static_cast<long long>(range.begin),
                static_cast<long long>(range.end));
  struct flock lock{};
  lock.l_type = static_cast<short>(type);
  lock.l_whence = SEEK_SET;
  lock.l_start = range.begin;
  lock.l_len = range.end - range.begin;
  return repeat([&] { return ::fcntl(descriptor_, F_OFD_SETLK, &lock); });
}

int DiskFile::try_lock(FileRange range, LockKind kind) const {
  if (range.begin >= range.end) return 0;
  const bool is_shared = kind == LockKind::shared && is_readable_;
  const int error = set_lock(range, is_shared ? F_RDLCK : F_WRLCK);
  return error == EACCES ? EAGAIN : error;
}

int DiskFile::unlock(FileRange range) const {
  return range.begin >= range.end ? 0 : set_lock(range, F_UNLCK);
}

int delete_file(const char* path) {
  return repeat([&] { return ::unlink(path); });
}

}  // namespace sorrel::os
