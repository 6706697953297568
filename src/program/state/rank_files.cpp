#include "program/state/rank_files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <utility>

#include "base/check.hpp"
#include "base/small_file.hpp"
#include "base/text.hpp"
#include "os/open_files_limit.hpp"
#include "program/base/restart_note.hpp"
#include "program/base/stream_list.hpp"

namespace sorrel::program {

namespace {

/// Devices without a state: /dev/null, zero, full, random, urandom.
bool is_plain_device(const struct stat& about) {
  constexpr unsigned memory_devices = 1;
  constexpr std::array minors = {3U, 5U, 7U, 8U, 9U};
  return S_ISCHR(about.st_mode) && major(about.st_rdev) == memory_devices &&
         std::ranges::find(minors, minor(about.st_rdev)) != minors.end();
}

/// Whether what a file holds is about the process that reads it, or about the system.
bool is_of_kernel(int descriptor) {
  struct statfs about{};
  if (::fstatfs(descriptor, &about) != 0) return true;
  switch (static_cast<unsigned long>(about.f_type)) {
    case PROC_SUPER_MAGIC:
    case SYSFS_MAGIC:
    case CGROUP_SUPER_MAGIC:
    case CGROUP2_SUPER_MAGIC:
    case DEBUGFS_MAGIC:
    case TRACEFS_MAGIC:
    case SECURITYFS_MAGIC:
      return true;
    default:
      return false;
  }
}

bool can_be_opened_again(int descriptor) {
  struct stat about{};
  if (::fstat(descriptor, &about) != 0) return false;
  return is_plain_device(about) || (S_ISREG(about.st_mode) && !is_of_kernel(descriptor));
}

/// Whether what is written there is outside of the job.
bool is_for_writing(int descriptor) {
  struct stat about{};
  return (::fcntl(descriptor, F_GETFL) & O_ACCMODE) != O_RDONLY &&
         (::fstat(descriptor, &about) != 0 || !is_plain_device(about));
}

std::string path_of(int descriptor) {
  std::array<char, PATH_MAX> path{};
  const ssize_t bytes =
      ::readlink(text_of("/proc/self/fd/%d", descriptor).c_str(), path.data(), path.size());
  return bytes <= 0 ? "" : std::string(path.data(), static_cast<std::size_t>(bytes));
}

/// By any process or description; also if that is not known.
bool may_be_locked(int descriptor) {
  constexpr std::size_t bytes_max = std::size_t{1} << 16;
  std::string text;
  return !read_small_file(text_of("/proc/self/fdinfo/%d", descriptor), bytes_max, text).empty() ||
         text.find("lock:") != std::string::npos;
}

/// Two descriptors of one file at the same offset: whether one moves with the other.
bool share_offset(int one, int two, off_t offset) {
  static_cast<void>(::lseek(one, offset + 1, SEEK_SET));
  const bool is_shared = ::lseek(two, 0, SEEK_CUR) != offset;
  static_cast<void>(::lseek(one, offset, SEEK_SET));
  return is_shared;
}

}  // namespace

void RankFiles::begin(int rank_count) {
  os::allow_open_files(first_number + static_cast<rlim_t>(rank_count) * count_max);
}

int RankFiles::adopt(int descriptor) {
  const int saved_errno = errno;
  int adopted = -1;
  if (restart_note != nullptr && is_for_writing(descriptor))
    note_effect("its program has opened a file for writing before MPI_Init");
  // A program that closes a standard descriptor and opens a file means that number.
  if (descriptor > STDERR_FILENO && can_be_opened_again(descriptor)) {
    const bool is_inherited = (::fcntl(descriptor, F_GETFD) & FD_CLOEXEC) == 0;
    adopted = ::fcntl(descriptor, is_inherited ? F_DUPFD : F_DUPFD_CLOEXEC, first_);
  }
  if (adopted >= first_ + count_max) {
    ::close(adopted);
    adopted = -1;
  }
  if (adopted >= 0) {
    used_ = std::max(used_, adopted - first_ + 1);
    SORREL_ASSERT(adopted >= first_ && used_ <= count_max, "descriptor %d of %d from %d on",
                  adopted, used_, first_);
    ::close(descriptor);
  }
  errno = saved_errno;
  return adopted >= 0 ? adopted : descriptor;
}

void RankFiles::adopt(FILE& stream) {
  // After freopen() it may have the number of its former file.
  if (stream._fileno >= 0 && !has(stream._fileno)) stream._fileno = adopt(stream._fileno);
}

void RankFiles::add_to(std::vector<int>& descriptors) const {
  for (int number = first_; number < first_ + used_; ++number) {
    if (::fcntl(number, F_GETFD) >= 0) descriptors.push_back(number);
  }
}

std::string RankFiles::read(std::vector<FILE*> streams, const IsOwn& is_own) {
  streams_ = std::move(streams);
  are_listed_ = true;
  std::string error = read_files();
  for (const FILE* stream : streams_) {
    if (error.empty()) error = stream_error(*stream, is_own);
  }
  return error;
}

std::string RankFiles::read_files() {
  std::vector<int> descriptors;
  add_to(descriptors);
  files_.clear();
  for (const int descriptor : descriptors) {
    File& file = files_.emplace_back();
    file.descriptor = descriptor;
    if (std::string error = examine(file); !error.empty()) return error;
  }
  return find_shared_offset();
}

std::string RankFiles::examine(File& file) {
  const int descriptor = file.descriptor;
  struct stat about{};
  struct stat named{};
  if (!can_be_opened_again(descriptor) || ::fstat(descriptor, &about) != 0)
    return text_of("it has a file that is no regular one (descriptor %d)", descriptor);
  file.path = path_of(descriptor);
  const char* const path = file.path.c_str();
  if (::stat(path, &named) != 0 || named.st_dev != about.st_dev || named.st_ino != about.st_ino)
    return text_of("its file %s has been deleted or replaced", path);
  file.flags = ::fcntl(descriptor, F_GETFL);
  file.is_inherited = (::fcntl(descriptor, F_GETFD) & FD_CLOEXEC) == 0;
  file.offset = ::lseek(descriptor, 0, SEEK_CUR);
  file.bytes = about.st_size;
  file.device = about.st_dev;
  file.inode = about.st_ino;
  if (file.flags < 0 || file.offset < 0)
    return text_of("its file %s cannot be examined: %s", path, std::strerror(errno));
  const int access = file.flags & O_ACCMODE;
  file.is_written = access != O_RDONLY && (file.flags & O_APPEND) == 0 && S_ISREG(about.st_mode);
  const int wanted = (access != O_WRONLY ? R_OK : 0) | (access != O_RDONLY ? W_OK : 0);
  if (::faccessat(AT_FDCWD, path, wanted, AT_EACCESS) != 0)
    return text_of("its file %s cannot be opened again: %s", path, std::strerror(errno));
  if (may_be_locked(descriptor)) return text_of("it has a lock on its file %s", path);
  return "";
}

/// Two descriptors of one description (dup) would be two.
std::string RankFiles::find_shared_offset() const {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      const File& one = files_[i];
      const File& two = files_[k];
      if (one.inode == two.inode && one.device == two.device && one.offset == two.offset &&
          share_offset(one.descriptor, two.descriptor, one.offset))
        return text_of("two of its descriptors share the offset in %s (dup)", one.path.c_str());
    }
  }
  return "";
}

