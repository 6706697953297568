//! PartBytes - the bytes of a trace's part: those of its file, and what a killed process has left
//! in the buffer beside it.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <sorrel/result.hpp>

namespace sorrel::tool {

class PartBytes {
 public:
  /// `path`: of the part. The error is the rest of a sentence that begins with the file's name.
  [[nodiscard]] static Result<PartBytes> read(const std::string& path);

  PartBytes(PartBytes&& other) noexcept;
  PartBytes& operator=(PartBytes&& other) noexcept;
  ~PartBytes();

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit PartBytes(std::span<std::byte> bytes) : bytes_(bytes) {}

  std::span<std::byte> bytes_;
};

}  // namespace sorrel::tool
