//! SharedSegment - memory that a process shares with the processes it starts, without a name.
//!
//! Created by memfd_create, so that nothing can be left behind; where that fails, by shm_open with
//! mode 0600 and unlinked at once. Children inherit the descriptor. Zero-filled and sparse: only
//! touched pages take memory. Reasons: docs/decisions.
#pragma once

#include <cstddef>

namespace sorrel::os {

class SharedSegment {
 public:
  SharedSegment() = default;
  SharedSegment(SharedSegment&& other) noexcept;
  SharedSegment& operator=(SharedSegment&& other) noexcept;
  ~SharedSegment();

  /// A new segment; if the system call fails, it is not valid and errno is set. The descriptor
  /// survives exec: a process that must not have it closes it.
  [[nodiscard]] static SharedSegment create(std::size_t bytes);

  /// The segment of an inherited descriptor, which is closed, since the mapping does not need it.
  /// Not valid, with errno set, if it has a name or is shorter than `bytes`.
  [[nodiscard]] static SharedSegment adopt(int descriptor, std::size_t bytes);

  /// The segment that the running process `pid`, of the same user, has open under `descriptor`: for
  /// processes that did not inherit it. Not valid, with errno set, if that is not possible.
  [[nodiscard]] static SharedSegment open_of(int pid, int descriptor, std::size_t bytes);

  /// Closes the descriptor of a segment that this process has created; the memory stays.
  void close_descriptor();

  [[nodiscard]] bool is_valid() const { return base_ != nullptr; }

  [[nodiscard]] std::byte* base() const { return base_; }

  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  /// The descriptor of a segment that this process has created; else -1.
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  void map(int descriptor, std::size_t bytes);

  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
  int descriptor_ = -1;
};

}  // namespace sorrel::os
