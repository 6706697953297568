#include "mpi/collectives/scan_chain.hpp"

#include <algorithm>
#include <utility>

#include "mpi/collectives/slots.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

namespace {

// Long enough for a message, short enough that the next process begins early.
constexpr std::size_t chain_chunk_bytes = 32768;

}  // namespace

ScanChain::ScanChain(const Member& member,
                     const ReductionArguments& arguments,
                     std::int32_t segment_count)
    : member_(member),
      arguments_(arguments),
      processes_(*member.comm.shared->processes()),
      segment_count_(segment_count),
      chunk_(std::max<std::size_t>(
          chain_chunk_bytes / std::max<std::size_t>(arguments.type.size(), 1), 1)) {}

std::int32_t ScanChain::computer(std::int32_t process_index, std::int32_t segment) const {
  const auto& members = processes_.members(process_index);
  const auto count = static_cast<std::int64_t>(members.size());
  SORREL_ASSERT(segment >= 0 && segment < segment_count_);
  return members[static_cast<std::size_t>(segment * count / segment_count_)];
}

TypedBuffer ScanChain::elements(const void* buffer, std::size_t first, std::size_t count) const {
  return {.buffer = element_at(buffer, first, arguments_.type),
          .count = count,
          .type = &arguments_.type};
}

const void* ScanChain::operand(std::int32_t rank, ElementRange range) const {
  const CollectiveSlots& slots = member_.comm.shared->slots();
  return element_at(slots.published_by<Operands>(rank).input, range.first, arguments_.type);
}

void ScanChain::scan_chunk(
    std::int32_t segment, ElementRange range, ScanKind kind, void* before, void* after) const {
  SORREL_ASSERT(is_computer(segment) && range.count <= chunk_);
  const CollectiveSlots& slots = member_.comm.shared->slots();
  const Datatype& type = arguments_.type;
  const auto& runs = processes_.runs();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].process_index != processes_.own_index()) continue;
    if (i > 0) {
      receive_now(member_, elements(before, 0, range.count),
                  computer(runs[i - 1].process_index, segment), total_tag);
    }
    for (std::int32_t rank = runs[i].first; rank < runs[i].last; ++rank) {
      copy_elements(operand(rank, range), after, range.count, type);
      if (rank > 0) combine(arguments_, before, after, after, range.count);
      const void* result = kind == ScanKind::inclusive ? after : before;
      if (kind == ScanKind::inclusive || rank > 0) {
        copy_elements(result,
                      element_at(slots.published_by<Operands>(rank).output, range.first, type),
                      range.count, type);
      }
      std::swap(before, after);
    }
    if (i + 1 < runs.size()) {
      send_now(member_, elements(before, 0, range.count),
               computer(runs[i + 1].process_index, segment), total_tag);
    }
  }
}

}  // namespace sorrel::mpi
