// Communicators: rank and size, creation and release. MPI 5.0, 7.4.
#include "abi/body.hpp"
#include "abi/deferred_collective.hpp"
#include "mpi/base/internal_tag.hpp"
#include "mpi/collectives/collectives.hpp"
#include "mpi/comm/attribute.hpp"
#include "mpi/job/comm_create.hpp"
#include "mpi/match/complete.hpp"
#include "mpi/match/environment_info.hpp"

namespace sorrel::abi {

namespace {

int duplicate(RankState& self, Comm& parent, MPI_Info info, MPI_Comm* newcomm) {
  Comm* copy = nullptr;
  if (const int error = comm_duplicate(self, parent, &copy); error != MPI_SUCCESS) return error;
  copy->topology = parent.topology;
  *newcomm = handle_of(*copy);
  const int error =
      mpi::copy_attributes(user_handle_of(self, parent), parent.attributes, copy->attributes);
  if (error != MPI_SUCCESS || info == MPI_INFO_NULL) return error;
  return body::Comm_set_info(self, *copy, info);
}

/// The communicator that MPI_Comm_idup returns at once, and makes a communicator at its completion.
struct IduplicateArguments {
  Comm* copy;
  /// Error of the copy callbacks, raised at completion: the other members need this one.
  int error;

  int operator()(const Member& member) const {
    const int failed = mpi::duplicate_into(member.self, member.comm, *copy);
    return failed != MPI_SUCCESS ? failed : error;
  }

  template <class Operation>
  void hold(Operation& /*operation*/, const Comm& /*comm*/) {}
};

/// As if MPI_Comm_dup were called now: attributes and hints are copied before the return.
int iduplicate(
    RankState& self, Comm& parent, MPI_Info info, MPI_Comm* newcomm, MPI_Request* request) {
  if (const int error = check_info(self, info); error != MPI_SUCCESS) return error;
  Comm& copy = mpi::make_incomplete_comm(parent);
  copy.topology = parent.topology;
  *newcomm = handle_of(copy);
  int error =
      mpi::copy_attributes(user_handle_of(self, parent), parent.attributes, copy.attributes);
  if (error == MPI_SUCCESS) error = body::Comm_set_info(self, copy, info);
  return DeferredCollective{.member = {self, parent}, .request = request}(
      {.kind = CollectiveKind::comm_dup}, IduplicateArguments{&copy, error});
}

/// Ranks of a node share its memory; finer hardware levels are not distinguished, for which the
/// standard prescribes MPI_COMM_NULL.
bool is_by_node(int split_type, MPI_Info handle) {
  if (split_type == MPI_COMM_TYPE_SHARED) return true;
  const bool is_guided =
      split_type == MPI_COMM_TYPE_HW_GUIDED || split_type == MPI_COMM_TYPE_RESOURCE_GUIDED;
  const mpi::Info* info = mpi::info_of(handle);
  if (!is_guided || info == nullptr) return false;
  const std::string* type = info->find("mpi_hw_resource_type");
  return type != nullptr && *type == "mpi_shared_memory";
}

int check_not_predefined(RankState& self, const Comm& comm, const char* what) {
  if (&comm != &self.world_comm && &comm != &self.self_comm) return MPI_SUCCESS;
  return self.fail(MPI_ERR_COMM, "comm is predefined and cannot be %s", what);
}

}  // namespace

namespace body {

int Comm_size(RankState& /*self*/, Comm& comm, int* size) {
  *size = local_size_of(comm);
  return MPI_SUCCESS;
}

int Comm_rank(RankState& /*self*/, Comm& comm, int* rank) {
  *rank = comm.rank;
  return MPI_SUCCESS;
}

int Comm_dup(RankState& self, Comm& comm, MPI_Comm* newcomm) {
  return duplicate(self, comm, MPI_INFO_NULL, newcomm);
}

int Comm_dup_with_info(RankState& self, Comm& comm, MPI_Info info, MPI_Comm* newcomm) {
  if (const int error = check_info(self, info); error != MPI_SUCCESS) return error;
  return duplicate(self, comm, info, newcomm);
}

int Comm_idup(RankState& self, Comm& comm, MPI_Comm* newcomm, MPI_Request* request) {
  return iduplicate(self, comm, MPI_INFO_NULL, newcomm, request);
}

int Comm_idup_with_info(
    RankState& self, Comm& comm, MPI_Info info, MPI_Comm* newcomm, MPI_Request* request) {
  return iduplicate(self, comm, info, newcomm, request);
}

int Comm_split(RankState& self, Comm& comm, int color, int key, MPI_Comm* newcomm) {
  Comm* made = nullptr;
  const int error = comm_split(self, comm, color, key, &made);
  *newcomm = handle_or_null(made);
  return error;
}

int Comm_split_type(
    RankState& self, Comm& comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm) {
  const bool is_known = split_type == MPI_COMM_TYPE_SHARED || split_type == MPI_UNDEFINED ||
                        split_type == MPI_COMM_TYPE_HW_GUIDED ||
                        split_type == MPI_COMM_TYPE_HW_UNGUIDED ||
                        split_type == MPI_COMM_TYPE_RESOURCE_GUIDED;
  if (!is_known)
    return self.fail(MPI_ERR_ARG, "split_type %d is not a valid split type", split_type);
  if (const int error = check_info(self, info); error != MPI_SUCCESS) return error;
  Comm* made = nullptr;
  const int node = static_cast<int>(self.world->own_node());
  const int error =
      comm_split(self, comm, is_by_node(split_type, info) ? node : MPI_UNDEFINED, key, &made);
  *newcomm = handle_or_null(made);
  return error;
}

int Comm_create(RankState& self, Comm& comm, const mpi::GroupHandle& group, MPI_Comm* newcomm) {
  Comm* made = nullptr;
  const int error = comm_create(self, comm, group.group, &made);
  *newcomm = handle_or_null(made);
  return error;
}

int Comm_create_group(
    RankState& self, Comm& comm, const mpi::GroupHandle& group, int tag, MPI_Comm* newcomm) {
  if (!is_tag(tag)) return fail_tag(self, tag);
  Comm* made = nullptr;
  const int error = comm_create_group(self, comm, group.group, tag, &made);
  *newcomm = handle_or_null(made);
  return error;
}

int Comm_free(RankState& self, Comm& on, MPI_Comm* comm) {
  if (const int error = check_not_predefined(self, on, "freed"); error != MPI_SUCCESS) return error;
  if (const int error = mpi::delete_attributes(*comm, on.attributes); error != MPI_SUCCESS)
    return error;
  *comm = MPI_COMM_NULL;
  if (self.spawned != nullptr && self.spawned->parent == &on) self.spawned->parent = nullptr;
  release(on);
  return MPI_SUCCESS;
}

int Comm_disconnect(RankState& self, Comm& on, MPI_Comm* comm) {
  if (const int error = check_not_predefined(self, on, "disconnected"); error != MPI_SUCCESS)
    return error;
  wait_for_released(self, on);
  on.call = mpi::CollectiveCall({.kind = CollectiveKind::comm_disconnect});
  if (const int error = mpi::barrier({self, on}); error != MPI_SUCCESS) return error;
  return Comm_free(self, on, comm);
}

}  // namespace body

}  // namespace sorrel::abi
