// Communicators: comparison, names, hints, and parents. MPI 5.0, 7.4, 7.8, 11.8.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "abi/call.hpp"
#include "mpi/comm/group_algebra.hpp"
#include "mpi/match/environment_info.hpp"

namespace sorrel::abi {
namespace {

using mpi::Info;

const char* default_name(const RankState& self, const Comm& comm) {
  if (&comm == &self.world_comm) return "MPI_COMM_WORLD";
  if (&comm == &self.self_comm) return "MPI_COMM_SELF";
  return "";
}

void give_name(const char* name, char* result, int* length) {
  const std::size_t size = std::strlen(name);
  std::memcpy(result, name, size + 1);
  *length = static_cast<int>(size);
}

// Adds the hints of `from` to those of the communicator.
int add_hints(RankState& self, Comm& comm, const Info& from) {
  if (comm.info == nullptr) comm.info = std::make_unique<Info>();
  for (int i = 0; i < from.size(); ++i) {
    const std::string& key = from.key(i);
    const int error = comm.info->set(key.c_str(), from.find(key)->c_str(), self.detail());
    if (error != MPI_SUCCESS) return error;
  }
  const std::string* is_read_late = comm.info->find("sorrel_read_late");
  comm.is_read_late = is_read_late != nullptr && *is_read_late == "true";
  return MPI_SUCCESS;
}

int fail_intra(RankState& self) {
  return self.fail(MPI_ERR_COMM, "comm is an intracommunicator; it must be an intercommunicator");
}

}  // namespace

extern "C" {

int PMPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int* result) {
  return call_on(comm1, "MPI_Comm_compare", [&](RankState& self, Comm& a) {
    SORREL_NOT_NULL(result);
    const Comm* b = self.comm_of(comm2);
    if (b == nullptr) return self.fail(MPI_ERR_COMM, "comm2 is not a valid communicator");
    if (&a == b) {
      *result = MPI_IDENT;
      return MPI_SUCCESS;
    }
    const int groups = mpi::group_compare(*a.shared->group(), *b->shared->group());
    *result = groups == MPI_IDENT ? MPI_CONGRUENT : groups;
    return MPI_SUCCESS;
  });
}

int PMPI_Comm_test_inter(MPI_Comm comm, int* flag) {
  return call_on(comm, "MPI_Comm_test_inter", [&](RankState& self, Comm&) {
    SORREL_NOT_NULL(flag);
    *flag = 0;
    return MPI_SUCCESS;
  });
}

int PMPI_Comm_remote_size(MPI_Comm comm, int* size) {
  return call_on(comm, "MPI_Comm_remote_size", [&](RankState& self, Comm&) {
    SORREL_NOT_NULL(size);
    return fail_intra(self);
  });
}

int PMPI_Comm_remote_group(MPI_Comm comm, MPI_Group* group) {
  return call_on(comm, "MPI_Comm_remote_group", [&](RankState& self, Comm&) {
    SORREL_NOT_NULL(group);
    return fail_intra(self);
  });
}

int PMPI_Comm_get_parent(MPI_Comm* parent) {
  return call("MPI_Comm_get_parent", [&](RankState& self) {
    SORREL_NOT_NULL(parent);
    *parent = MPI_COMM_NULL;
    return MPI_SUCCESS;
  });
}

int PMPI_Comm_set_name(MPI_Comm comm, const char* comm_name) {
  return call_on(comm, "MPI_Comm_set_name", [&](RankState& self, Comm& c) {
    if (comm_name == nullptr) return fail_null(self, "comm_name");
    // Truncates longer names, as the standard requires.
    const std::size_t length = ::strnlen(comm_name, MPI_MAX_OBJECT_NAME - 1);
    c.name = std::make_unique<std::string>(comm_name, length);
    return MPI_SUCCESS;
  });
}

int PMPI_Comm_get_name(MPI_Comm comm, char* comm_name, int* resultlen) {
  if (comm == MPI_COMM_NULL) {
    if (comm_name == nullptr) return raise_null("MPI_Comm_get_name", "comm_name");
    if (resultlen == nullptr) return raise_null("MPI_Comm_get_name", "resultlen");
    give_name("MPI_COMM_NULL", comm_name, resultlen);
    return MPI_SUCCESS;
  }
  return call_on(comm, "MPI_Comm_get_name", [&](RankState& self, Comm& c) {
    SORREL_NOT_NULL(comm_name);
    SORREL_NOT_NULL(resultlen);
    give_name(c.name != nullptr ? c.name->c_str() : default_name(self, c), comm_name, resultlen);
    return MPI_SUCCESS;
  });
}

int PMPI_Comm_set_info(MPI_Comm comm, MPI_Info info) {
  return call_on(comm, "MPI_Comm_set_info", [&](RankState& self, Comm& c) {
    if (info == MPI_INFO_NULL) return MPI_SUCCESS;
    const Info* hints = mpi::info_of(info);
    if (hints == nullptr) return self.fail(MPI_ERR_INFO, "invalid info handle");
    return add_hints(self, c, *hints);
  });
}

int PMPI_Comm_get_info(MPI_Comm comm, MPI_Info* info_used) {
  return call_on(comm, "MPI_Comm_get_info", [&](RankState& self, Comm& c) {
    SORREL_NOT_NULL(info_used);
    auto copy = c.info != nullptr ? std::make_unique<Info>(*c.info) : std::make_unique<Info>();
    *info_used = mpi::make_info_handle(std::move(copy));
    return MPI_SUCCESS;
  });
}

SORREL_WEAK(int, MPI_Comm_compare, (MPI_Comm comm1, MPI_Comm comm2, int* result))
SORREL_WEAK(int, MPI_Comm_test_inter, (MPI_Comm comm, int* flag))
SORREL_WEAK_SAME(MPI_Comm_remote_size)
SORREL_WEAK_SAME(MPI_Comm_remote_group)
SORREL_WEAK(int, MPI_Comm_get_parent, (MPI_Comm * parent))
SORREL_WEAK(int, MPI_Comm_set_name, (MPI_Comm comm, const char* comm_name))
SORREL_WEAK(int, MPI_Comm_get_name, (MPI_Comm comm, char* comm_name, int* resultlen))
SORREL_WEAK(int, MPI_Comm_set_info, (MPI_Comm comm, MPI_Info info))
SORREL_WEAK(int, MPI_Comm_get_info, (MPI_Comm comm, MPI_Info* info_used))

}  // extern "C"

}  // namespace sorrel::abi
