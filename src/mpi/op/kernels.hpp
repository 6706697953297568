//! Kernels - the loops of the predefined reductions: result[i] = left[i] op right[i].
//!
//! One plain loop per (operation, representation), which the compiler vectorises. Buffers need no
//! alignment; the result may be the right operand, and must not overlap otherwise. Integers wrap,
//! comparisons with NaN give the right operand, a complex product is the textbook one. op.hpp
//! decides whether MPI allows an operation on a type; here every computable pair has a kernel.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi/datatype/element.hpp"

namespace sorrel::mpi {

using ReduceKernel = void (*)(const void* left, const void* right, void* result, std::size_t count);

/// The predefined operations, by the standard ABI's constants less 0x20.
enum class PredefinedOp : std::uint8_t {
  sum = 0x01,
  min = 0x02,
  max = 0x03,
  prod = 0x04,
  band = 0x08,
  bor = 0x09,
  bxor = 0x0a,
  land = 0x10,
  lor = 0x11,
  lxor = 0x12,
  minloc = 0x18,
  maxloc = 0x19,
  replace = 0x1c,
  no_op = 0x1d,
  user = 0x1f,  ///< not predefined: a function of the program
};

inline constexpr std::size_t predefined_op_count = 0x20;

/// nullptr if the operation is not defined for the representation, or the compiler lacks the type.
[[nodiscard]] ReduceKernel kernel_of(PredefinedOp op, Element element);

}  // namespace sorrel::mpi
