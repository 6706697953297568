#include <vector>

#include "mpi/collectives/collectives.hpp"
#include "mpi/collectives/inter.hpp"
#include "mpi/collectives/reduction.hpp"
#include "mpi/collectives/reduction_chain.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

namespace {

/// The kernel, if the operands are short enough to be combined in the slots themselves.
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

/// Computes the caller's segment, chunk by chunk, into the output of `target`.
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
    void* output =
        element_at(slots.published_by<Operands>(target).output, part.first, arguments.type);
    copy_elements(scratch.buffer(), output, part.count, arguments.type);
  }
}

/// Copies every segment's result from the output of the member that has it, owner_of(segment), to
/// the caller's.
template <class OwnerOf>
void copy_results(const Member& member,
                  const ReductionArguments& arguments,
                  const Segments& segments,
                  OwnerOf&& owner_of) {
  const CollectiveSlots& slots = member.comm.shared->slots();
  for (std::int32_t segment = 0; segment < segments.count(); ++segment) {
    const std::int32_t owner = owner_of(segment);
    if (owner == member.comm.rank) continue;
    const ElementRange range = segments.range_of(segment);
    copy_elements(
        element_at(slots.published_by<Operands>(owner).output, range.first, arguments.type),
        element_at(arguments.receive, range.first, arguments.type), range.count, arguments.type);
  }
}

/// Computes the caller's segments over all processes and calls done(segment, range, total) at the
/// end of the chain.
template <class Done>
void compute_segments(const ReductionChain& chain,
                      const ReductionArguments& arguments,
                      const Segments& segments,
                      Done&& done) {
  for (std::int32_t segment = 0; segment < segments.count(); ++segment) {
    if (!chain.is_computer(segment)) continue;
    const Scratch scratch(chain.chunk_element_count(), arguments.type);
    chain.for_each_chunk(segments.range_of(segment), [&](ElementRange range) {
      if (chain.reduce_chunk(segment, range, scratch.buffer()))
        done(segment, range, scratch.buffer());
    });
  }
}

/// The path of a segment's total from the process where its chain ends to all other processes: once
/// to every node, whose first process forwards it.
class TotalRoutes {
 public:
  explicit TotalRoutes(const ProcessMap& processes, std::int32_t last)
      : processes_(processes), last_(last), last_node_(processes.node_of(last)) {}

  /// The process from which this one receives it.
  [[nodiscard]] std::int32_t source() const {
    const std::int32_t node_leader = processes_.node_leader(processes_.own_node());
    const bool is_direct =
        processes_.own_node() == last_node_ || node_leader == processes_.own_index();
    return is_direct ? last_ : node_leader;
  }

  /// The processes to which the last one of the chain sends it.
  [[nodiscard]] std::vector<std::int32_t> targets_of_last() const {
    std::vector<std::int32_t> targets = others_on(last_node_, last_);
    for (std::int32_t node = 0; node < processes_.node_count(); ++node) {
      if (node != last_node_) targets.push_back(processes_.node_leader(node));
    }
    return targets;
  }

  /// The processes to which this one forwards it.
  [[nodiscard]] std::vector<std::int32_t> own_targets() const {
    const std::int32_t own = processes_.own_index();
    const bool is_node_leader = own == processes_.node_leader(processes_.own_node());
    if (!is_node_leader || processes_.own_node() == last_node_) return {};
    return others_on(processes_.own_node(), own);
  }

 private:
  [[nodiscard]] std::vector<std::int32_t> others_on(std::int32_t node, std::int32_t but) const {
    std::vector<std::int32_t> others = processes_.on_node(node);
    std::erase(others, but);
    return others;
  }

  const ProcessMap& processes_;
  std::int32_t last_;
  std::int32_t last_node_;
};

