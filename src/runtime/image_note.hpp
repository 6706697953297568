//! ImageNote - the line of --verbose about what the privatized images of a process cost.
#pragma once

#include <atomic>
#include <cstdint>

#include "program/image/image_slab.hpp"

namespace sorrel::runtime {

class ImageNote {
 public:
  explicit ImageNote(bool is_wanted) : is_wanted_(is_wanted) {}

  /// slab.make(index), timed if the note is wanted. Different indices at the same time.
  [[nodiscard]] bool make(const program::ImageSlab& slab, int index);

  /// On standard error, if wanted and if the ranks have images of their own: once, when all are
  /// made.
  void print(const program::ImageSlab& slab) const;

 private:
  const bool is_wanted_;
  // Relaxed: read when all threads that make images have been joined or synchronised with.
  std::atomic<std::int64_t> total_ns_{0};
  std::atomic<int> made_count_{0};
};

}  // namespace sorrel::runtime
