#include "mpi/collectives/collectives.hpp"
#include "mpi/collectives/reduction.hpp"
#include "mpi/rank_state.hpp"

namespace sorrel::mpi {

namespace {

/// The kernel, when the operands are short enough to be combined in the slots themselves.
SmallReduction small_reduction(const ReductionArguments& arguments) {
  const std::size_t bytes = arguments.count * arguments.type.size();
  if (bytes > small_reduction_bytes_max || !arguments.type.is_dense()) return {};
  return {.kernel = arguments.kernel,
          .element_count = static_cast<std::uint32_t>(arguments.count),
          .bytes = static_cast<std::uint32_t>(bytes)};
}

Operands operands_of(const ReductionArguments& arguments) {
  return {.input = arguments.send == nullptr ? arguments.receive : arguments.send,
          .output = arguments.receive};
}

/// Computes our segment, chunk by chunk, into the output of `target`.
void compute_segment(const Member& member,
                     const ReductionArguments& arguments,
                     const Segments& segments,
                     std::int32_t target) {
  const std::int32_t segment = segments.segment_of(member.comm.rank);
  if (segment < 0) return;
  const CollectiveSlots& slots = member.comm.shared->slots();
  const ElementRange range = segments.range_of(segment);
  const std::size_t chunk = std::min(chunk_element_count(arguments.type), range.count);
  const Scratch scratch(chunk, arguments.type);
  for (std::size_t done = 0; done < range.count; done += chunk) {
    const ElementRange part{.first = range.first + done,
                            .count = std::min(chunk, range.count - done)};
    fold_operands(slots, part, arguments, scratch.buffer());
    // In place, the output is the target's operand too: these elements of it have just been read.
    void* output = element_at(slots.left_by<Operands>(target).output, part.first, arguments.type);
    copy_elements(scratch.buffer(), output, part.count, arguments.type);
  }
}

/// One member, or nothing to combine: the result is the operand.
bool finish_trivial(const Member& member, const ReductionArguments& arguments) {
  if (member.comm.size() > 1) return false;
  if (arguments.send != nullptr)
    copy_elements(arguments.send, arguments.receive, arguments.count, arguments.type);
  return true;
}

}  // namespace

void all_reduce(const Member& member, const ReductionArguments& arguments) {
  auto& [self, comm] = member;
  CollectiveSlots& slots = comm.shared->slots();
  const Operands operands = operands_of(arguments);
  if (const SmallReduction small = small_reduction(arguments); small.kernel != nullptr) {
    slots.meet_and_reduce(self, comm, small, operands.input, operands.output);
    return;
  }
  if (finish_trivial(member, arguments)) return;
  slots.deposit(comm, &operands);
  slots.meet(self, comm);
  const Segments segments(arguments.count, arguments.type, comm.size());
  compute_segment(member, arguments, segments, comm.rank);
  slots.meet(self, comm);
  for (std::int32_t segment = 0; segment < segments.count(); ++segment) {
    const std::int32_t owner = segments.member_of(segment);
    if (owner == comm.rank) continue;
    const ElementRange range = segments.range_of(segment);
    copy_elements(element_at(slots.left_by<Operands>(owner).output, range.first, arguments.type),
                  element_at(operands.output, range.first, arguments.type), range.count,
                  arguments.type);
  }
  slots.meet(self, comm);
}

void reduce_to_root(const Member& member, const ReductionArguments& arguments, std::int32_t root) {
  auto& [self, comm] = member;
  CollectiveSlots& slots = comm.shared->slots();
  const Operands operands = operands_of(arguments);
  if (const SmallReduction small = small_reduction(arguments); small.kernel != nullptr) {
    std::array<std::byte, small_reduction_bytes_max> unused;
    slots.meet_and_reduce(self, comm, small, operands.input,
                          comm.rank == root ? operands.output : unused.data());
    return;
  }
  if (finish_trivial(member, arguments)) return;
  slots.deposit(comm, &operands);
  slots.meet(self, comm);
  compute_segment(member, arguments, Segments(arguments.count, arguments.type, comm.size()), root);
  slots.meet(self, comm);
}

void reduce_scatter(const Member& member, const ReductionArguments& arguments, const int* counts) {
  auto& [self, comm] = member;
  CollectiveSlots& slots = comm.shared->slots();
  const auto count_of = [&](std::int32_t rank) {
    return counts == nullptr ? arguments.count : static_cast<std::size_t>(counts[rank]);
  };
  ElementRange own{.first = 0, .count = count_of(comm.rank)};
  for (std::int32_t rank = 0; rank < comm.rank; ++rank)
    own.first += count_of(rank);
  if (comm.size() == 1) {
    if (arguments.send != nullptr)
      copy_elements(arguments.send, arguments.receive, own.count, arguments.type);
    return;
  }
  const Operands operands = operands_of(arguments);
  slots.deposit(comm, &operands);
  slots.meet(self, comm);
  // The others read our operand until the next meeting: in place, the result must wait until then.
  const Scratch scratch(own.count, arguments.type);
  const std::size_t chunk = chunk_element_count(arguments.type);
  for (std::size_t done = 0; done < own.count; done += chunk) {
    const ElementRange part{.first = own.first + done, .count = std::min(chunk, own.count - done)};
    fold_operands(slots, part, arguments, element_at(scratch.buffer(), done, arguments.type));
  }
  slots.meet(self, comm);
  copy_elements(scratch.buffer(), arguments.receive, own.count, arguments.type);
}

}  // namespace sorrel::mpi
