// Groups. MPI 5.0, 7.3.
#include "mpi/comm/group.hpp"

#include <span>
#include <utility>
#include <vector>

#include "abi/body.hpp"
#include "abi/check.hpp"
#include "mpi/comm/group_algebra.hpp"

namespace sorrel::abi {
namespace {

using mpi::Group;
using mpi::GroupHandle;
using mpi::GroupPointer;

int check_length(RankState& self, int n) {
  return n < 0 ? self.fail(MPI_ERR_ARG, "n is %d; it must not be negative", n) : MPI_SUCCESS;
}

/// A group that is derived from `origin`.
int give_group(GroupPointer group, const GroupHandle& origin, MPI_Group* handle) {
  *handle =
      mpi::make_group_handle({.group = std::move(group), .session_sends = origin.session_sends});
  return MPI_SUCCESS;
}

/// Either both groups are derived from the same session, or one is empty.
const GroupHandle& origin_of(const GroupHandle& a, const GroupHandle& b) {
  return a.session_sends != nullptr ? a : b;
}

using Selection = int (*)(const Group&, std::span<const int>, GroupPointer*, mpi::ErrorDetail&);

int select(RankState& self,
           const GroupHandle& group,
           std::span<const int> ranks,
           Selection selection,
           MPI_Group* result) {
  GroupPointer made;
  const int error = selection(*group, ranks, &made, self.detail());
  return error == MPI_SUCCESS ? give_group(std::move(made), group, result) : error;
}

int select_list(RankState& self,
                const GroupHandle& group,
                int n,
                const int ranks[],
                Selection selection,
                MPI_Group* result) {
  if (const int error = check_length(self, n); error != MPI_SUCCESS) return error;
  return select(self, group, std::span(ranks, static_cast<std::size_t>(n)), selection, result);
}

int select_ranges(RankState& self,
                  const GroupHandle& group,
                  int n,
                  int ranges[][3],
                  Selection selection,
                  MPI_Group* result) {
  if (const int error = check_length(self, n); error != MPI_SUCCESS) return error;
  std::vector<mpi::RankRange> list;
  list.reserve(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i)
    list.push_back({ranges[i][0], ranges[i][1], ranges[i][2]});
  std::vector<int> ranks;
  const int error = mpi::expand_ranges(*group, list, &ranks, self.detail());
  return error == MPI_SUCCESS ? select(self, group, ranks, selection, result) : error;
}

}  // namespace

namespace body {

int Group_size(RankState& /*self*/, const GroupHandle& group, int* size) {
  *size = group->size();
  return MPI_SUCCESS;
}

int Group_rank(RankState& self, const GroupHandle& group, int* rank) {
  *rank = group->rank_of(self.world_rank);
  return MPI_SUCCESS;
}

int Group_translate_ranks(RankState& self,
                          const GroupHandle& group1,
                          int n,
                          const int ranks1[],
                          const GroupHandle& group2,
                          int ranks2[]) {
  if (const int error = check_length(self, n); error != MPI_SUCCESS) return error;
  return mpi::translate_ranks(*group1, std::span(ranks1, static_cast<std::size_t>(n)), *group2,
                              ranks2, self.detail());
}

int Group_compare(RankState& /*self*/,
                  const GroupHandle& group1,
                  const GroupHandle& group2,
                  int* result) {
  *result = mpi::group_compare(*group1, *group2);
  return MPI_SUCCESS;
}

int Group_union(RankState& /*self*/,
                const GroupHandle& group1,
                const GroupHandle& group2,
                MPI_Group* newgroup) {
  return give_group(mpi::group_union(group1.group, group2.group), origin_of(group1, group2),
                    newgroup);
}

int Group_intersection(RankState& /*self*/,
                       const GroupHandle& group1,
                       const GroupHandle& group2,
                       MPI_Group* newgroup) {
  return give_group(mpi::group_intersection(group1.group, group2.group), origin_of(group1, group2),
                    newgroup);
}

int Group_difference(RankState& /*self*/,
                     const GroupHandle& group1,
                     const GroupHandle& group2,
                     MPI_Group* newgroup) {
  return give_group(mpi::group_difference(group1.group, group2.group), origin_of(group1, group2),
                    newgroup);
}

int Group_incl(
    RankState& self, const GroupHandle& group, int n, const int ranks[], MPI_Group* newgroup) {
  return select_list(self, group, n, ranks, mpi::group_incl, newgroup);
}

int Group_excl(
    RankState& self, const GroupHandle& group, int n, const int ranks[], MPI_Group* newgroup) {
  return select_list(self, group, n, ranks, mpi::group_excl, newgroup);
}

int Group_range_incl(
    RankState& self, const GroupHandle& group, int n, int ranges[][3], MPI_Group* newgroup) {
  return select_ranges(self, group, n, ranges, mpi::group_incl, newgroup);
}

int Group_range_excl(
    RankState& self, const GroupHandle& group, int n, int ranges[][3], MPI_Group* newgroup) {
  return select_ranges(self, group, n, ranges, mpi::group_excl, newgroup);
}

int Group_free(RankState& self, MPI_Group* group) {
  // An operation may return MPI_GROUP_EMPTY, so a program may free it like any other group.
  if (*group != MPI_GROUP_EMPTY) {
    auto* handle = mpi::object_of<mpi::GroupHandle>(*group);
    if (handle == nullptr) return fail_group(self, *group);
    handle->header.kind = mpi::ObjectKind::freed;
    delete handle;
  }
  *group = MPI_GROUP_NULL;
  return MPI_SUCCESS;
}

int Comm_group(RankState& /*self*/, Comm& comm, MPI_Group* group) {
  *group =
      mpi::make_group_handle({.group = local_group_of(comm), .session_sends = comm.session_sends});
  return MPI_SUCCESS;
}

}  // namespace body

}  // namespace sorrel::abi
