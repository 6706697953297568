#include "mpi/rma/mapped_memory.hpp"

#include <algorithm>
#include <new>

#include "mpi/rma/leader_exchange.hpp"
#include "os/process_number.hpp"

namespace sorrel::mpi {

namespace {

/// How to open the segment of the first process.
struct SegmentText {
  std::int32_t pid;
  std::int32_t descriptor;
  std::int32_t error;
};

struct SegmentPlan {
  /// By rank.
  std::vector<std::size_t> offsets;
  std::size_t bytes = 0;
};

SegmentPlan plan_for(const ProcessMap& processes,
                     const std::vector<std::vector<std::int64_t>>& bytes_of,
                     std::int32_t member_count,
                     std::size_t alignment) {
  SegmentPlan plan;
  plan.offsets.resize(static_cast<std::size_t>(member_count));
  std::vector<std::int64_t> bytes(static_cast<std::size_t>(member_count));
  for (std::int32_t i = 0; i < processes.count(); ++i) {
    for (std::size_t k = 0; k < processes.members(i).size(); ++k)
      bytes[static_cast<std::size_t>(processes.members(i)[k])] =
          bytes_of[static_cast<std::size_t>(i)][k];
  }
  constexpr std::size_t page_bytes = 4096;
  const auto round_up = [](std::size_t value, std::size_t unit) {
    return (value + unit - 1) / unit * unit;
  };
  plan.bytes = round_up(bytes.size() * cache_line_bytes, std::max(page_bytes, alignment));
  for (std::size_t rank = 0; rank < bytes.size(); ++rank) {
    plan.bytes = round_up(plan.bytes, alignment);
    plan.offsets[rank] = plan.bytes;
    plan.bytes += static_cast<std::size_t>(bytes[rank]);
  }
  return plan;
}

/// Exchanges one value for each process: the first one's value, or the largest error.
int exchange_text(const Member& member, SegmentText own, SegmentText* first, int* error) {
  const ProcessMap& processes = *member.comm.shared->processes();
  std::vector<SegmentText> values(processes.own_members().size(), own);
  std::vector<std::vector<SegmentText>> all;
  if (const int failed = exchange_of_leaders(member, values, &all); failed != MPI_SUCCESS)
    return failed;
  all[static_cast<std::size_t>(processes.own_index())] = values;
  *first = all.front().front();
  *error = MPI_SUCCESS;
  for (const auto& texts : all)
    *error = std::max(*error, texts.front().error);
  return MPI_SUCCESS;
}

}  // namespace

int map_together(const Member& member,
                 WinShared& shared,
                 std::vector<std::int64_t>& own_bytes,
                 std::size_t alignment) {
  const ProcessMap& processes = *member.comm.shared->processes();
  if (processes.node_count() != 1 || member.comm.shared->world().is_simulated_node())
    return MPI_ERR_RMA_SHARED;
  std::vector<std::vector<std::int64_t>> bytes_of;
  if (const int error = exchange_of_leaders(member, own_bytes, &bytes_of); error != MPI_SUCCESS)
    return error;
  bytes_of[static_cast<std::size_t>(processes.own_index())] = own_bytes;
  const SegmentPlan plan = plan_for(processes, bytes_of, shared.size(), alignment);

  SegmentText text{.pid = os::process_number(), .descriptor = -1, .error = MPI_SUCCESS};
  SegmentText first{};
  int error = MPI_SUCCESS;
  os::SharedSegment segment;
  if (processes.own_index() == 0) {
    segment = os::SharedSegment::create(plan.bytes);
    text.descriptor = segment.descriptor();
    if (!segment.is_valid()) text.error = MPI_ERR_NO_MEM;
  }
  if (const int failed = exchange_text(member, text, &first, &error); failed != MPI_SUCCESS)
    return failed;
  if (error != MPI_SUCCESS) return error;
  if (processes.own_index() != 0) {
    segment = os::SharedSegment::open_of(first.pid, first.descriptor, plan.bytes);
    if (!segment.is_valid()) text.error = MPI_ERR_RMA_SHARED;
  }
  if (const int failed = exchange_text(member, text, &first, &error); failed != MPI_SUCCESS)
    return failed;
  if (error != MPI_SUCCESS) return error;

  shared.segment = std::move(segment);
  std::byte* base = shared.segment.base();
  for (std::int32_t rank = 0; rank < shared.size(); ++rank) {
    const auto i = static_cast<std::size_t>(rank);
    WinTarget& target = shared.entry(rank);
    target.address = base + plan.offsets[i];
    // Zeroed memory is a free lock, and every process sees the same one.
    target.accumulate_lock = std::launder(reinterpret_cast<SpinLock*>(base + i * cache_line_bytes));
  }
  return MPI_SUCCESS;
}

}  // namespace sorrel::mpi
