#include <vector>

#include "mpi/collectives/collectives.hpp"
#include "mpi/collectives/inter.hpp"
#include "mpi/collectives/member_fold.hpp"
#include "mpi/collectives/reduction_exchange.hpp"
#include "mpi/collectives/segments.hpp"
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

/// Whether the vectors are combined within one barrier.
bool is_folded_on_arrival(const CollectiveSlots& slots, const ReductionArguments& arguments) {
  return arguments.kernel != nullptr && arguments.type.is_dense() &&
         slots.may_fold(arguments.count * arguments.type.size());
}

/// Combines them: take(total) is called when all are in the total, if the caller needs it.
template <class Take>
int fold_on_arrival(const Member& member,
                    const ReductionArguments& arguments,
                    bool needs_total,
                    Take&& take) {
  auto& [self, comm] = member;
  const void* total = nullptr;
  const int error = comm.shared->slots().barrier_and_fold(
      self, comm, arguments, operands_of(arguments).input, needs_total ? &total : nullptr);
  if (error == MPI_SUCCESS && needs_total) take(total);
  return error;
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
  MemberFold fold(member, arguments);
  for (std::size_t done = 0; done < range.count; done += chunk) {
    const ElementRange part{.first = range.first + done,
                            .count = std::min(chunk, range.count - done)};
    fold.fold(part, scratch.buffer());
    // In place, the output is the target's operand too: these elements of it have just been read.
    void* output =
        element_at(slots.published_by<Operands>(target).output, part.first, arguments.type);
    copy_elements(scratch.buffer(), output, part.count, arguments.type);
  }
}

/// Copies elements of the result from another member's output to the caller's.
void copy_result(const Member& member,
                 const ReductionArguments& arguments,
                 ElementRange range,
                 std::int32_t owner) {
  if (owner == member.comm.rank) return;
  const auto& operands = member.comm.shared->slots().published_by<Operands>(owner);
  copy_elements(element_at(operands.output, range.first, arguments.type),
                element_at(arguments.receive, range.first, arguments.type), range.count,
                arguments.type);
}

/// Computes the whole result. Operands are read until the barrier, also the caller's in place.
int compute_all(const Member& member, const ReductionArguments& arguments) {
  const ElementRange all{.first = 0, .count = arguments.count};
  CollectiveSlots& slots = member.comm.shared->slots();
  MemberFold fold(member, arguments);
  // An operation may write the gaps of a type.
  if (arguments.send != nullptr && arguments.type.is_dense()) {
    fold.fold(all, arguments.receive);
    return slots.barrier(member.self, member.comm);
  }
  const Scratch total(arguments.count, arguments.type);
  fold.fold(all, total.buffer());
  const int error = slots.barrier(member.self, member.comm);
  copy_elements(total.buffer(), arguments.receive, arguments.count, arguments.type);
  return error;
}

/// Computes it from copies of the operands in rows, with one barrier.
int compute_all_from_rows(const Member& member, const ReductionArguments& arguments) {
  StagedRows rows;
  if (const int mismatch = rows.open(member); mismatch != MPI_SUCCESS) return mismatch;
  StagedRows::Row& own = rows.begin_own(arguments.count * arguments.type.size());
  copy_elements(operands_of(arguments).input, own.data.data(), arguments.count, arguments.type);
  if (const int mismatch = member.comm.shared->slots().barrier(member.self, member.comm);
      mismatch != MPI_SUCCESS)
    return mismatch;
  const ElementRange all{.first = 0, .count = arguments.count};
  MemberFold(member, arguments, rows).fold(all, arguments.receive);
  return MPI_SUCCESS;
}

using Shard = ReductionExchange::Shard;

/// How many members of a process compute: one on each worker, or fewer if the vector is short.
std::int32_t slot_count(const Member& member, const ReductionArguments& arguments) {
  const CommShared& shared = *member.comm.shared;
  const std::int32_t processes = shared.processes()->count();
  const auto most = std::min(static_cast<std::int32_t>(shared.world().layout().worker_count()),
                             (member.comm.size() + processes - 1) / processes);
  const Segments segments(shared.slots(), arguments, processes * most);
  return (segments.count() + processes - 1) / processes;
}

/// `slots` shards for each process.
std::vector<Shard> even_shards(const ReductionArguments& arguments,
                               std::int32_t processes,
                               std::int32_t slots) {
  std::vector<Shard> shards;
  for (std::int32_t process = 0; process < processes; ++process) {
    for (std::int32_t slot = 0; slot < slots; ++slot) {
      shards.push_back(
          {.process = process,
           .slot = slot,
           .range = even_part(arguments.count, process * slots + slot, processes * slots)});
    }
  }
  return shards;
}

