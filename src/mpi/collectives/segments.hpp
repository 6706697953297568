//! Segments - which member computes which elements of a long reduction.
#pragma once

#include <cstdint>

#include "mpi/collectives/reduction.hpp"
#include "mpi/collectives/slots.hpp"

namespace sorrel::mpi {

/// A long reduction is cut into segments, each computed by one member; these members are spread
/// over the workers.
class Segments {
 public:
  Segments(const CollectiveSlots& slots, const ReductionArguments& arguments)
      : Segments(slots, arguments, slots.member_count()) {}

  /// Segments for `member_count` of the members only.
  Segments(const CollectiveSlots& slots,
           const ReductionArguments& arguments,
           std::int32_t member_count);

  [[nodiscard]] std::int32_t count() const { return count_; }

  [[nodiscard]] std::int32_t member_of(std::int32_t segment) const;
  /// The segment that a member computes, or -1.
  [[nodiscard]] std::int32_t segment_of(std::int32_t member) const;

  [[nodiscard]] ElementRange range_of(std::int32_t segment) const;
  /// The segment that has an element, the last one for the end of the vector.
  [[nodiscard]] std::int32_t segment_with(std::size_t element) const;

 private:
  std::size_t element_count_;
  std::int32_t member_count_;
  std::int32_t count_;
};

}  // namespace sorrel::mpi
