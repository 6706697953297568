#include "mpi/match/environment_info.hpp"

#include <cerrno>
#include <cstring>

#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {
namespace {

Info make_environment_info(const RankState* rank) {
  Info made;
  ErrorDetail detail;
  const bool is_long = std::strlen(program_invocation_name) >= MPI_MAX_INFO_VAL;
  (void)made.set("command", is_long ? program_invocation_short_name : program_invocation_name,
                 detail);
  if (rank != nullptr)
    (void)made.set("maxprocs", std::to_string(rank->world->size()).c_str(), detail);
  return made;
}

// What mpiexec would set for this program. Only ranks know the job's size: a process that becomes a
// rank in MPI_Init may read this before.
const Info& environment_info() {
  const RankState* rank = current_rank();
  if (rank == nullptr) {
    static const Info info = make_environment_info(nullptr);
    return info;
  }
  static const Info info = make_environment_info(rank);
  return info;
}

}  // namespace

const Info* info_of(MPI_Info handle) {
  return handle == MPI_INFO_ENV ? &environment_info() : changeable_info_of(handle);
}

}  // namespace sorrel::mpi
