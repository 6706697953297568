//! Group algebra - new groups from old ones, and the relation of two groups.
//!
//! Pure functions on immutable groups; any thread. At most O(n log n) in the sizes of the groups
//! and of the argument lists. Every result has the order that the standard requires. A wrong rank
//! list returns the class, leaves the sentence in `detail`, and does not touch *result.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "mpi/base/error_detail.hpp"
#include "mpi/comm/group.hpp"

namespace sorrel::mpi {

using GroupPointer = std::shared_ptr<const Group>;

/// (first, last, stride): first, first + stride, ... up to and including last.
using RankRange = std::array<int, 3>;

/// The members of `a`, then those of `b` that are not in `a`.
GroupPointer group_union(const GroupPointer& a, const GroupPointer& b);

/// The members of `a` that are in `b`, in the order of `a`.
GroupPointer group_intersection(const GroupPointer& a, const GroupPointer& b);

/// The members of `a` that are not in `b`, in the order of `a`.
GroupPointer group_difference(const GroupPointer& a, const GroupPointer& b);

/// The listed members, in the order of the list. MPI_ERR_RANK: no such rank, or listed twice.
[[nodiscard]] int group_incl(const Group& group,
                             std::span<const int> ranks,
                             GroupPointer* result,
                             ErrorDetail& detail);

/// All but the listed members, in the order of `group`. Errors as group_incl().
[[nodiscard]] int group_excl(const Group& group,
                             std::span<const int> ranks,
                             GroupPointer* result,
                             ErrorDetail& detail);

/// The ranks of all ranges, in their order: the two range functions of MPI pass them to
/// group_incl() and group_excl(). MPI_ERR_ARG: a stride of zero or away from the last rank.
/// MPI_ERR_RANK: a rank that is not in the group, or more ranks than the group has.
[[nodiscard]] int expand_ranges(const Group& group,
                                std::span<const RankRange> ranges,
                                std::vector<int>* ranks,
                                ErrorDetail& detail);

/// MPI_IDENT: same members, same order; MPI_SIMILAR: same members; MPI_UNEQUAL.
[[nodiscard]] int group_compare(const Group& a, const Group& b);

/// The ranks in `to` of members of `from`: MPI_UNDEFINED for one that is not in it, MPI_PROC_NULL
/// for MPI_PROC_NULL. `results` has room for as many as `ranks`. MPI_ERR_RANK: no such rank.
[[nodiscard]] int translate_ranks(const Group& from,
                                  std::span<const int> ranks,
                                  const Group& to,
                                  int* results,
                                  ErrorDetail& detail);

}  // namespace sorrel::mpi
