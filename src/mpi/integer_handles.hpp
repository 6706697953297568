//! IntegerHandles - the handles of one rank as integers: MPI_Comm_toint and its like.
//!
//! A predefined handle is its own integer, as the standard ABI has it. Any other gets a number at
//! its first question and keeps it: an address that is used again for a new object has the number
//! of the old one, whose handle is the same. Own worker only. Limit: 2^31 - 4097 different
//! addresses.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "mpi/handle.hpp"

namespace sorrel::mpi {

class IntegerHandles {
 public:
  [[nodiscard]] int number_of(std::uintptr_t handle);

  /// 0 for a number that was never given.
  [[nodiscard]] std::uintptr_t handle_of(int number) const;

 private:
  std::unordered_map<std::uintptr_t, int> numbers_;
  /// By number, from first_dynamic_handle on.
  std::vector<std::uintptr_t> handles_;
};

}  // namespace sorrel::mpi
