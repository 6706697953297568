#include "tools/sorrel/report/collective_names.hpp"

#include <algorithm>
#include <array>

namespace sorrel::tool {

namespace {

constexpr std::array<std::string_view, 30> all_names = {"Allgather",
                                                        "Allgatherv",
                                                        "Allreduce",
                                                        "Alltoall",
                                                        "Alltoallv",
                                                        "Alltoallw",
                                                        "Barrier",
                                                        "Cart_create",
                                                        "Cart_sub",
                                                        "Comm_create",
                                                        "Comm_dup",
                                                        "Comm_dup_with_info",
                                                        "Comm_free",
                                                        "Comm_split",
                                                        "Comm_split_type",
                                                        "Dist_graph_create",
                                                        "Dist_graph_create_adjacent",
                                                        "Exscan",
                                                        "File_open",
                                                        "Finalize",
                                                        "Graph_create",
                                                        "Init",
                                                        "Init_thread",
                                                        "Intercomm_create",
                                                        "Intercomm_merge",
                                                        "Reduce_scatter",
                                                        "Reduce_scatter_block",
                                                        "Scan",
                                                        "Win_allocate",
                                                        "Win_create"};
constexpr std::array<std::string_view, 3> from_root_names = {"Bcast", "Scatter", "Scatterv"};
constexpr std::array<std::string_view, 3> to_root_names = {"Gather", "Gatherv", "Reduce"};
constexpr std::array<std::string_view, 17> nonblocking_names = {
    "Iallgather", "Iallgatherv", "Iallreduce", "Ialltoall", "Ialltoallv",
    "Ialltoallw", "Ibarrier",    "Ibcast",     "Icomm_dup", "Icomm_dup_with_info",
    "Iexscan",    "Igather",     "Igatherv",   "Ireduce",   "Ireduce_scatter",
    "Iscan",      "Iscatter"};

}  // namespace

CollectiveKind collective_kind(std::string_view function) {
  constexpr std::string_view prefix = "MPI_";
  constexpr std::string_view large_count = "_c";
  if (!function.starts_with(prefix)) return CollectiveKind::none;
  function.remove_prefix(prefix.size());
  if (function.ends_with(large_count)) function.remove_suffix(large_count.size());
  const auto is_in = [&](const auto& names) {
    return std::ranges::find(names, function) != names.end();
  };
  if (is_in(all_names)) return CollectiveKind::all;
  if (is_in(from_root_names)) return CollectiveKind::from_root;
  if (is_in(to_root_names)) return CollectiveKind::to_root;
  if (is_in(nonblocking_names) || function == "Iscatterv" || function == "Ireduce_scatter_block")
    return CollectiveKind::nonblocking;
  return CollectiveKind::none;
}

}  // namespace sorrel::tool