/// Each shard's total goes from the process that has it to all other processes, once to every node
/// of the machine.
class TotalMessages {
 public:
  TotalMessages(const Member& member,
                const ReductionArguments& arguments,
                const ReductionExchange& exchange,
                const std::vector<Shard>& shards)
      : exchange_(exchange),
        processes_(*member.comm.shared->processes()),
        output_(arguments.receive),
        totals_(member, total_tag),
        forwarded_(member, forwarded_total_tag),
        shards_(shards) {
    // In place these are the caller's operands, too: a total comes only after they have been read.
    for_each_part([&](const Shard& shard, ElementRange range) {
      const std::int32_t from = source(shard);
      exchange_.for_each_message(from, range, [&](ElementRange message) {
        (from == shard.process ? totals_ : forwarded_)
            .receive(elements(message), exchange_.computer(from, shard.slot));
      });
    });
  }

  /// A total of this process, which is in the output.
  void send(const Shard& shard, ElementRange range) {
    // Starts with the next node, so that not all send to the same one at once.
    for (std::int32_t i = 1; i < processes_.node_count(); ++i) {
      const std::int32_t node = (processes_.own_node() + i) % processes_.node_count();
      const std::int32_t to = processes_.deputy(shard.process, node);
      exchange_.for_each_message(to, range, [&](ElementRange message) {
        totals_.send(elements(message), exchange_.computer(to, shard.slot));
      });
    }
    send_on_node(totals_, shard, range);
  }

  void finish() {
    (void)totals_.finish();
    for_each_part([&](const Shard& shard, ElementRange range) {
      if (source(shard) == shard.process &&
          processes_.node_of(shard.process) != processes_.own_node())
        send_on_node(forwarded_, shard, range);
    });
    (void)forwarded_.finish();
  }

 private:
  /// Visits the parts of all shards of other processes that the caller computes.
  template <class Body>
  void for_each_part(Body&& body) const {
    for (const Shard& shard : shards_) {
      if (shard.process == processes_.own_index() || !exchange_.is_computer(shard.slot)) continue;
      exchange_.for_each_part(shard.range, [&](ElementRange range) { body(shard, range); });
    }
  }

  /// The process from which this one gets a total.
  [[nodiscard]] std::int32_t source(const Shard& shard) const {
    if (processes_.node_of(shard.process) == processes_.own_node()) return shard.process;
    const std::int32_t deputy = processes_.deputy(shard.process, processes_.own_node());
    return deputy == processes_.own_index() ? shard.process : deputy;
  }

  void send_on_node(Traffic& traffic, const Shard& shard, ElementRange range) {
    for (const std::int32_t other : processes_.on_node(processes_.own_node())) {
      if (other != processes_.own_index())
        traffic.send(elements(range), exchange_.computer(other, shard.slot));
    }
  }

  [[nodiscard]] TypedBuffer elements(ElementRange range) const {
    return exchange_.elements(output_, range.first, range.count);
  }

  const ReductionExchange& exchange_;
  const ProcessMap& processes_;
  void* output_;
  Traffic totals_;
  /// Traffic from and to processes of this node.
  Traffic forwarded_;
  const std::vector<Shard>& shards_;
};

/// Whether each process sends all of its vector to those that need it, in one step instead of two.
bool is_direct(const Member& member, const ReductionArguments& arguments, Limit limit) {
  return arguments.count * arguments.type.size() <= member.comm.shared->slots().limit(limit);
}

void all_reduce_over_processes(const Member& member,
                               const ReductionArguments& arguments,
                               const Operands& operands) {
  auto& [self, comm] = member;
  const ProcessMap& processes = *comm.shared->processes();
  const bool takes_one_step = is_direct(member, arguments, Limit::allreduce_direct);
  const std::int32_t slots_of_process = takes_one_step ? 1 : slot_count(member, arguments);
  const std::vector<Shard> shards =
      even_shards(arguments, takes_one_step ? 1 : processes.count(), slots_of_process);
  CollectiveSlots& slots = comm.shared->slots();
  slots.publish(comm, &operands);
  slots.local_barrier(self, comm);
  ReductionExchange exchange(member, arguments, slots_of_process, shards.size());
  const auto write = [&](ElementRange range, const void* total) {
    copy_elements(total, element_at(operands.output, range.first, arguments.type), range.count,
                  arguments.type);
  };
  if (takes_one_step) {
    exchange.reduce_everywhere(
        [&](const Shard&, ElementRange range, const void* total) { write(range, total); });
  } else {
    TotalMessages messages(member, arguments, exchange, shards);
    exchange.reduce(shards, [&](const Shard& shard, ElementRange range, const void* total) {
      write(range, total);
      messages.send(shard, range);
    });
    messages.finish();
  }
  slots.local_barrier(self, comm);
  for (const Shard& shard : shards) {
    copy_result(member, arguments, shard.range,
                exchange.computer(processes.own_index(), shard.slot));
  }
  slots.local_barrier(self, comm);
}

