//! LogFile - a file that grows at its end, through a buffer that a kill of the process does not
//! lose.
//!
//! The buffer is mapped memory of a second file. One thread writes; when the process has ended in
//! whatever way, the file's first `begin` bytes and the buffer's filled ones are what was
//! written (LogRest::read()). The space of the buffer is allocated before it is mapped: a full disk
//! is an error of a call, and no signal.
//!
//! Claim: no byte is lost or read twice, wherever a kill falls. `begin` and `end` count bytes of
//! the log, and the buffer has those of [begin, end). A byte is stored before `end` covers it.
//! append() writes the buffer into the file and then sets `begin` to `end`, one store: before it,
//! the buffer counts, and what the file has behind `begin` does not; after it, the buffer is empty.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sorrel::os {

class LogFile {
 public:
  LogFile() = default;
  /// Does not append what is in the buffer, and leaves both files.
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  /// Creates the file and that of its buffer, neither of which may exist. errno; 0: done.
  [[nodiscard]] int create(const std::string& path,
                           const std::string& buffer_path,
                           std::size_t buffer_bytes);

  /// Null before create().
  [[nodiscard]] std::byte* buffer() const { return buffer_; }

  /// Bytes of the file that belong to the log.
  [[nodiscard]] std::uint64_t appended_bytes() const { return begin_; }

  /// The first `bytes` bytes of the buffer are part of the log from now on.
  void set_filled(std::size_t bytes) {
    // Release: a reader that finds the new end finds the bytes.
    header_->end.store(begin_ + bytes, std::memory_order_release);
  }

  /// Writes the filled bytes into the file; the buffer is empty then. errno; 0: done. After an
  /// error the buffer keeps its bytes, and the log cannot grow.
  [[nodiscard]] int append();

  /// append(), and removes the buffer's file if nothing is left in it.
  void finish();

 private:
  friend struct LogRest;

  /// At the beginning of the buffer's file.
  struct alignas(64) Header {
    std::uint64_t format = 0;
    std::atomic<std::uint64_t> begin{0};
    std::atomic<std::uint64_t> end{0};
  };

  int descriptor_ = -1;
  std::string buffer_path_;
  Header* header_ = nullptr;
  std::byte* buffer_ = nullptr;
  std::size_t buffer_bytes_ = 0;
  std::uint64_t begin_ = 0;
};

/// What a process that did not finish its log has left in the buffer.
struct LogRest {
  /// Bytes of the file that belong to the log.
  std::uint64_t begin = 0;
  std::vector<std::byte> bytes;

  /// Nothing if there is no such file: then the whole file is the log. Damaged ones count as none.
  [[nodiscard]] static bool read(const std::string& buffer_path, LogRest& rest);
};

}  // namespace sorrel::os
