// Communicators: rank and size, creation and release. MPI 5.0, 7.4.
#include "abi/call.hpp"
#include "abi/check.hpp"
#include "mpi/base/internal_tag.hpp"
#include "mpi/comm/attribute.hpp"
#include "mpi/job/comm_create.hpp"
#include "mpi/match/environment_info.hpp"

namespace sorrel::abi {

namespace {

MPI_Comm handle_or_null(Comm* comm) {
  return comm == nullptr ? MPI_COMM_NULL : handle_of(*comm);
}

int duplicate(RankState& self, MPI_Comm old_handle, Comm& parent, MPI_Comm* newcomm) {
  Comm* copy = nullptr;
  if (const int error = comm_duplicate(self, parent, &copy); error != MPI_SUCCESS) return error;
  copy->cart = parent.cart;
  *newcomm = handle_of(*copy);
  return mpi::copy_attributes(old_handle, parent.attributes, copy->attributes);
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

int release_communicator(RankState& self, MPI_Comm* handle, Comm& comm) {
  if (&comm == &self.world_comm || &comm == &self.self_comm) {
    return self.fail(MPI_ERR_COMM, "comm is predefined and cannot be freed");
  }
  if (const int error = mpi::delete_attributes(*handle, comm.attributes); error != MPI_SUCCESS)
    return error;
  *handle = MPI_COMM_NULL;
  release(comm);
  return MPI_SUCCESS;
}

}  // namespace

extern "C" {

int PMPI_Comm_size(MPI_Comm comm, int* size) {
  return call_on(comm, "MPI_Comm_size", [&](RankState& self, Comm& c) {
    SORREL_NOT_NULL(size);
    *size = c.size();
    return MPI_SUCCESS;
  });
}

int PMPI_Comm_rank(MPI_Comm comm, int* rank) {
  return call_on(comm, "MPI_Comm_rank", [&](RankState& self, Comm& c) {
    SORREL_NOT_NULL(rank);
    *rank = c.rank;
    return MPI_SUCCESS;
  });
}

int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
  return call_on(comm, "MPI_Comm_dup", [&](RankState& self, Comm& c) {
    SORREL_NOT_NULL(newcomm);
    return duplicate(self, comm, c, newcomm);
  });
}

int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
  return call_on(comm, "MPI_Comm_dup_with_info", [&](RankState& self, Comm& c) {
    SORREL_NOT_NULL(newcomm);
    if (const int error = duplicate(self, comm, c, newcomm); error != MPI_SUCCESS) return error;
    return PMPI_Comm_set_info(*newcomm, info);
  });
}

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
  return call_on(comm, "MPI_Comm_split", [&](RankState& self, Comm& c) {
    SORREL_NOT_NULL(newcomm);
    Comm* made = nullptr;
    const int error = comm_split(self, c, color, key, &made);
    *newcomm = handle_or_null(made);
    return error;
  });
}

int PMPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm) {
  return call_on(comm, "MPI_Comm_split_type", [&](RankState& self, Comm& c) {
    SORREL_NOT_NULL(newcomm);
    const bool is_known = split_type == MPI_COMM_TYPE_SHARED || split_type == MPI_UNDEFINED ||
                          split_type == MPI_COMM_TYPE_HW_GUIDED ||
                          split_type == MPI_COMM_TYPE_HW_UNGUIDED ||
                          split_type == MPI_COMM_TYPE_RESOURCE_GUIDED;
    if (!is_known)
      return self.fail(MPI_ERR_ARG, "split_type %d is not a valid split type", split_type);
    Comm* made = nullptr;
    const int node = static_cast<int>(self.world->own_node());
    const int error =
        comm_split(self, c, is_by_node(split_type, info) ? node : MPI_UNDEFINED, key, &made);
    *newcomm = handle_or_null(made);
    return error;
  });
}

int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
  return call_on(comm, "MPI_Comm_create", [&](RankState& self, Comm& c) {
    SORREL_NOT_NULL(newcomm);
    auto members = mpi::group_of(group);
    if (members == nullptr) return self.fail(MPI_ERR_GROUP, "invalid group handle");
    Comm* made = nullptr;
    const int error = comm_create(self, c, std::move(members), &made);
    *newcomm = handle_or_null(made);
    return error;
  });
}

int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm) {
  return call_on(comm, "MPI_Comm_create_group", [&](RankState& self, Comm& c) {
    SORREL_NOT_NULL(newcomm);
    auto members = mpi::group_of(group);
    if (members == nullptr) return self.fail(MPI_ERR_GROUP, "invalid group handle");
    if (tag < 0 || tag > mpi::tag_max) {
      return fail_tag(self, tag);
    }
    Comm* made = nullptr;
    const int error = comm_create_group(self, c, std::move(members), tag, &made);
    *newcomm = handle_or_null(made);
    return error;
  });
}

int PMPI_Comm_free(MPI_Comm* comm) {
  return call_on_variable(comm, "MPI_Comm_free", [&](RankState& self, Comm& c) {
    return release_communicator(self, comm, c);
  });
}

int PMPI_Comm_disconnect(MPI_Comm* comm) {
  return call_on_variable(comm, "MPI_Comm_disconnect", [&](RankState& self, Comm& c) {
    return release_communicator(self, comm, c);
  });
}

SORREL_WEAK(int, MPI_Comm_size, (MPI_Comm comm, int* size))
SORREL_WEAK(int, MPI_Comm_rank, (MPI_Comm comm, int* rank))
SORREL_WEAK(int, MPI_Comm_dup, (MPI_Comm comm, MPI_Comm* newcomm))
SORREL_WEAK(int, MPI_Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm))
SORREL_WEAK(int, MPI_Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* newcomm))
SORREL_WEAK(int,
            MPI_Comm_split_type,
            (MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm))
SORREL_WEAK(int, MPI_Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm))
SORREL_WEAK(int,
            MPI_Comm_create_group,
            (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm))
SORREL_WEAK(int, MPI_Comm_free, (MPI_Comm * comm))
SORREL_WEAK(int, MPI_Comm_disconnect, (MPI_Comm * comm))

}  // extern "C"

}  // namespace sorrel::abi