void reduce_over_processes(const Member& member,
                           const ReductionArguments& arguments,
                           const Operands& operands,
                           std::int32_t root) {
  auto& [self, comm] = member;
  const ProcessMap& processes = *comm.shared->processes();
  const std::int32_t root_process = processes.index_of(root);
  std::vector<Shard> shards{
      {.process = root_process, .slot = 0, .range = {.first = 0, .count = arguments.count}}};
  std::int32_t slots_of_process = 1;
  if (!is_direct(member, arguments, Limit::reduce_direct)) {
    slots_of_process = slot_count(member, arguments);
    shards = even_shards(arguments, processes.count(), slots_of_process);
  }
  CollectiveSlots& slots = comm.shared->slots();
  slots.publish(comm, &operands);
  slots.local_barrier(self, comm);
  ReductionExchange exchange(member, arguments, slots_of_process, shards.size());
  Traffic results(member, total_tag);
  for (const Shard& shard : shards) {
    if (comm.rank != root || shard.process == root_process) continue;
    exchange.for_each_part(shard.range, [&](ElementRange range) {
      // In place this is the root's operand, too: a total comes only after it has been read.
      results.receive(exchange.elements(operands.output, range.first, range.count),
                      exchange.computer(shard.process, shard.slot));
    });
  }
  exchange.reduce(shards, [&](const Shard& shard, ElementRange range, const void* total) {
    if (shard.process != root_process) {
      send_now(member, exchange.elements(total, 0, range.count), root, total_tag);
      return;
    }
    void* output =
        element_at(slots.published_by<Operands>(root).output, range.first, arguments.type);
    copy_elements(total, output, range.count, arguments.type);
  });
  (void)results.finish();
  slots.local_barrier(self, comm);
}

/// Each member's range is a shard of its process, whose total is left in the member's output.
void reduce_scatter_over_processes(const Member& member,
                                   const ReductionArguments& arguments,
                                   const std::vector<ElementRange>& ranges) {
  const CommShared& shared = *member.comm.shared;
  std::vector<Shard> shards;
  for (std::int32_t rank = 0; rank < member.comm.size(); ++rank) {
    shards.push_back({.process = shared.processes()->index_of(rank),
                      .slot = rank,
                      .range = ranges[static_cast<std::size_t>(rank)]});
  }
  ReductionExchange exchange(member, arguments, member.comm.size(), shards.size());
  exchange.reduce(shards, [&](const Shard& shard, ElementRange range, const void* total) {
    void* output = shared.slots().published_by<Operands>(shard.slot).output;
    copy_elements(total, element_at(output, range.first - shard.range.first, arguments.type),
                  range.count, arguments.type);
  });
}

