// One-sided operations. MPI 5.0, 12.3.
#include "abi/body.hpp"
#include "abi/check.hpp"
#include "mpi/rma/cells.hpp"
#include "mpi/rma/operations.hpp"

namespace sorrel::abi {
namespace {

using mpi::Datatype;
using mpi::Op;
using mpi::Requested;
using mpi::TargetBuffer;
using mpi::TypedBuffer;
using mpi::Win;

int check_origin(RankState& self, const UserBuffer& user, TypedBuffer* buffer) {
  Datatype* type = nullptr;
  if (const int error = check_buffer(self, user, &type); error != MPI_SUCCESS) [[unlikely]]
    return error;
  *buffer = {.buffer = user.buffer, .count = static_cast<std::size_t>(user.count), .type = type};
  return MPI_SUCCESS;
}

int check_target_rank(RankState& self, const Win& win, int rank) {
  if (rank >= 0 && rank < win.size()) [[likely]]
    return MPI_SUCCESS;
  return rank == MPI_PROC_NULL ? MPI_SUCCESS : fail_rank(self, "target_rank", rank, win.size());
}

int check_target(RankState& self, const Win& win, const UserTarget& user, TargetBuffer* target) {
  if (const int error = check_target_rank(self, win, user.rank); error != MPI_SUCCESS) [[unlikely]]
    return error;
  const Datatype* type = mpi::datatype_from_handle(user.datatype);
  if (type == nullptr) [[unlikely]]
    return fail_datatype(self, user.datatype);
  if (user.count < 0) [[unlikely]]
    return fail_count(self, user.count);
  if (!type->is_committed()) [[unlikely]]
    return fail_uncommitted(self);
  *target = {.rank = user.rank,
             .displacement = user.displacement,
             .count = static_cast<std::size_t>(user.count),
             .type = type};
  return MPI_SUCCESS;
}

// The operation of an accumulate on elements of a type.
int check_op(RankState& self, MPI_Op handle, const TargetBuffer& target, Op** op) {
  const Datatype& type = *target.type;
  *op = mpi::op_from_handle(handle);
  if (*op == nullptr) return fail_op(self, handle);
  if (!(*op)->is_predefined())
    return self.fail(MPI_ERR_OP, "op is a user's operation; it must be a predefined one");
  if (target.bytes() == 0) return MPI_SUCCESS;
  if (mpi::cell_unit_of(type).packed_bytes == 0)
    return self.fail(MPI_ERR_TYPE,
                     "the elements of %s differ; they must all be of one predefined datatype",
                     type.label());
  if (!mpi::allows_elements(**op, type.element_class()))
    return self.fail(MPI_ERR_OP, "op is not defined for %s", type.label());
  return MPI_SUCCESS;
}

int check_elements(RankState& self, const TypedBuffer& buffer, const TargetBuffer& in_window) {
  const Datatype& origin = *buffer.type;
  const Datatype& target = *in_window.type;
  if (origin.element() == target.element() || buffer.bytes() == 0 || in_window.bytes() == 0)
    return MPI_SUCCESS;
  return self.fail(MPI_ERR_TYPE, "%s and %s have elements of different datatypes", origin.label(),
                   target.label());
}

int put(RankState& self,
        Win& win,
        const UserBuffer& origin,
        const UserTarget& target,
        Requested requested) {
  TypedBuffer from;
  TargetBuffer to;
  if (const int error = check_origin(self, origin, &from); error != MPI_SUCCESS) return error;
  if (const int error = check_target(self, win, target, &to); error != MPI_SUCCESS) return error;
  return mpi::put(win, from, to, requested);
}

int get(RankState& self,
        Win& win,
        const UserBuffer& origin,
        const UserTarget& target,
        Requested requested) {
  TypedBuffer into;
  TargetBuffer from;
  if (const int error = check_origin(self, origin, &into); error != MPI_SUCCESS) return error;
  if (const int error = check_target(self, win, target, &from); error != MPI_SUCCESS) return error;
  return mpi::get(win, into, from, requested);
}

int accumulate(RankState& self,
               Win& win,
               const UserBuffer& origin,
               const UserTarget& target,
               MPI_Op handle,
               Requested requested) {
  TypedBuffer from;
  TargetBuffer to;
  Op* op = nullptr;
  if (const int error = check_origin(self, origin, &from); error != MPI_SUCCESS) return error;
  if (const int error = check_target(self, win, target, &to); error != MPI_SUCCESS) return error;
  if (const int error = check_op(self, handle, to, &op); error != MPI_SUCCESS) return error;
  if (op->kind() == mpi::PredefinedOp::no_op)
    return self.fail(MPI_ERR_OP, "op is MPI_NO_OP, which changes nothing and returns nothing here");
  if (const int error = check_elements(self, from, to); error != MPI_SUCCESS) return error;
  return mpi::accumulate(win, from, to, *op, requested);
}

int get_accumulate(RankState& self,
                   Win& win,
                   const UserBuffer& origin,
                   const UserBuffer& result,
                   const UserTarget& target,
                   MPI_Op handle,
                   Requested requested) {
  TypedBuffer from;
  TypedBuffer into;
  TargetBuffer to;
  Op* op = nullptr;
  if (const int error = check_origin(self, result, &into); error != MPI_SUCCESS) return error;
  if (const int error = check_target(self, win, target, &to); error != MPI_SUCCESS) return error;
  if (const int error = check_op(self, handle, to, &op); error != MPI_SUCCESS) return error;
  if (op->kind() != mpi::PredefinedOp::no_op) {
    if (const int error = check_origin(self, origin, &from); error != MPI_SUCCESS) return error;
    if (const int error = check_elements(self, from, to); error != MPI_SUCCESS) return error;
  }
  if (const int error = check_elements(self, into, to); error != MPI_SUCCESS) return error;
  return mpi::get_accumulate(win, from, into, to, *op, requested);
}

// The one element of MPI_Fetch_and_op and MPI_Compare_and_swap.
int check_element(RankState& self,
                  const Win& win,
                  MPI_Datatype handle,
                  int target_rank,
                  MPI_Aint target_disp,
                  TargetBuffer* target) {
  const UserTarget user{
      .rank = target_rank, .displacement = target_disp, .count = 1, .datatype = handle};
  if (const int error = check_target(self, win, user, target); error != MPI_SUCCESS) return error;
  if (target->type->is_single_element()) return MPI_SUCCESS;
  return self.fail(MPI_ERR_TYPE, "%s is not a predefined datatype", target->type->label());
}

bool can_be_compared(const Datatype& type) {
  switch (type.element_class()) {
    case mpi::ElementClass::c_integer:
    case mpi::ElementClass::fortran_integer:
    case mpi::ElementClass::logical:
    case mpi::ElementClass::byte:
    case mpi::ElementClass::multi_language:
      return true;
    default:
      return false;
  }
}

int fail_buffer_named(RankState& self, const char* name) {
  return self.fail(MPI_ERR_BUFFER, "%s is a null pointer", name);
}

}  // namespace

namespace body {

int Put(RankState& self, Win& win, const UserBuffer& origin, const UserTarget& target) {
  return put(self, win, origin, target, {});
}

int Rput(RankState& self,
         Win& win,
         const UserBuffer& origin,
         const UserTarget& target,
         MPI_Request* request) {
  return put(self, win, origin, target, {request});
}

int Get(RankState& self, Win& win, const UserBuffer& origin, const UserTarget& target) {
  return get(self, win, origin, target, {});
}

int Rget(RankState& self,
         Win& win,
         const UserBuffer& origin,
         const UserTarget& target,
         MPI_Request* request) {
  return get(self, win, origin, target, {request});
}

int Accumulate(
    RankState& self, Win& win, const UserBuffer& origin, const UserTarget& target, MPI_Op op) {
  return accumulate(self, win, origin, target, op, {});
}

int Raccumulate(RankState& self,
                Win& win,
                const UserBuffer& origin,
                const UserTarget& target,
                MPI_Op op,
                MPI_Request* request) {
  return accumulate(self, win, origin, target, op, {request});
}

int Get_accumulate(RankState& self,
                   Win& win,
                   const UserBuffer& origin,
                   const UserBuffer& result,
                   const UserTarget& target,
                   MPI_Op op) {
  return get_accumulate(self, win, origin, result, target, op, {});
}

int Rget_accumulate(RankState& self,
                    Win& win,
                    const UserBuffer& origin,
                    const UserBuffer& result,
                    const UserTarget& target,
                    MPI_Op op,
                    MPI_Request* request) {
  return get_accumulate(self, win, origin, result, target, op, {request});
}

int Fetch_and_op(RankState& self,
                 Win& win,
                 const void* origin_addr,
                 void* result_addr,
                 MPI_Datatype datatype,
                 int target_rank,
                 MPI_Aint target_disp,
                 MPI_Op handle) {
  TargetBuffer to;
  Op* op = nullptr;
  if (const int error = check_element(self, win, datatype, target_rank, target_disp, &to);
      error != MPI_SUCCESS)
    return error;
  if (const int error = check_op(self, handle, to, &op); error != MPI_SUCCESS) return error;
  if (result_addr == nullptr) return fail_buffer_named(self, "result_addr");
  if (origin_addr == nullptr && op->kind() != mpi::PredefinedOp::no_op)
    return fail_buffer_named(self, "origin_addr");
  const TypedBuffer from{.buffer = const_cast<void*>(origin_addr), .count = 1, .type = to.type};
  const TypedBuffer into{.buffer = result_addr, .count = 1, .type = to.type};
  return mpi::get_accumulate(win, from, into, to, *op, {});
}

int Compare_and_swap(RankState& self,
                     Win& win,
                     const void* origin_addr,
                     const void* compare_addr,
                     void* result_addr,
                     MPI_Datatype datatype,
                     int target_rank,
                     MPI_Aint target_disp) {
  TargetBuffer to;
  if (const int error = check_element(self, win, datatype, target_rank, target_disp, &to);
      error != MPI_SUCCESS)
    return error;
  if (!can_be_compared(*to.type))
    return self.fail(MPI_ERR_TYPE, "%s is not an integer, logical or byte datatype",
                     to.type->label());
  if (origin_addr == nullptr) return fail_buffer_named(self, "origin_addr");
  if (compare_addr == nullptr) return fail_buffer_named(self, "compare_addr");
  if (result_addr == nullptr) return fail_buffer_named(self, "result_addr");
  return mpi::compare_and_swap(win, origin_addr, compare_addr, result_addr, to);
}

}  // namespace body

}  // namespace sorrel::abi
