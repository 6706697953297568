// Communicators: comparison, names, hints, and parents. MPI 5.0, 7.4, 7.8, 11.8.
#include <cstring>
#include <memory>
#include <string>

#include "abi/body.hpp"
#include "abi/check.hpp"
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

}  // namespace

extern "C" int PMPI_Comm_get_name(MPI_Comm comm, char* comm_name, int* resultlen) {
  if (comm == MPI_COMM_NULL) {
    if (comm_name == nullptr) return raise_null("MPI_Comm_get_name", "comm_name");
    if (resultlen == nullptr) return raise_null("MPI_Comm_get_name", "resultlen");
    give_text("MPI_COMM_NULL", comm_name, resultlen);
    return MPI_SUCCESS;
  }
  RankState* running = mpi::current_rank();
  SORREL_CALL_ON_THREAD(running, Comm_get_name, comm, comm_name, resultlen);
  return call_on(running, comm, "MPI_Comm_get_name", [&](RankState& self, Comm& c) {
    SORREL_NOT_NULL(comm_name);
    SORREL_NOT_NULL(resultlen);
    give_text(c.name != nullptr ? c.name->c_str() : default_name(self, c), comm_name, resultlen);
    return MPI_SUCCESS;
  });
}
SORREL_WEAK(MPI_Comm_get_name)

namespace body {

int Comm_compare(RankState& self, Comm& comm, MPI_Comm comm2, int* result) {
  const Comm* b = self.comm_of(comm2);
  if (b == nullptr) return self.fail(MPI_ERR_COMM, "comm2 is not a valid communicator");
  if (&comm == b) {
    *result = MPI_IDENT;
    return MPI_SUCCESS;
  }
  if ((comm.inter == nullptr) != (b->inter == nullptr)) {
    *result = MPI_UNEQUAL;
    return MPI_SUCCESS;
  }
  const int locals = mpi::group_compare(*local_group_of(comm), *local_group_of(*b));
  const int peers = mpi::group_compare(*comm.shared->group(), *b->shared->group());
  if (locals == MPI_UNEQUAL || peers == MPI_UNEQUAL) {
    *result = MPI_UNEQUAL;
  } else {
    *result = locals == MPI_IDENT && peers == MPI_IDENT ? MPI_CONGRUENT : MPI_SIMILAR;
  }
  return MPI_SUCCESS;
}

int Comm_get_parent(RankState& /*self*/, MPI_Comm* parent) {
  *parent = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

int Comm_set_name(RankState& self, Comm& comm, const char* comm_name) {
  if (comm_name == nullptr) return fail_null(self, "comm_name");
  // Truncates longer names, as the standard requires.
  const std::size_t length = ::strnlen(comm_name, MPI_MAX_OBJECT_NAME - 1);
  comm.name = std::make_unique<std::string>(comm_name, length);
  return MPI_SUCCESS;
}

int Comm_set_info(RankState& self, Comm& comm, MPI_Info info) {
  if (info == MPI_INFO_NULL) return MPI_SUCCESS;
  const Info* hints = mpi::info_of(info);
  if (hints == nullptr) return fail_info(self);
  return add_hints(self, comm, *hints);
}

int Comm_get_info(RankState& /*self*/, Comm& comm, MPI_Info* info_used) {
  auto copy = comm.info != nullptr ? std::make_unique<Info>(*comm.info) : std::make_unique<Info>();
  *info_used = mpi::make_info_handle(std::move(copy));
  return MPI_SUCCESS;
}

}  // namespace body

}  // namespace sorrel::abi
