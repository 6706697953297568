#include "abi/check.hpp"

#include "mpi/match/environment_info.hpp"

namespace sorrel::abi {

int fail_datatype(mpi::RankState& self, MPI_Datatype handle) {
  if (handle == MPI_DATATYPE_NULL)
    return self.fail(MPI_ERR_TYPE, "invalid datatype handle: MPI_DATATYPE_NULL");
  return self.fail(MPI_ERR_TYPE, "invalid datatype handle");
}

int fail_group(mpi::RankState& self, MPI_Group handle) {
  return self.fail(MPI_ERR_GROUP, handle == MPI_GROUP_NULL ? "invalid group handle: MPI_GROUP_NULL"
                                                           : "invalid group handle");
}

int fail_op(mpi::RankState& self, MPI_Op handle) {
  return self.fail(MPI_ERR_OP, handle == MPI_OP_NULL ? "invalid operation handle: MPI_OP_NULL"
                                                     : "invalid operation handle");
}

int fail_op_on(mpi::RankState& self, const mpi::Op& op, const mpi::Datatype& type) {
  if (op.is_one_sided_only())
    return self.fail(MPI_ERR_OP, "MPI_REPLACE and MPI_NO_OP are for one-sided communication only");
  return self.fail(MPI_ERR_OP, "op is not defined on datatype %s", type.label());
}

int fail_info(mpi::RankState& self) {
  return self.fail(MPI_ERR_INFO, "invalid info handle");
}

int check_info(mpi::RankState& self, MPI_Info info) {
  return info == MPI_INFO_NULL || mpi::info_of(info) != nullptr ? MPI_SUCCESS : fail_info(self);
}

int take_hints(mpi::RankState& self, MPI_Info info, mpi::Info* hints) {
  if (info == MPI_INFO_NULL) return MPI_SUCCESS;
  const mpi::Info* given = mpi::info_of(info);
  if (given == nullptr) return fail_info(self);
  for (int i = 0; i < given->size(); ++i) {
    const std::string& key = given->key(i);
    const int error = hints->set(key.c_str(), given->find(key)->c_str(), self.detail());
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

int fail_topology(mpi::RankState& self, std::string_view kind) {
  if (kind == "topology") return self.fail(MPI_ERR_TOPOLOGY, "comm has no topology");
  const char* what = kind == "cart"    ? "no Cartesian topology; MPI_Cart_create"
                     : kind == "graph" ? "no graph topology; MPI_Graph_create"
                                       : "no distributed graph topology; MPI_Dist_graph_create";
  return self.fail(MPI_ERR_TOPOLOGY, "comm has %s makes one that has", what);
}

int fail_uncommitted(mpi::RankState& self) {
  return self.fail(MPI_ERR_TYPE, "datatype is not committed: call MPI_Type_commit first");
}

int fail_count(mpi::RankState& self, long long count) {
  return self.fail(MPI_ERR_COUNT, "count is %lld; it must not be negative", count);
}

int fail_rank(mpi::RankState& self, const char* what, int rank, int size) {
  return self.fail(MPI_ERR_RANK, "%s is %d; it must be in 0..%d", what, rank, size - 1);
}

int check_inter_root(mpi::RankState& self, const mpi::Comm& comm, int root) {
  if (comm.inter == nullptr)
    return self.fail(MPI_ERR_ROOT, "root is %d; it must be in 0..%d", root, comm.size() - 1);
  if (root == MPI_ROOT || root == MPI_PROC_NULL) return MPI_SUCCESS;
  return self.fail(MPI_ERR_ROOT,
                   "root is %d; on an intercommunicator it must be a rank of the remote group, in "
                   "0..%d, or MPI_ROOT or MPI_PROC_NULL",
                   root, comm.size() - 1);
}

int fail_inter(mpi::RankState& self, const char* subject) {
  if (subject == nullptr)
    return self.fail(MPI_ERR_COMM, "comm is an intercommunicator; it must be an intracommunicator");
  return self.fail(MPI_ERR_UNSUPPORTED_OPERATION,
                   "Sorrel does not support %s on intercommunicators", subject);
}

int fail_tag(mpi::RankState& self, int tag) {
  return self.fail(MPI_ERR_TAG, "tag is %d; it must be in 0..%d", tag, mpi::tag_max);
}

int fail_buffer(mpi::RankState& self, const void* buffer) {
  return self.fail(MPI_ERR_BUFFER,
                   buffer == MPI_IN_PLACE
                       ? "the buffer is MPI_IN_PLACE, which is not allowed for this argument"
                       : "the buffer is a null pointer, which is allowed with count 0 only");
}

int fail_alias(mpi::RankState& self) {
  return self.fail(MPI_ERR_BUFFER,
                   "sendbuf and recvbuf overlap; use MPI_IN_PLACE where the result replaces the "
                   "operand");
}

}  // namespace sorrel::abi