/// The chain ends in one process. From there the total goes to the computing members of all other
/// processes, and the members of a process copy it from theirs.
void all_reduce_over_processes(const Member& member,
                               const ReductionArguments& arguments,
                               const Operands& operands) {
  auto& [self, comm] = member;
  const ProcessMap& processes = *comm.shared->processes();
  CollectiveSlots& slots = comm.shared->slots();
  const Segments segments(arguments.count, arguments.type, comm.size());
  const ReductionChain chain(member, arguments, segments.count());
  const std::int32_t last = chain.last_process_index();
  const TotalRoutes routes(processes, last);
  slots.publish(comm, &operands);
  slots.local_barrier(self, comm);
  Traffic results(member);
  for (std::int32_t segment = 0; segment < segments.count(); ++segment) {
    if (processes.own_index() == last || !chain.is_computer(segment)) continue;
    chain.for_each_chunk(segments.range_of(segment), [&](ElementRange range) {
      // In place this is the caller's operand, too: the total comes only after it has been read.
      results.receive(chain.elements(operands.output, range.first, range.count),
                      chain.computer(routes.source(), segment));
    });
  }
  const std::vector<std::int32_t> targets = routes.targets_of_last();
  compute_segments(chain, arguments, segments,
                   [&](std::int32_t segment, ElementRange range, void* total) {
                     const TypedBuffer result = chain.elements(total, 0, range.count);
                     copy_elements(total, element_at(operands.output, range.first, arguments.type),
                                   range.count, arguments.type);
                     for (const std::int32_t to : targets)
                       send_now(member, result, chain.computer(to, segment), tag_of(member));
                   });
  (void)results.finish();
  for (const std::int32_t to : routes.own_targets()) {
    for (std::int32_t segment = 0; segment < segments.count(); ++segment) {
      if (!chain.is_computer(segment)) continue;
      chain.for_each_chunk(segments.range_of(segment), [&](ElementRange range) {
        results.send(chain.elements(operands.output, range.first, range.count),
                     chain.computer(to, segment));
      });
    }
  }
  (void)results.finish();
  slots.local_barrier(self, comm);
  copy_results(member, arguments, segments, [&](std::int32_t segment) {
    return chain.computer(processes.own_index(), segment);
  });
  slots.local_barrier(self, comm);
}

void reduce_over_processes(const Member& member,
                           const ReductionArguments& arguments,
                           const Operands& operands,
                           std::int32_t root) {
  auto& [self, comm] = member;
  const ProcessMap& processes = *comm.shared->processes();
  CollectiveSlots& slots = comm.shared->slots();
  const Segments segments(arguments.count, arguments.type, comm.size());
  const ReductionChain chain(member, arguments, segments.count());
  const std::int32_t last = chain.last_process_index();
  const bool ends_at_root = last == processes.index_of(root);
  slots.publish(comm, &operands);
  slots.local_barrier(self, comm);
  Traffic results(member);
  for (std::int32_t segment = 0; segment < segments.count(); ++segment) {
    if (comm.rank != root || ends_at_root) continue;
    chain.for_each_chunk(segments.range_of(segment), [&](ElementRange range) {
      results.receive(chain.elements(operands.output, range.first, range.count),
                      chain.computer(last, segment));
    });
  }
  compute_segments(chain, arguments, segments, [&](std::int32_t, ElementRange range, void* total) {
    if (!ends_at_root) {
      send_now(member, chain.elements(total, 0, range.count), root, tag_of(member));
      return;
    }
    void* output =
        element_at(slots.published_by<Operands>(root).output, range.first, arguments.type);
    copy_elements(total, output, range.count, arguments.type);
  });
  (void)results.finish();
  slots.local_barrier(self, comm);
}

/// Each member's range is a segment, whose total is sent to it from the end of the chain.
void reduce_scatter_over_processes(const Member& member,
                                   const ReductionArguments& arguments,
                                   const std::vector<ElementRange>& ranges,
                                   void* own_result) {
  const std::int32_t size = member.comm.size();
  const ReductionChain chain(member, arguments, size);
  const auto source_of = [&](std::int32_t rank) {
    return chain.computer(chain.last_process_index(), rank);
  };
  const std::int32_t self_rank = member.comm.rank;
  const ElementRange own = ranges[static_cast<std::size_t>(self_rank)];
  Traffic results(member);
  if (source_of(self_rank) != self_rank) {
    chain.for_each_chunk(own, [&](ElementRange range) {
      results.receive(chain.elements(own_result, range.first - own.first, range.count),
                      source_of(self_rank));
    });
  }
  for (std::int32_t rank = 0; rank < size; ++rank) {
    if (!chain.is_computer(rank)) continue;
    const Scratch scratch(chain.chunk_element_count(), arguments.type);
    chain.for_each_chunk(ranges[static_cast<std::size_t>(rank)], [&](ElementRange range) {
      if (!chain.reduce_chunk(rank, range, scratch.buffer())) return;
      if (rank == self_rank) {
        copy_elements(scratch.buffer(),
                      element_at(own_result, range.first - own.first, arguments.type), range.count,
                      arguments.type);
      } else {
        send_now(member, chain.elements(scratch.buffer(), 0, range.count), rank, tag_of(member));
      }
    });
  }
  (void)results.finish();
}

/// One member, or nothing to combine: the result is the operand.
bool finish_trivial(const Member& member, const ReductionArguments& arguments) {
  if (member.comm.size() > 1) return false;
  if (arguments.send != nullptr)
    copy_elements(arguments.send, arguments.receive, arguments.count, arguments.type);
  return true;
}

}  // namespace

