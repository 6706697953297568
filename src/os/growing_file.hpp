//! GrowingFile - a file that is written through mapped memory, one chunk after the other.
//!
//! The space of a chunk is allocated before it is mapped: a full disk is an error of next_chunk(),
//! and no signal. What has been written stays in the file however the process ends; the rest of the
//! last chunk is zero. One thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sorrel::os {

class GrowingFile {
 public:
  GrowingFile() = default;
  ~GrowingFile();
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;

  /// Creates the file, which must not exist. errno; 0: done.
  [[nodiscard]] int create(const char* path);

  /// Lengthens the file by `bytes` zero bytes, a multiple of the page size, and maps them in the
  /// place of the chunk before. errno; 0: chunk() is the new one. After an error the chunk before
  /// is still mapped.
  [[nodiscard]] int next_chunk(std::size_t bytes);

  [[nodiscard]] std::byte* chunk() const { return chunk_; }

  /// Cuts the file to its first `bytes` bytes. The chunk is no longer mapped.
  void finish(std::int64_t bytes);

 private:
  void unmap();

  int descriptor_ = -1;
  std::int64_t size_ = 0;
  std::byte* chunk_ = nullptr;
  std::size_t chunk_bytes_ = 0;
};

}  // namespace sorrel::os
