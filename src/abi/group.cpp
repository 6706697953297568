// Groups. MPI 5.0, 7.3.
#include "mpi/comm/group.hpp"

#include <span>
#include <utility>
#include <vector>

#include "abi/call.hpp"
#include "mpi/comm/group_algebra.hpp"

namespace sorrel::abi {
namespace {

using mpi::Group;
using mpi::GroupPointer;

int fail_group(RankState& self, MPI_Group handle) {
  return self.fail(MPI_ERR_GROUP, handle == MPI_GROUP_NULL ? "invalid group handle: MPI_GROUP_NULL"
                                                           : "invalid group handle");
}

// Calls body(group) with the group of a handle.
template <class Body>
int with_group(RankState& self, MPI_Group handle, Body&& body) {
  const GroupPointer group = mpi::group_of(handle);
  return group == nullptr ? fail_group(self, handle) : body(group);
}

template <class Body>
int with_groups(RankState& self, MPI_Group first, MPI_Group second, Body&& body) {
  return with_group(self, first, [&](const GroupPointer& a) {
    return with_group(self, second, [&](const GroupPointer& b) { return body(a, b); });
  });
}

int check_list(RankState& self, const char* argument, int n, const void* list) {
  if (n < 0) return self.fail(MPI_ERR_ARG, "n is %d; it must not be negative", n);
  return n > 0 && list == nullptr ? fail_null(self, argument) : MPI_SUCCESS;
}

using SetOperation = GroupPointer (*)(const GroupPointer&, const GroupPointer&);

int combine(RankState& self, MPI_Group a, MPI_Group b, SetOperation operation, MPI_Group* result) {
  return with_groups(self, a, b, [&](const GroupPointer& first, const GroupPointer& second) {
    *result = mpi::make_group_handle(operation(first, second));
    return MPI_SUCCESS;
  });
}

using Selection = int (*)(const Group&, std::span<const int>, GroupPointer*, mpi::ErrorDetail&);

int select(RankState& self,
           const Group& group,
           std::span<const int> ranks,
           Selection selection,
           MPI_Group* result) {
  GroupPointer made;
  const int error = selection(group, ranks, &made, self.detail());
  if (error == MPI_SUCCESS) *result = mpi::make_group_handle(std::move(made));
  return error;
}

int select_list(RankState& self,
                MPI_Group handle,
                int n,
                const int ranks[],
                Selection selection,
                MPI_Group* result) {
  return with_group(self, handle, [&](const GroupPointer& group) {
    if (const int error = check_list(self, "ranks", n, ranks); error != MPI_SUCCESS) return error;
    return select(self, *group, std::span(ranks, static_cast<std::size_t>(n)), selection, result);
  });
}

int select_ranges(RankState& self,
                  MPI_Group handle,
                  int n,
                  int ranges[][3],
                  Selection selection,
                  MPI_Group* result) {
  return with_group(self, handle, [&](const GroupPointer& group) {
    if (const int error = check_list(self, "ranges", n, ranges); error != MPI_SUCCESS) return error;
    std::vector<mpi::RankRange> list;
    list.reserve(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i)
      list.push_back({ranges[i][0], ranges[i][1], ranges[i][2]});
    std::vector<int> ranks;
    if (const int error = mpi::expand_ranges(*group, list, &ranks, self.detail());
        error != MPI_SUCCESS)
      return error;
    return select(self, *group, ranks, selection, result);
  });
}

}  // namespace

extern "C" {

int PMPI_Group_size(MPI_Group group, int* size) {
  return call("MPI_Group_size", [&](RankState& self) {
    SORREL_NOT_NULL(size);
    return with_group(self, group, [&](const GroupPointer& members) {
      *size = members->size();
      return MPI_SUCCESS;
    });
  });
}

int PMPI_Group_rank(MPI_Group group, int* rank) {
  return call("MPI_Group_rank", [&](RankState& self) {
    SORREL_NOT_NULL(rank);
    return with_group(self, group, [&](const GroupPointer& members) {
      *rank = members->rank_of(self.world_rank);
      return MPI_SUCCESS;
    });
  });
}

int PMPI_Group_translate_ranks(
    MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[]) {
  return call("MPI_Group_translate_ranks", [&](RankState& self) {
    SORREL_NOT_NULL_IF(n > 0, ranks2);
    return with_groups(self, group1, group2, [&](const GroupPointer& from, const GroupPointer& to) {
      if (const int error = check_list(self, "ranks1", n, ranks1); error != MPI_SUCCESS)
        return error;
      return mpi::translate_ranks(*from, std::span(ranks1, static_cast<std::size_t>(n)), *to,
                                  ranks2, self.detail());
    });
  });
}

int PMPI_Group_compare(MPI_Group group1, MPI_Group group2, int* result) {
  return call("MPI_Group_compare", [&](RankState& self) {
    SORREL_NOT_NULL(result);
    return with_groups(self, group1, group2, [&](const GroupPointer& a, const GroupPointer& b) {
      *result = mpi::group_compare(*a, *b);
      return MPI_SUCCESS;
    });
  });
}

int PMPI_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
  return call("MPI_Group_union", [&](RankState& self) {
    SORREL_NOT_NULL(newgroup);
    return combine(self, group1, group2, mpi::group_union, newgroup);
  });
}

int PMPI_Group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
  return call("MPI_Group_intersection", [&](RankState& self) {
    SORREL_NOT_NULL(newgroup);
    return combine(self, group1, group2, mpi::group_intersection, newgroup);
  });
}