int all_reduce(const Member& member, const ReductionArguments& arguments) {
  auto& [self, comm] = member;
  if (comm.inter != nullptr) return inter::all_reduce(member, arguments);
  CollectiveSlots& slots = comm.shared->slots();
  const Operands operands = operands_of(arguments);
  if (const SmallReduction small = small_reduction(arguments); small.kernel != nullptr) {
    return slots.barrier_and_reduce(self, comm, small, operands.input, operands.output);
  }
  if (finish_trivial(member, arguments)) return MPI_SUCCESS;
  if (comm.shared->processes() != nullptr) {
    all_reduce_over_processes(member, arguments, operands);
    return MPI_SUCCESS;
  }
  slots.publish(comm, &operands);
  if (const int error = slots.barrier(self, comm); error != MPI_SUCCESS) return error;
  const Segments segments(arguments.count, arguments.type, comm.size());
  compute_segment(member, arguments, segments, comm.rank);
  slots.barrier(self, comm);
  copy_results(member, arguments, segments,
               [&](std::int32_t segment) { return segments.member_of(segment); });
  return slots.barrier(self, comm);
}

int reduce_to_root(const Member& member, const ReductionArguments& arguments, std::int32_t root) {
  auto& [self, comm] = member;
  if (comm.inter != nullptr) return inter::reduce_to_root(member, arguments, root);
  CollectiveSlots& slots = comm.shared->slots();
  const Operands operands = operands_of(arguments);
  if (const SmallReduction small = small_reduction(arguments); small.kernel != nullptr) {
    std::array<std::byte, small_reduction_bytes_max> unused;
    return slots.barrier_and_reduce(self, comm, small, operands.input,
                                    comm.rank == root ? operands.output : unused.data());
  }
  if (finish_trivial(member, arguments)) return MPI_SUCCESS;
  if (comm.shared->processes() != nullptr) {
    reduce_over_processes(member, arguments, operands, root);
    return MPI_SUCCESS;
  }
  slots.publish(comm, &operands);
  if (const int error = slots.barrier(self, comm); error != MPI_SUCCESS) return error;
  compute_segment(member, arguments, Segments(arguments.count, arguments.type, comm.size()), root);
  return slots.barrier(self, comm);
}

int reduce_scatter(const Member& member, const ReductionArguments& arguments, Integers counts) {
  auto& [self, comm] = member;
  if (comm.inter != nullptr) return inter::reduce_scatter(member, arguments, counts);
  CollectiveSlots& slots = comm.shared->slots();
  const auto count_of = [&](std::int32_t rank) {
    return counts.is_null() ? arguments.count : static_cast<std::size_t>(counts[rank]);
  };
  ElementRange own{.first = 0, .count = count_of(comm.rank)};
  for (std::int32_t rank = 0; rank < comm.rank; ++rank)
    own.first += count_of(rank);
  if (comm.size() == 1) {
    if (arguments.send != nullptr)
      copy_elements(arguments.send, arguments.receive, own.count, arguments.type);
    return MPI_SUCCESS;
  }
  const Operands operands = operands_of(arguments);
  slots.publish(comm, &operands);
  if (comm.shared->processes() != nullptr) {
    std::vector<ElementRange> ranges;
    std::size_t first = 0;
    for (std::int32_t rank = 0; rank < comm.size(); first += count_of(rank++))
      ranges.push_back({.first = first, .count = count_of(rank)});
    const Scratch result(own.count, arguments.type);
    slots.local_barrier(self, comm);
    reduce_scatter_over_processes(member, arguments, ranges, result.buffer());
    slots.local_barrier(self, comm);
    copy_elements(result.buffer(), arguments.receive, own.count, arguments.type);
    return MPI_SUCCESS;
  }
  if (const int error = slots.barrier(self, comm); error != MPI_SUCCESS) return error;
  // The other members read the caller's operand until the next barrier: in place, the result must
  // wait until then.
  const Scratch scratch(own.count, arguments.type);
  const std::size_t chunk = chunk_element_count(arguments.type);
  for (std::size_t done = 0; done < own.count; done += chunk) {
    const ElementRange part{.first = own.first + done, .count = std::min(chunk, own.count - done)};
    fold_operands(slots, part, arguments, element_at(scratch.buffer(), done, arguments.type));
  }
  slots.barrier(self, comm);
  copy_elements(scratch.buffer(), arguments.receive, own.count, arguments.type);
  return MPI_SUCCESS;
}

}  // namespace sorrel::mpi
