//! IntegerHandles - the handles of one rank as integers: MPI_Comm_toint and its like.
//!
//! A predefined handle is its own integer, as in the standard ABI. Any other handle gets a number
//! at its first conversion and keeps it. If an address is reused for a new object, the handle is
//! the same and so is the number. Own worker only. Limit: 2^31 - 4097 different addresses.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "mpi/base/handle.hpp"

namespace sorrel::mpi {

class IntegerHandles {
 public:
  [[nodiscard]] int number_of(std::uintptr_t handle);

  /// 0 for a number that was never assigned.
  [[nodiscard]] std::uintptr_t handle_of(int number) const;

  /// In the order in which number_of() has got them.
  [[nodiscard]] const std::vector<std::uintptr_t>& all() const { return handles_; }

 private:
  std::unordered_map<std::uintptr_t, int> numbers_;
  /// By number, from first_dynamic_handle on.
  std::vector<std::uintptr_t> handles_;
};

}  // namespace sorrel::mpi
