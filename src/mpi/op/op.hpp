//! Op - one reduction operation: predefined, or a function of the program.
//!
//! Collectives call reduce(): inout = in op inout, element by element, where `in` is the left
//! operand as in MPI. The caller checks is_allowed() first. A user's op belongs to one rank, and
//! only that rank's worker may retain, release and call it; its function runs on the calling fiber.
//! Predefined ops are constants for all ranks and threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi.h"
#include "mpi/base/object_memory.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/op/kernels.hpp"

namespace sorrel::mpi {

class alignas(16) Op : public HandleObject<ObjectType::op> {
 public:
  /// An unused entry of the table of predefined ops.
  constexpr Op() = default;
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;

  /// A user's operation with one owner; nullptr if out of memory.
  [[nodiscard]] static Op* create(MPI_User_function* function, bool commutative);
  /// A user's operation whose function takes its count as an MPI_Count.
  [[nodiscard]] static Op* create(MPI_User_function_c* function, bool commutative);

  [[nodiscard]] bool is_predefined() const { return kind_ != PredefinedOp::user; }

  [[nodiscard]] bool is_commutative() const { return commutative_; }

  [[nodiscard]] PredefinedOp kind() const { return kind_; }

  /// MPI_REPLACE and MPI_NO_OP: MPI allows them in one-sided communication only.
  [[nodiscard]] bool is_one_sided_only() const {
    return kind_ == PredefinedOp::replace || kind_ == PredefinedOp::no_op;
  }

  /// A user's operation has one of the two functions.
  [[nodiscard]] MPI_User_function* function() const { return function_; }

  [[nodiscard]] MPI_User_function_c* large_function() const { return large_function_; }

  [[nodiscard]] bool is_valid() const { return magic_ == magic; }

  [[nodiscard]] MPI_Op handle() const;

  void retain() {
    SORREL_ASSERT(is_valid(), "the op has been destroyed");
    if (!is_predefined()) ++references_;
  }

  [[nodiscard]] std::uint32_t reference_count() const { return references_; }

  /// For an op that was made again, with all its owners.
  void set_reference_count(std::uint32_t count) { references_ = count; }

  /// The last owner's release destroys the op.
  void release() {
    SORREL_ASSERT(is_valid() && (is_predefined() || references_ != 0), "released too often");
    if (!is_predefined() && --references_ == 0) destroy();
  }

 private:
  friend struct PredefinedOpTable;
  static constexpr std::uint32_t magic = 0x2e70704f;  // "Opp."

  void destroy();

  // Constant after construction.
  std::uint32_t magic_ = 0;
  PredefinedOp kind_ = PredefinedOp::user;
  bool commutative_ = true;
  MPI_User_function* function_ = nullptr;
  MPI_User_function_c* large_function_ = nullptr;

  // The owner's worker only.
  std::uint32_t references_ = 0;
};

inline constexpr std::uintptr_t predefined_op_first = 0x20;

/// The predefined ops by the standard ABI's constant; the entry of an unassigned constant is not
/// valid.
struct PredefinedOpTable {
  constexpr PredefinedOpTable();
  Op ops[predefined_op_count];
};

extern const PredefinedOpTable predefined_ops;

/// The op of a handle; nullptr for MPI_OP_NULL and for an invalid handle.
[[nodiscard]] inline Op* op_from_handle(MPI_Op handle) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  Op* op = nullptr;
  if (value - predefined_op_first < predefined_op_count) {
    // Constant: functions that change an op ignore predefined ones.
    op = const_cast<Op*>(&predefined_ops.ops[value - predefined_op_first]);
  } else {
    if (value < 4096 || value % alignof(Op) != 0) [[unlikely]]
      return nullptr;
    op = reinterpret_cast<Op*>(value);
  }
  return op->is_valid() ? op : nullptr;
}

[[nodiscard]] inline MPI_Op handle_of(const Op& op) {
  return op.handle();
}

/// The loop of a predefined op on a predefined type (or a dup of one), nullptr if MPI does not
/// allow the pair or the op is a user's: MPI_ERR_OP.
[[nodiscard]] ReduceKernel predefined_kernel(const Op& op, const Datatype& type);

/// Whether MPI allows a predefined op on the elements of a class, for accumulates, whose types may
/// consist of many.
[[nodiscard]] bool allows_elements(const Op& op, ElementClass element_class);

/// Whether the op may be used on the type: any user's op may.
[[nodiscard]] inline bool is_allowed(const Op& op, const Datatype& type) {
  return !op.is_predefined() || predefined_kernel(op, type) != nullptr;
}

/// inout = in op inout for `count` elements. The pair must be allowed.
void reduce(const Op& op, const void* in, void* inout, std::size_t count, const Datatype& type);

}  // namespace sorrel::mpi
