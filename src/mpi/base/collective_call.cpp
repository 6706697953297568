#include "mpi/base/collective_call.hpp"

#include "mpi.h"
#include "mpi/base/error_detail.hpp"

namespace sorrel::mpi {

static_assert(collective_kind_count <= 1 << CollectiveCall::kind_bits);

std::uint16_t CollectiveCall::digest() const {
  const std::uint64_t mixed = (what_ ^ (bytes_ * 0x9e3779b97f4a7c15U)) * 0xd6e8feb86659fd93U;
  const auto arguments = static_cast<std::uint16_t>(mixed >> (48 + CollectiveCall::kind_bits));
  return static_cast<std::uint16_t>(arguments << CollectiveCall::kind_bits |
                                    static_cast<std::uint16_t>(kind()));
}

CollectiveKind kind_of_digest(std::uint16_t digest) {
  return static_cast<CollectiveKind>(digest & ((1 << CollectiveCall::kind_bits) - 1));
}

namespace {

const char* blocking_name_of(CollectiveKind kind) {
  static constexpr const char* names[collective_kind_count] = {
      "no collective",
      "MPI_Barrier",
      "MPI_Bcast",
      "MPI_Gather",
      "MPI_Gatherv",
      "MPI_Scatter",
      "MPI_Scatterv",
      "MPI_Allgather",
      "MPI_Allgatherv",
      "MPI_Alltoall",
      "MPI_Alltoallv",
      "MPI_Alltoallw",
      "MPI_Reduce",
      "MPI_Allreduce",
      "MPI_Reduce_scatter",
      "MPI_Reduce_scatter_block",
      "MPI_Scan",
      "MPI_Exscan",
      "MPI_Comm_dup",
      "MPI_Comm_split or _create",
      "MPI_Comm_disconnect",
      "MPI_Finalize",
      "MPI_Graph_create or MPI_Dist_graph_create",
      "MPI_Intercomm_create",
      "MPI_Intercomm_merge",
      "a creation of windows",
      "MPI_Win_fence",
      "MPI_Win_free",
      "MPI_File_open",
      "MPI_File_close",
      "a collective call on a file",
      "MPI_File_read_all or _at_all",
      "MPI_File_read_ordered",
      "MPI_File_write_all or _at_all",
      "MPI_File_write_ordered"};
  const auto index = static_cast<std::size_t>(kind);
  return index < collective_kind_count ? names[index] : "another collective";
}

}  // namespace

CollectiveName name_of(CollectiveKind kind, CollectiveForm form) {
  const std::string_view blocking = blocking_name_of(kind);
  constexpr std::string_view prefix = "MPI_";
  CollectiveName name;
  if (form == CollectiveForm::blocking || !blocking.starts_with(prefix)) return name.add(blocking);
  if (form == CollectiveForm::persistent) return name.add(blocking).add("_init");
  if (kind == CollectiveKind::comm_dup) return name.add("MPI_Comm_idup");
  constexpr std::string_view file_prefix = "MPI_File_";
  if (blocking.starts_with(file_prefix))
    return name.add(file_prefix).add("i").add(blocking.substr(file_prefix.size()));
  // In the names of collectives, the letter behind the prefix is the only capital one.
  const char first = static_cast<char>(blocking[prefix.size()] - 'A' + 'a');
  return name.add("MPI_I").add({&first, 1}).add(blocking.substr(prefix.size() + 1));
}

int CollectiveMismatch::explain(ErrorDetail& detail) const {
  const CollectiveArguments a = other.call.arguments();
  const CollectiveArguments b = first.call.arguments();
  if (a.kind != b.kind || a.form != b.form)
    return detail.fail(MPI_ERR_OTHER, "%s on rank %d while rank %d is in %s",
                       name_of(other.call).c_str(), other.rank, first.rank,
                       name_of(first.call).c_str());
  if (a.root != b.root)
    return detail.fail(MPI_ERR_ROOT,
                       "root is %d on rank %d and %d on rank %d; it must be the same on all ranks",
                       a.root, other.rank, b.root, first.rank);
  if (a.op != b.op)
    return detail.fail(MPI_ERR_OP,
                       "op differs between ranks %d and %d; it must be the same on all ranks",
                       other.rank, first.rank);
  if (a.element != b.element)
    return detail.fail(MPI_ERR_TYPE,
                       "datatype differs between ranks %d and %d; it must be the same on all ranks",
                       other.rank, first.rank);
  return detail.fail(MPI_ERR_TRUNCATE,
                     "count and datatype describe %llu bytes on rank %d and %llu on rank %d; the "
                     "amount must be the same on all ranks",
                     static_cast<unsigned long long>(a.bytes), other.rank,
                     static_cast<unsigned long long>(b.bytes), first.rank);
}

}  // namespace sorrel::mpi