std::string RankFiles::stream_error(const FILE& stream, const IsOwn& is_own) const {
  if (!StreamList::can_change())
    return "it has a stream of stdio, and this C library does not let streams go";
  if (!StreamList::is_plain(stream))
    return "it has a stream of stdio of wide characters, or without a file (fmemopen, popen)";
  if (stream._fileno >= 0 && !has(stream._fileno))
    return text_of("it has a stream of stdio whose file cannot be opened again (descriptor %d)",
                   stream._fileno);
  const auto is_in_place = [&](const void* part) { return part == nullptr || is_own(part); };
  if (!is_in_place(stream._IO_buf_base) || !is_in_place(stream._IO_save_base) ||
      !is_in_place(stream._lock))
    return "it has a stream of stdio with a buffer in memory that is not its own";
  return "";
}

void RankFiles::save(ByteWriter& to) const {
  SORREL_ASSERT(files_.size() <= static_cast<std::size_t>(used_), "%zu files, %d descriptors",
                files_.size(), used_);
  to.add(used_);
  to.add(files_.size());
  for (const File& file : files_) {
    to.add(file.descriptor);
    to.add(file.flags);
    to.add(file.is_inherited);
    to.add(file.offset);
    to.add(file.bytes);
    to.add(file.device);
    to.add(file.inode);
    to.add_block(file.path);
  }
  to.add(streams_.size());
  for (FILE* stream : streams_)
    to.add(stream);
}

