#include "mpi/comm/group_algebra.hpp"

#include <algorithm>
#include <utility>

namespace sorrel::mpi {
namespace {

enum class Keep { members, others };

// The members of `a` that are (or are not) in `b`, in the order of `a`.
std::vector<std::int32_t> filter(const Group& a, const Group& b, Keep keep) {
  std::vector<std::int32_t> kept;
  for (std::int32_t i = 0; i < a.size(); ++i) {
    const std::int32_t world_rank = a.world_rank(i);
    const bool is_member = b.rank_of(world_rank) != MPI_UNDEFINED;
    if (is_member == (keep == Keep::members)) kept.push_back(world_rank);
  }
  return kept;
}

int fail_rank(const Group& group, std::int64_t rank, ErrorDetail& detail) {
  if (group.size() == 0)
    return detail.fail(MPI_ERR_RANK, "rank %lld is invalid: the group is empty",
                       static_cast<long long>(rank));
  return detail.fail(MPI_ERR_RANK, "rank %lld is not in the group; ranks must be in 0..%d",
                     static_cast<long long>(rank), group.size() - 1);
}

// The list in ascending order, after checking that every rank exists and occurs once.
int check_ranks(const Group& group,
                std::span<const int> ranks,
                std::vector<int>* sorted,
                ErrorDetail& detail) {
  for (const int rank : ranks)
    if (rank < 0 || rank >= group.size()) return fail_rank(group, rank, detail);
  sorted->assign(ranks.begin(), ranks.end());
  std::sort(sorted->begin(), sorted->end());
  const auto twice = std::adjacent_find(sorted->begin(), sorted->end());
  if (twice != sorted->end())
    return detail.fail(MPI_ERR_RANK, "ranks contains rank %d more than once", *twice);
  return MPI_SUCCESS;
}

}  // namespace

GroupPointer group_union(const GroupPointer& a, const GroupPointer& b) {
  const std::vector<std::int32_t> added = filter(*b, *a, Keep::others);
  if (added.empty()) return a;
  if (a->size() == 0) return b;
  std::vector<std::int32_t> members;
  members.reserve(static_cast<std::size_t>(a->size()) + added.size());
  for (std::int32_t i = 0; i < a->size(); ++i)
    members.push_back(a->world_rank(i));
  members.insert(members.end(), added.begin(), added.end());
  return Group::of(std::move(members));
}

GroupPointer group_intersection(const GroupPointer& a, const GroupPointer& b) {
  std::vector<std::int32_t> kept = filter(*a, *b, Keep::members);
  return std::cmp_equal(kept.size(), a->size()) ? a : Group::of(std::move(kept));
}

GroupPointer group_difference(const GroupPointer& a, const GroupPointer& b) {
  std::vector<std::int32_t> kept = filter(*a, *b, Keep::others);
  return std::cmp_equal(kept.size(), a->size()) ? a : Group::of(std::move(kept));
}

int group_incl(const Group& group,
               std::span<const int> ranks,
               GroupPointer* result,
               ErrorDetail& detail) {
  std::vector<int> sorted;
  if (const int error = check_ranks(group, ranks, &sorted, detail); error != MPI_SUCCESS)
    return error;
  std::vector<std::int32_t> members;
  members.reserve(ranks.size());
  for (const int rank : ranks)
    members.push_back(group.world_rank(rank));
  *result = Group::of(std::move(members));
  return MPI_SUCCESS;
}

int group_excl(const Group& group,
               std::span<const int> ranks,
               GroupPointer* result,
               ErrorDetail& detail) {
  std::vector<int> sorted;
  if (const int error = check_ranks(group, ranks, &sorted, detail); error != MPI_SUCCESS)
    return error;
  std::vector<std::int32_t> members;
  members.reserve(static_cast<std::size_t>(group.size()) - sorted.size());
  auto excluded = sorted.cbegin();
  for (std::int32_t rank = 0; rank < group.size(); ++rank) {
    if (excluded != sorted.cend() && *excluded == rank) {
      ++excluded;
    } else {
      members.push_back(group.world_rank(rank));
    }
  }
  *result = Group::of(std::move(members));
  return MPI_SUCCESS;
}

int expand_ranges(const Group& group,
                  std::span<const RankRange> ranges,
                  std::vector<int>* ranks,
                  ErrorDetail& detail) {
  ranks->clear();
  for (const auto& [first, last, stride] : ranges) {
    const std::int64_t distance = std::int64_t{last} - first;
    if (stride == 0 || (distance != 0 && (distance > 0) != (stride > 0)))
      return detail.fail(
          MPI_ERR_ARG,
          "stride %d of a range does not lead from its first rank %d to its last rank %d", stride,
          first, last);
    const std::int64_t steps = distance / stride;
    const std::int64_t end = first + steps * stride;
    for (const std::int64_t rank : {std::int64_t{first}, end})
      if (rank < 0 || rank >= group.size()) return fail_rank(group, rank, detail);
    if (std::cmp_greater(steps + 1, group.size() - std::int64_t(ranks->size())))
      return detail.fail(MPI_ERR_RANK, "ranges contains more ranks than the group has, %d",
                         group.size());
    for (std::int64_t i = 0; i <= steps; ++i)
      ranks->push_back(static_cast<int>(first + i * stride));
  }
  return MPI_SUCCESS;
}

int group_compare(const Group& a, const Group& b) {
  if (&a == &b) return MPI_IDENT;
  if (a.size() != b.size()) return MPI_UNEQUAL;
  bool is_same_order = true;
  for (std::int32_t i = 0; i < a.size(); ++i) {
    const std::int32_t rank = b.rank_of(a.world_rank(i));
    if (rank == MPI_UNDEFINED) return MPI_UNEQUAL;
    if (rank != i) is_same_order = false;
  }
  return is_same_order ? MPI_IDENT : MPI_SIMILAR;
}

int translate_ranks(const Group& from,
                    std::span<const int> ranks,
                    const Group& to,
                    int* results,
                    ErrorDetail& detail) {
  for (const int rank : ranks)
    if (rank != MPI_PROC_NULL && (rank < 0 || rank >= from.size()))
      return fail_rank(from, rank, detail);
  for (std::size_t i = 0; i < ranks.size(); ++i)
    results[i] = ranks[i] == MPI_PROC_NULL ? MPI_PROC_NULL : to.rank_of(from.world_rank(ranks[i]));
  return MPI_SUCCESS;
}

}  // namespace sorrel::mpi
