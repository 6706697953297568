#include "mpi/collectives/agreement.hpp"

#include <array>
#include <numeric>

#include "mpi/collectives/slots.hpp"
#include "mpi/comm/process_map.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

namespace {

/// The maximum of `count` values of all members.
int find_maximum(
    const Member& member, const void* values, void* maximum, std::size_t count, MPI_Datatype kind) {
  const Op& op = *op_from_handle(MPI_MAX);
  const Datatype& type = *datatype_from_handle(kind);
  return all_reduce(member, {.send = values,
                             .receive = maximum,
                             .count = count,
                             .type = type,
                             .op = op,
                             .kernel = predefined_kernel(op, type)});
}

}  // namespace

int find_worst(const Member& member, int error, int* worst) {
  return find_maximum(member, &error, worst, 1, MPI_INT);
}

int agree(const Member& member, int error) {
  int worst = MPI_SUCCESS;
  const int failed = find_worst(member, error, &worst);
  return failed != MPI_SUCCESS ? failed : worst;
}

int compare_values(const Member& member, std::int64_t value, bool* is_same) {
  // -(x + 1), since the smallest number has no opposite.
  const std::array<std::int64_t, 2> bounds{value, ~value};
  std::array<std::int64_t, 2> maxima{};
  const int error = find_maximum(member, bounds.data(), maxima.data(), 2, MPI_INT64_T);
  *is_same = maxima[0] == ~maxima[1];
  return error;
}

int local_barrier(const Member& member) {
  if (member.comm.size() == 1) return MPI_SUCCESS;
  return member.comm.shared->slots().local_barrier(member.self, member.comm);
}

std::vector<std::int32_t> members_here(const Comm& comm) {
  if (const ProcessMap* processes = comm.shared->processes()) return processes->own_members();
  std::vector<std::int32_t> all(static_cast<std::size_t>(comm.size()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace sorrel::mpi