RankFiles::Restored RankFiles::restore(ByteCursor& from, bool is_restart) {
  Restored result;
  std::vector<int> used;
  used_ = from.take<int>();
  add_to(used);
  if (!used.empty()) {
    // Not the rank's: leave() must not close them.
    used_ = 0;
    result.error = text_of("descriptor %d is in use", used.front());
    return result;
  }
  for (auto left = from.take<std::size_t>(); left > 0 && from.is_good(); --left) {
    File file{.descriptor = from.take<int>(),
              .flags = from.take<int>(),
              .is_inherited = from.take<bool>(),
              .offset = from.take<off_t>(),
              .bytes = from.take<off_t>(),
              .device = from.take<dev_t>(),
              .inode = from.take<ino_t>(),
              .path = std::string(from.take_block())};
    if (from.is_good() && result.error.empty()) open(file, is_restart, result);
  }
  streams_.clear();
  are_listed_ = false;
  for (auto left = from.take<std::size_t>(); left > 0 && from.is_good(); --left)
    streams_.push_back(from.take<FILE*>());
  return result;
}

void RankFiles::open(const File& file, bool is_restart, Restored& result) {
  const char* const path = file.path.c_str();
  // The flags have none that creates or cuts the file.
  const int opened = ::open(path, file.flags | O_CLOEXEC | O_NOCTTY);
  struct stat about{};
  const auto fail = [&](const std::string& error) {
    if (opened >= 0) ::close(opened);
    result.error = error;
  };
  if (opened < 0 || ::fstat(opened, &about) != 0)
    return fail(text_of("cannot open %s again: %s", path, std::strerror(errno)));
  const bool is_same = about.st_dev == file.device && about.st_ino == file.inode;
  if (!can_be_opened_again(opened) || (!is_restart && !is_same))
    return fail(text_of("%s is another file than before", path));
  if (about.st_size < file.bytes) {
    return fail(text_of("%s has %lld bytes, and had %lld when the rank was saved", path,
                        static_cast<long long>(about.st_size), static_cast<long long>(file.bytes)));
  }
  // The number of a device changes when the machine starts anew.
  if (about.st_ino != file.inode)
    result.note = text_of("%s is another file than when the job was saved", path);
  if ((file.flags & O_APPEND) != 0 && about.st_size > file.bytes) {
    result.note =
        text_of("what was appended to %s since the job was saved stays, and may come again", path);
  }
  if (::lseek(opened, file.offset, SEEK_SET) != file.offset ||
      ::dup3(opened, file.descriptor, file.is_inherited ? 0 : O_CLOEXEC) < 0)
    return fail(text_of("cannot open %s again: %s", path, std::strerror(errno)));
  ::close(opened);
}

void RankFiles::restore_streams() {
  SORREL_ASSERT(!are_listed_, "%zu streams are listed twice", streams_.size());
  for (FILE* stream : streams_)
    StreamList::add(*stream);
  are_listed_ = true;
}

void RankFiles::leave() {
  for (FILE* stream : streams_) {
    if (are_listed_) StreamList::remove(*stream);
  }
  std::vector<int> descriptors;
  add_to(descriptors);
  for (const int descriptor : descriptors)
    ::close(descriptor);
}

}  // namespace sorrel::program
