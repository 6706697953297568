//! RankFiles - the files that a rank has open, so that they go with it to another process, and are
//! open again after a restart.
//!
//! In a job whose ranks may pause, a file that a rank opens by name gets a descriptor of a range of
//! numbers that only this rank has, in whatever process. So numbers of two ranks never clash, and a
//! number tells the rank. Nothing else is recorded: the system knows path, flags and offset, and
//! read() asks for them. A file is opened again by its path, at its offset.
//!
//! Streams of stdio lie in the rank's memory, with their buffers. When that memory is there, they
//! enter the C library's list (program/base/stream_list.hpp).
//!
//! Used by the rank itself, and while no rank runs.
#pragma once

#include <cstdio>
#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/byte_cursor.hpp"
#include "base/byte_writer.hpp"

namespace sorrel::program {

class RankFiles {
 public:
  /// Whether an address lies in the rank's memory.
  using IsOwn = std::function<bool(const void* address)>;

  explicit RankFiles(int rank) : first_(first_number + rank * count_max) {}

  /// Before any rank runs: the process may have as many open files as so many ranks need, or fewer
  /// if the system allows too few.
  static void begin(int rank_count);

  /// The rank has opened a file. Returns its new descriptor; the same one if the file cannot be
  /// opened again by name, or no number is left. Keeps errno.
  [[nodiscard]] int adopt(int descriptor);

  /// The rank has opened a stream. Keeps errno.
  void adopt(FILE& stream);

  [[nodiscard]] bool has(int descriptor) const {
    return descriptor >= first_ && descriptor < first_ + used_;
  }

  /// Adds the descriptors that are open.
  void add_to(std::vector<int>& descriptors) const;

  /// Finds what save() writes. `streams`: all in the C library's list that lie in the rank's
  /// memory. Returns why a file or a stream cannot be opened again, for a user; "": all can.
  [[nodiscard]] std::string read(std::vector<FILE*> streams, const IsOwn& is_own);

  /// What read() has found.
  void save(ByteWriter& to) const;

  /// Whether read() has found files.
  [[nodiscard]] bool any() const { return !files_.empty(); }

  /// Calls visit(path, bytes) for each file found by read() that only the rank, and not
  /// programs that append to it, can be expected to make longer.
  template <class Visit>
  void for_each_written(Visit&& visit) const {
    for (const File& file : files_) {
      if (file.is_written) visit(file.path, file.bytes);
    }
  }

  struct Restored {
    /// "": all files are open.
    std::string error;
    /// What has changed since the files were saved, for a user; "": nothing.
    std::string note;
  };

  /// In a rank that has no file. `is_restart`: files may have changed since.
  [[nodiscard]] Restored restore(ByteCursor& from, bool is_restart);

  /// After restore(), when the memory of the rank is there.
  void restore_streams();

  /// The rank goes after read(), or does not come after restore(). Nothing is flushed.
  void leave();

 private:
  /// Numbers below are those of the process, and of what ranks open otherwise.
  static constexpr int first_number = 1024;
  static constexpr int count_max = 64;

  struct File {
    int descriptor = -1;
    int flags = 0;
    bool is_inherited = false;  ///< by programs that the rank executes
    bool is_written = false;    ///< not by appending, and no device
    off_t offset = 0;
    off_t bytes = 0;
    dev_t device = 0;
    ino_t inode = 0;
    std::string path;
  };

  [[nodiscard]] static std::string examine(File& file);
  [[nodiscard]] std::string read_files();
  [[nodiscard]] std::string find_shared_offset() const;
  [[nodiscard]] std::string stream_error(const FILE& stream, const IsOwn& is_own) const;
  static void open(const File& file, bool is_restart, Restored& result);

  const int first_;
  /// Numbers from the first one on that have ever been used.
  int used_ = 0;
  std::vector<File> files_;
  std::vector<FILE*> streams_;
  /// Whether these are in the C library's list.
  bool are_listed_ = false;
};

}  // namespace sorrel::program
