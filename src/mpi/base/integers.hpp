//! Integers - a view of a caller's array of int, or of MPI_Aint and MPI_Count: the two forms of
//! MPI's counts and displacements.
//!
//! Pure. Has no length; the array must outlive the view.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sorrel::mpi {

class Integers {
 public:
  /// No array.
  constexpr Integers() = default;

  explicit(false) constexpr Integers(std::nullptr_t) {}

  explicit(false) Integers(const int* values) : narrow_(values) {}

  explicit(false) Integers(const std::int64_t* values) : wide_(values) {}

  [[nodiscard]] bool is_null() const { return narrow_ == nullptr && wide_ == nullptr; }

  [[nodiscard]] std::int64_t operator[](std::size_t index) const {
    return narrow_ != nullptr ? narrow_[index] : wide_[index];
  }

 private:
  const int* narrow_ = nullptr;
  const std::int64_t* wide_ = nullptr;
};

}  // namespace sorrel::mpi
