//! ByteRanges - the bytes of memory that a buffer argument describes, through its datatype.
//!
//! Beyond a limit of ranges the rest is unknown; large buffers are hashed in samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "mpi/datatype/datatype.hpp"

namespace sorrel::check {

struct ByteRange {
  std::uintptr_t begin;
  std::uintptr_t end;
};

class ByteRanges {
 public:
  /// Adds `count` elements of a type at an address.
  void add(const void* buffer, std::uint64_t count, const mpi::Datatype& type);

  [[nodiscard]] bool is_empty() const { return ranges_.empty(); }

  /// The first common byte; nothing if there is none.
  [[nodiscard]] std::optional<std::uintptr_t> overlap_with(const ByteRanges& other) const;

  [[nodiscard]] const std::vector<ByteRange>& ranges() const { return ranges_; }

  /// Hash of the contents; nothing if some of the memory is gone.
  [[nodiscard]] std::optional<std::uint64_t> hash() const;

 private:
  void add_layout(const mpi::Layout& layout, std::uintptr_t at);
  void add_range(ByteRange range);

  /// In the order of the datatypes; not empty each.
  std::vector<ByteRange> ranges_;
  std::uint64_t bytes_ = 0;
};

}  // namespace sorrel::check
