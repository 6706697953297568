#include "mpi/collectives/collectives.hpp"
#include "mpi/collectives/scan_chain.hpp"
#include "mpi/collectives/segments.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

namespace {

/// Computes a running total of the given elements over all ranks, and leaves each rank's result in
/// its output.
void scan_elements(const CollectiveSlots& slots,
                   ElementRange range,
                   const ReductionArguments& arguments,
                   ScanKind kind) {
  const Datatype& type = arguments.type;
  const Scratch first(range.count, type);
  const Scratch second(range.count, type);
  void* before = first.buffer();  // The total of the ranks before this one.
  void* after = second.buffer();  // The total including this one.
  for (std::int32_t rank = 0; rank < slots.member_count(); ++rank) {
    const auto& operands = slots.published_by<Operands>(rank);
    copy_elements(element_at(operands.input, range.first, type), after, range.count, type);
    if (rank > 0) combine(arguments, before, after, after, range.count);
    const void* result = kind == ScanKind::inclusive ? after : before;
    const bool has_result = kind == ScanKind::inclusive || rank > 0;
    if (has_result)
      copy_elements(result, element_at(operands.output, range.first, type), range.count, type);
    std::swap(before, after);
  }
}

void scan_over_processes(const Member& member, const ReductionArguments& arguments, ScanKind kind) {
  const Segments segments(member.comm.shared->slots(), arguments);
  const ScanChain chain(member, arguments, segments.count());
  for (std::int32_t segment = 0; segment < segments.count(); ++segment) {
    if (!chain.is_computer(segment)) continue;
    const Scratch before(chain.chunk_element_count(), arguments.type);
    const Scratch after(chain.chunk_element_count(), arguments.type);
    chain.for_each_chunk(segments.range_of(segment), [&](ElementRange range) {
      chain.scan_chunk(segment, range, kind, before.buffer(), after.buffer());
    });
  }
}

}  // namespace

int scan(const Member& member, const ReductionArguments& arguments, ScanKind kind) {
  auto& [self, comm] = member;
  CollectiveSlots& slots = comm.shared->slots();
  if (comm.size() == 1) {
    const bool has_result = kind == ScanKind::inclusive && arguments.send != nullptr;
    if (has_result)
      copy_elements(arguments.send, arguments.receive, arguments.count, arguments.type);
    return MPI_SUCCESS;
  }
  const Operands operands{.input = arguments.send == nullptr ? arguments.receive : arguments.send,
                          .output = arguments.receive};
  slots.publish(comm, &operands);
  if (comm.shared->processes() != nullptr) {
    slots.local_barrier(self, comm);
    scan_over_processes(member, arguments, kind);
    slots.local_barrier(self, comm);
    return MPI_SUCCESS;
  }
  if (const int error = slots.barrier(self, comm); error != MPI_SUCCESS) return error;
  const Segments segments(slots, arguments);
  if (const std::int32_t segment = segments.segment_of(comm.rank); segment >= 0) {
    const ElementRange range = segments.range_of(segment);
    const std::size_t chunk = chunk_element_count(arguments.type);
    for (std::size_t done = 0; done < range.count; done += chunk) {
      scan_elements(slots,
                    {.first = range.first + done, .count = std::min(chunk, range.count - done)},
                    arguments, kind);
    }
  }
  return slots.barrier(self, comm);
}

}  // namespace sorrel::mpi
