#include "mpi/op/op.hpp"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <new>

#include "base/check.hpp"
#include "core/worker.hpp"

namespace sorrel::mpi {

namespace {

using ClassMask = std::uint32_t;

constexpr ClassMask mask_of(std::initializer_list<ElementClass> classes) {
  ClassMask mask = 0;
  for (const ElementClass one : classes)
    mask |= ClassMask{1} << static_cast<unsigned>(one);
  return mask;
}

static_assert(element_classes <= 32);

/// The table of MPI 5.0, 6.9.2.
constexpr ClassMask allowed_classes(PredefinedOp op) {
  using enum ElementClass;
  switch (op) {
    case PredefinedOp::max:
    case PredefinedOp::min:
      return mask_of({c_integer, fortran_integer, floating, multi_language});
    case PredefinedOp::sum:
    case PredefinedOp::prod:
      return mask_of({c_integer, fortran_integer, floating, complex, multi_language});
    case PredefinedOp::land:
    case PredefinedOp::lor:
    case PredefinedOp::lxor:
      return mask_of({c_integer, logical});
    case PredefinedOp::band:
    case PredefinedOp::bor:
    case PredefinedOp::bxor:
      return mask_of({c_integer, fortran_integer, byte, multi_language});
    case PredefinedOp::minloc:
    case PredefinedOp::maxloc:
      return mask_of({pair});
    case PredefinedOp::replace:
    case PredefinedOp::no_op:
      return mask_of({c_integer, fortran_integer, floating, complex, logical, byte, multi_language,
                      pair, text, packed});
    case PredefinedOp::user:
      break;
  }
  return 0;
}

/// If the function takes the length as int, longer arrays need several calls.
void call_user(const Op& op, const void* in, void* inout, std::size_t count, const Datatype& type) {
  constexpr std::size_t length_max = std::numeric_limits<int>::max();
  const core::PinnedFiber pinned;
  // The functions' signatures are older than const; they must not write to their first argument.
  auto* left = const_cast<std::byte*>(static_cast<const std::byte*>(in));
  auto* right = static_cast<std::byte*>(inout);
  if (op.large_function() != nullptr) {
    auto length = static_cast<MPI_Count>(count);
    MPI_Datatype handle = handle_of(type);
    if (count != 0) op.large_function()(left, right, &length, &handle);
    return;
  }
  while (count != 0) {
    int length = static_cast<int>(std::min(count, length_max));
    MPI_Datatype handle = handle_of(type);
    const std::size_t done = static_cast<std::size_t>(length);
    op.function()(left, right, &length, &handle);
    count -= done;
    left += static_cast<std::int64_t>(done) * type.extent();
    right += static_cast<std::int64_t>(done) * type.extent();
  }
}

}  // namespace

constexpr PredefinedOpTable::PredefinedOpTable() {
  using enum PredefinedOp;
  for (const PredefinedOp kind :
       {sum, min, max, prod, band, bor, bxor, land, lor, lxor, minloc, maxloc, replace, no_op}) {
    Op& op = ops[static_cast<std::size_t>(kind)];
    op.magic_ = Op::magic;
    op.kind_ = kind;
    op.commutative_ = kind != replace && kind != no_op;
  }
}

constinit const PredefinedOpTable predefined_ops;

Op* Op::create(MPI_User_function_c* function, bool commutative) {
  Op* op = create(static_cast<MPI_User_function*>(nullptr), commutative);
  if (op != nullptr) op->large_function_ = function;
  return op;
}

Op* Op::create(MPI_User_function* function, bool commutative) {
  auto* op = new (std::nothrow) Op;
  if (op == nullptr) return nullptr;
  op->function_ = function;
  op->commutative_ = commutative;
  op->references_ = 1;
  op->magic_ = magic;
  return op;
}

void Op::destroy() {
  // Volatile, because the compiler may drop a store to memory that is about to be freed, and a
  // stale handle should be detected until the memory is reused.
  *const_cast<volatile std::uint32_t*>(&magic_) = 0;
  delete this;
}

MPI_Op Op::handle() const {
  const std::uintptr_t value = is_predefined()
                                   ? predefined_op_first + static_cast<std::uintptr_t>(kind_)
                                   : reinterpret_cast<std::uintptr_t>(this);
  return reinterpret_cast<MPI_Op>(value);
}

bool allows_elements(const Op& op, ElementClass element_class) {
  return (allowed_classes(op.kind()) & mask_of({element_class})) != 0;
}

ReduceKernel predefined_kernel(const Op& op, const Datatype& type) {
  const ClassMask asked = mask_of({type.element_class()});
  if (!type.is_single_element() || (allowed_classes(op.kind()) & asked) == 0) return nullptr;
  return kernel_of(op.kind(), type.element());
}

void reduce(const Op& op, const void* in, void* inout, std::size_t count, const Datatype& type) {
  if (!op.is_predefined()) return call_user(op, in, inout, count, type);
  const ReduceKernel kernel = predefined_kernel(op, type);
  SORREL_CHECK(kernel != nullptr, "op %d on %s", static_cast<int>(op.kind()), type.name());
  kernel(in, inout, inout, count);
}

}  // namespace sorrel::mpi
