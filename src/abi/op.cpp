// Reduction operations, and the reduction of two local buffers. MPI 5.0, 6.9.5-6.9.7.
#include "mpi/op/op.hpp"

#include "abi/body.hpp"
#include "abi/check.hpp"

namespace sorrel::abi {

namespace {

using mpi::Datatype;
using mpi::Op;

/// `UserFunction` is MPI_User_function or MPI_User_function_c.
template <class UserFunction>
int create(RankState& self, UserFunction* function, int commute, MPI_Op* op) {
  if (function == nullptr) return fail_null(self, "user_fn");
  const Op* made = Op::create(function, commute != 0);
  if (made == nullptr) return self.fail(MPI_ERR_NO_MEM, "not enough memory for the operation");
  *op = handle_of(*made);
  return MPI_SUCCESS;
}

}  // namespace

namespace body {

int Op_create(RankState& self, MPI_User_function* user_fn, int commute, MPI_Op* op) {
  return create(self, user_fn, commute, op);
}

int Op_create_c(RankState& self, MPI_User_function_c* user_fn, int commute, MPI_Op* op) {
  return create(self, user_fn, commute, op);
}

int Op_free(RankState& self, MPI_Op* op) {
  Op* freed = mpi::op_from_handle(*op);
  if (freed == nullptr) return fail_op(self, *op);
  if (freed->is_predefined()) return self.fail(MPI_ERR_OP, "op is predefined and cannot be freed");
  freed->release();
  *op = MPI_OP_NULL;
  return MPI_SUCCESS;
}

int Op_commutative(RankState& self, MPI_Op op, int* commute) {
  const Op* asked = mpi::op_from_handle(op);
  if (asked == nullptr) return fail_op(self, op);
  *commute = asked->is_commutative() ? 1 : 0;
  return MPI_SUCCESS;
}

int Reduce_local(RankState& self, const UserReduction& user) {
  Datatype* type = nullptr;
  int error = check_buffer(self, user.send, user.count, user.datatype, &type);
  if (error == MPI_SUCCESS)
    error = check_buffer(self, user.receive, user.count, user.datatype, &type);
  if (error != MPI_SUCCESS) return error;
  const Op* used = mpi::op_from_handle(user.op);
  if (used == nullptr) return fail_op(self, user.op);
  if (!is_allowed(*used, *type) || used->is_one_sided_only()) return fail_op_on(self, *used, *type);
  if (user.count > 0)
    reduce(*used, user.send, user.receive, static_cast<std::size_t>(user.count), *type);
  return MPI_SUCCESS;
}

}  // namespace body

}  // namespace sorrel::abi