int PMPI_Group_difference(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
  return call("MPI_Group_difference", [&](RankState& self) {
    SORREL_NOT_NULL(newgroup);
    return combine(self, group1, group2, mpi::group_difference, newgroup);
  });
}

int PMPI_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group* newgroup) {
  return call("MPI_Group_incl", [&](RankState& self) {
    SORREL_NOT_NULL(newgroup);
    return select_list(self, group, n, ranks, mpi::group_incl, newgroup);
  });
}

int PMPI_Group_excl(MPI_Group group, int n, const int ranks[], MPI_Group* newgroup) {
  return call("MPI_Group_excl", [&](RankState& self) {
    SORREL_NOT_NULL(newgroup);
    return select_list(self, group, n, ranks, mpi::group_excl, newgroup);
  });
}

int PMPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group* newgroup) {
  return call("MPI_Group_range_incl", [&](RankState& self) {
    SORREL_NOT_NULL(newgroup);
    return select_ranges(self, group, n, ranges, mpi::group_incl, newgroup);
  });
}

int PMPI_Group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group* newgroup) {
  return call("MPI_Group_range_excl", [&](RankState& self) {
    SORREL_NOT_NULL(newgroup);
    return select_ranges(self, group, n, ranges, mpi::group_excl, newgroup);
  });
}

int PMPI_Group_free(MPI_Group* group) {
  return call("MPI_Group_free", [&](RankState& self) {
    SORREL_NOT_NULL(group);
    // An operation may return MPI_GROUP_EMPTY, so a program may free it like any other group.
    if (*group != MPI_GROUP_EMPTY) {
      auto* handle = mpi::object_of<mpi::GroupHandle>(*group);
      if (handle == nullptr) return fail_group(self, *group);
      handle->header.kind = mpi::ObjectKind::freed;
      delete handle;
    }
    *group = MPI_GROUP_NULL;
    return MPI_SUCCESS;
  });
}

int PMPI_Comm_group(MPI_Comm comm, MPI_Group* group) {
  return call_on(comm, "MPI_Comm_group", [&](RankState& self, Comm& c) {
    SORREL_NOT_NULL(group);
    *group = mpi::make_group_handle(c.shared->group());
    return MPI_SUCCESS;
  });
}

SORREL_WEAK(int, MPI_Group_size, (MPI_Group group, int* size))
SORREL_WEAK(int, MPI_Group_rank, (MPI_Group group, int* rank))
SORREL_WEAK(int,
            MPI_Group_translate_ranks,
            (MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[]))
SORREL_WEAK(int, MPI_Group_compare, (MPI_Group group1, MPI_Group group2, int* result))
SORREL_WEAK(int, MPI_Group_union, (MPI_Group group1, MPI_Group group2, MPI_Group* newgroup))
SORREL_WEAK(int, MPI_Group_intersection, (MPI_Group group1, MPI_Group group2, MPI_Group* newgroup))
SORREL_WEAK(int, MPI_Group_difference, (MPI_Group group1, MPI_Group group2, MPI_Group* newgroup))
SORREL_WEAK(int, MPI_Group_incl, (MPI_Group group, int n, const int ranks[], MPI_Group* newgroup))
SORREL_WEAK(int, MPI_Group_excl, (MPI_Group group, int n, const int ranks[], MPI_Group* newgroup))
SORREL_WEAK(int,
            MPI_Group_range_incl,
            (MPI_Group group, int n, int ranges[][3], MPI_Group* newgroup))
SORREL_WEAK(int,
            MPI_Group_range_excl,
            (MPI_Group group, int n, int ranges[][3], MPI_Group* newgroup))
SORREL_WEAK(int, MPI_Group_free, (MPI_Group * group))
SORREL_WEAK(int, MPI_Comm_group, (MPI_Comm comm, MPI_Group* group))

}  // extern "C"

}  // namespace sorrel::abi