/// Blocks too short to be combined one by one: some members compute several at once, in their own
/// memory, and all copy their blocks. `own` is the caller's part of all elements.
int reduce_scatter_segments(const Member& member,
                            const ReductionArguments& all,
                            const Segments& segments,
                            ElementRange own) {
  auto& [self, comm] = member;
  CollectiveSlots& slots = comm.shared->slots();
  const std::int32_t computed = segments.segment_of(comm.rank);
  const ElementRange range = computed < 0 ? ElementRange{} : segments.range_of(computed);
  const Scratch totals(range.count, all.type);
  const Operands operands{.input = operands_of(all).input, .output = totals.buffer()};
  slots.publish(comm, &operands);
  if (const int error = slots.barrier(self, comm); error != MPI_SUCCESS) return error;
  if (computed >= 0) MemberFold(member, all).fold(range, totals.buffer());
  slots.barrier(self, comm);
  std::size_t done = 0;
  for (std::int32_t i = segments.segment_with(own.first); done < own.count; ++i) {
    const ElementRange from = segments.range_of(i);
    const std::size_t offset = own.first + done - from.first;
    const std::size_t count = std::min(from.count - offset, own.count - done);
    const auto& owner = slots.published_by<Operands>(segments.member_of(i));
    copy_elements(element_at(owner.output, offset, all.type),
                  element_at(all.receive, done, all.type), count, all.type);
    done += count;
  }
  return slots.barrier(self, comm);
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
    const int error = slots.barrier_and_reduce(self, comm, small, operands.input, operands.output);
    if (error == MPI_SUCCESS) CollectiveSlots::remember(comm, arguments, small);
    return error;
  }
  if (finish_trivial(member, arguments)) return MPI_SUCCESS;
  if (comm.shared->processes() != nullptr) {
    all_reduce_over_processes(member, arguments, operands);
    return MPI_SUCCESS;
  }
  const std::size_t bytes = arguments.count * arguments.type.size();
  const bool is_repeated =
      bytes * static_cast<std::size_t>(comm.size()) <= slots.limit(Limit::allreduce_repeated);
  if (!is_repeated && is_folded_on_arrival(slots, arguments)) {
    return fold_on_arrival(member, arguments, true, [&](const void* total) {
      copy_elements(total, operands.output, arguments.count, arguments.type);
    });
  }
  if (is_repeated && arguments.type.is_dense() && bytes <= StagedRows::row_bytes &&
      StagedRows::are_for(comm.size()))
    return compute_all_from_rows(member, arguments);
  slots.publish(comm, &operands);
  if (const int error = slots.barrier(self, comm); error != MPI_SUCCESS) return error;
  if (is_repeated) return compute_all(member, arguments);
  const Segments segments(slots, arguments);
  compute_segment(member, arguments, segments, comm.rank);
  slots.barrier(self, comm);
  for (std::int32_t segment = 0; segment < segments.count(); ++segment)
    copy_result(member, arguments, segments.range_of(segment), segments.member_of(segment));
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
  if (is_folded_on_arrival(slots, arguments)) {
    return fold_on_arrival(member, arguments, comm.rank == root, [&](const void* total) {
      copy_elements(total, operands.output, arguments.count, arguments.type);
    });
  }
  slots.publish(comm, &operands);
  if (const int error = slots.barrier(self, comm); error != MPI_SUCCESS) return error;
  compute_segment(member, arguments, Segments(slots, arguments), root);
  return slots.barrier(self, comm);
}

int reduce_scatter(const Member& member, const ReductionArguments& arguments, Integers counts) {
  auto& [self, comm] = member;
  if (comm.inter != nullptr) return inter::reduce_scatter(member, arguments, counts);
  CollectiveSlots& slots = comm.shared->slots();
  const auto count_of = [&](std::int32_t rank) {
    return counts.is_null() ? arguments.count : static_cast<std::size_t>(counts[rank]);
  };
  // Elements before the block of a rank; of all ranks for the size of the communicator.
  const auto first_of = [&](std::int32_t rank) {
    if (counts.is_null()) return static_cast<std::size_t>(rank) * arguments.count;
    std::size_t first = 0;
    for (std::int32_t before = 0; before < rank; ++before)
      first += count_of(before);
    return first;
  };
  const ElementRange own{.first = first_of(comm.rank), .count = count_of(comm.rank)};
  if (comm.size() == 1) {
    if (arguments.send != nullptr)
      copy_elements(arguments.send, arguments.receive, own.count, arguments.type);
    return MPI_SUCCESS;
  }
  if (comm.shared->processes() == nullptr) {
    ReductionArguments all = arguments;
    all.count = first_of(comm.size());
    if (is_folded_on_arrival(slots, all)) {
      return fold_on_arrival(member, all, true, [&](const void* total) {
        copy_elements(element_at(total, own.first, all.type), all.receive, own.count, all.type);
      });
    }
    const Segments segments(slots, all);
    if (segments.count() < comm.size()) return reduce_scatter_segments(member, all, segments, own);
  }
  // The other members read the caller's operand until the last barrier: in place, the result must
  // wait until then.
  const Scratch result(own.count, arguments.type);
  const Operands operands{.input = operands_of(arguments).input, .output = result.buffer()};
  slots.publish(comm, &operands);
  if (comm.shared->processes() != nullptr) {
    std::vector<ElementRange> ranges;
    std::size_t first = 0;
    for (std::int32_t rank = 0; rank < comm.size(); first += count_of(rank++))
      ranges.push_back({.first = first, .count = count_of(rank)});
    slots.local_barrier(self, comm);
    reduce_scatter_over_processes(member, arguments, ranges);
    slots.local_barrier(self, comm);
  } else {
    if (const int error = slots.barrier(self, comm); error != MPI_SUCCESS) return error;
    MemberFold(member, arguments).fold(own, result.buffer());
    slots.barrier(self, comm);
  }
  copy_elements(result.buffer(), arguments.receive, own.count, arguments.type);
  return MPI_SUCCESS;
}

}  // namespace sorrel::mpi
