//! SharedSegment - memory that a process and those it starts have in common, without a name.
//!
//! Made by memfd_create, so that nothing can be left behind; where that is refused by shm_open with
//! mode 0600 and unlinked at once. Children inherit the descriptor. Zero-filled and sparse: only
//! touched pages take memory. Why: docs/decisions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sorrel::os {

class SharedSegment {
 public:
  SharedSegment() = default;
  SharedSegment(SharedSegment&& other) noexcept;
  SharedSegment& operator=(SharedSegment&& other) noexcept;
  ~SharedSegment();

  /// A new one; not valid, with errno set, when the system refuses. The descriptor survives exec:
  /// those who must not have it close it.
  [[nodiscard]] static SharedSegment create(std::size_t bytes);

  /// The one behind an inherited descriptor, which is closed: the mapping needs it no more. Not
  /// valid, with errno set, when it has a name or is shorter than `bytes`.
  [[nodiscard]] static SharedSegment adopt(int descriptor, std::size_t bytes);

  [[nodiscard]] bool is_valid() const { return base_ != nullptr; }

  [[nodiscard]] std::byte* base() const { return base_; }

  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  /// Of one that this process has created; -1 else.
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  void map(int descriptor, std::size_t bytes);

  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
  int descriptor_ = -1;
};

}  // namespace sorrel::os
