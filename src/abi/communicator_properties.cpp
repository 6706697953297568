// Communicators: comparison, names, hints, and parents. MPI 5.0, 7.4, 7.8, 11.8.
#include <cstring>
#include <memory>
#include <string>

#include "abi/body.hpp"
#include "abi/check.hpp"
#include "abi/known_hints.hpp"
#include "mpi/comm/group_algebra.hpp"
#include "mpi/comm/memory_kinds.hpp"
#include "mpi/comm/topology/reorder.hpp"
#include "mpi/match/environment_info.hpp"

namespace sorrel::abi {
namespace {

using mpi::Info;

const char* default_name(const RankState& self, const Comm& comm) {
  if (&comm == &self.world_comm) return "MPI_COMM_WORLD";
  if (&comm == &self.self_comm) return "MPI_COMM_SELF";
  return "";
}

constexpr const char* read_late_key = "sorrel_read_late";
constexpr std::string_view known_comm_hints[] = {read_late_key, mpi::grid_extents_hint,
                                                 mpi::asserted_memory_kinds_key};

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
  return read_on(running, comm, "MPI_Comm_get_name", [&](RankState& self, Comm& c) {
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

int Comm_get_parent(RankState& self, MPI_Comm* parent) {
  Comm* const comm = self.spawned == nullptr ? nullptr : self.spawned->parent;
  *parent = comm == nullptr ? MPI_COMM_NULL : mpi::handle_of(*comm);
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
  if (comm.info == nullptr) comm.info = std::make_unique<Info>();
  if (const int error = take_known_hints(self, info, known_comm_hints, comm.info.get());
      error != MPI_SUCCESS)
    return error;
  const std::string* is_read_late = comm.info->find(read_late_key);
  if (is_read_late != nullptr) comm.is_read_late = *is_read_late == "true";
  return MPI_SUCCESS;
}

int Comm_get_info(RankState& self, Comm& comm, MPI_Info* info_used) {
  auto copy = comm.info != nullptr ? std::make_unique<Info>(*comm.info) : std::make_unique<Info>();
  // Also where a duplicate has it of its parent, or a tool has set it.
  int error = copy->set(read_late_key, comm.is_read_late ? "true" : "false", self.detail());
  if (error == MPI_SUCCESS) error = describe_memory_kinds(self, *copy);
  *info_used = mpi::make_info_handle(std::move(copy));
  return error;
}

}  // namespace body

}  // namespace sorrel::abi
