//! Integers, IntegerPointer - a caller's array of int, or of MPI_Aint and MPI_Count, and a caller's
//! variable of these types: the two forms of MPI's counts and displacements.
//!
//! Pure. Array and variable must outlive the view.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <mpi.h>

namespace sorrel::mpi {

/// Has no length.
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

/// Not null.
class IntegerPointer {
 public:
  explicit(false) IntegerPointer(int* value) : narrow_(value) {}

  explicit(false) IntegerPointer(std::int64_t* value) : wide_(value) {}

  [[nodiscard]] std::int64_t get() const { return narrow_ != nullptr ? *narrow_ : *wide_; }

  /// MPI_UNDEFINED for a number that an int cannot hold.
  void set(std::int64_t value) const {
    if (narrow_ == nullptr) {
      *wide_ = value;
    } else {
      *narrow_ = value > std::numeric_limits<int>::max() ? MPI_UNDEFINED : static_cast<int>(value);
    }
  }

 private:
  int* narrow_ = nullptr;
  std::int64_t* wide_ = nullptr;
};

}  // namespace sorrel::mpi
