#include <algorithm>
#include <memory>
#include <vector>

#include "mpi/collectives/collectives.hpp"
#include "mpi/collectives/inter.hpp"
#include "mpi/collectives/move.hpp"
#include "mpi/collectives/slots.hpp"
#include "mpi/collectives/staged_rows.hpp"
#include "mpi/collectives/traffic.hpp"
#include "mpi/comm/process_map.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

namespace {

/// Copies the blocks of all members except the caller.
int collect(const Member& member, const BlockList& receive) {
  auto& [self, comm] = member;
  CollectiveSlots& slots = comm.shared->slots();
  int error = MPI_SUCCESS;
  for (std::int32_t rank = 0; rank < comm.size(); ++rank) {
    if (rank != comm.rank)
      record_error(error, move(slots.published_by<TypedBuffer>(rank), receive.of(rank)));
  }
  return error;
}

/// Whether all blocks are equally long and short enough to be staged side by side: one contiguous
/// copy per member instead of one per pair of members. The same result at every member.
bool can_stage(const CollectiveSlots& slots, const BlockList& receive) {
  return receive.counts.is_null() &&
         receive.count * receive.type->size() <= slots.limit(Limit::allgather_staged);
}

/// Blocks of one length, side by side in a staging buffer.
class StagedBlocks {
 public:
  /// Call fill() before the other functions. The same `block_bytes` at every member.
  StagedBlocks(const Member& member, std::size_t block_bytes)
      : member_(member), block_bytes_(block_bytes) {}

  /// The caller's block, unless it is null. All blocks are there afterwards, if it succeeds.
  int fill(const TypedBuffer* own, int& copy_error) {
    auto& [self, comm] = member_;
    CollectiveSlots& slots = comm.shared->slots();
    const std::size_t bytes = block_bytes_ * static_cast<std::size_t>(comm.size());
    if (const int error = slots.staging(self, comm, bytes, &staged_); error != MPI_SUCCESS)
      return error;
    if (own != nullptr) copy_error = move(*own, blocks(comm.rank, comm.rank + 1));
    return slots.barrier(self, comm);
  }

  /// Copies the blocks [first, last) to their places.
  int copy_to(const BlockList& receive, std::int32_t first, std::int32_t last) {
    if (first == last) return MPI_SUCCESS;
    return move(blocks(first, last),
                {.buffer = receive.of(first).buffer,
                 .count = receive.count * static_cast<std::size_t>(last - first),
                 .type = receive.type});
  }

 private:
  [[nodiscard]] TypedBuffer blocks(std::int32_t first, std::int32_t last) const {
    return {.buffer = staged_ + block_bytes_ * static_cast<std::size_t>(first),
            .count = block_bytes_ * static_cast<std::size_t>(last - first),
            .type = datatype_from_handle(MPI_BYTE)};
  }

  Member member_;
  std::size_t block_bytes_;
  std::byte* staged_ = nullptr;
};

int all_gather_staged(const Member& member, const TypedBuffer& own, const BlockList& receive) {
  StagedBlocks staged(member, receive.count * receive.type->size());
  int error = MPI_SUCCESS;
  if (const int mismatch = staged.fill(&own, error); mismatch != MPI_SUCCESS) return mismatch;
  record_error(error, staged.copy_to(receive, 0, member.comm.size()));
  return error;
}

/// `send` is null at a root whose block is in its place.
int gather_staged(const Member& member,
                  const TypedBuffer* send,
                  const BlockList& receive,
                  std::int32_t root,
                  std::size_t block_bytes) {
  StagedBlocks staged(member, block_bytes);
  int error = MPI_SUCCESS;
  if (const int mismatch = staged.fill(send, error); mismatch != MPI_SUCCESS) return mismatch;
  if (member.comm.rank != root) return error;
  const std::int32_t end_before = send == nullptr ? root : member.comm.size();
  const std::int32_t begin_after = send == nullptr ? root + 1 : member.comm.size();
  record_error(error, staged.copy_to(receive, 0, end_before));
  record_error(error, staged.copy_to(receive, begin_after, member.comm.size()));
  return error;
}

/// Blocks of several lengths: a short one is copied to its member's row, a longer one is read where
/// it is. All members see which ones are, so they agree whether a second barrier is needed. `send`
/// is null for a block that is in its place.
int all_gather_rows(const Member& member, const TypedBuffer* send, const BlockList& receive) {
  auto& [self, comm] = member;
  CollectiveSlots& slots = comm.shared->slots();
  const TypedBuffer own_block = receive.of(comm.rank);
  const TypedBuffer& own = send == nullptr ? own_block : *send;
  StagedRows rows;
  if (const int mismatch = rows.open(member); mismatch != MPI_SUCCESS) return mismatch;
  const bool is_staged = own.bytes() <= StagedRows::row_bytes;
  rows.begin_own(own.bytes(), is_staged ? nullptr : &own);
  int error = is_staged ? move(own, rows.own_part(0, own.bytes())) : MPI_SUCCESS;
  if (send != nullptr) record_error(error, move(own, own_block));
  if (const int mismatch = slots.barrier(self, comm); mismatch != MPI_SUCCESS) return mismatch;
  bool are_all_staged = is_staged;
  for (std::int32_t rank = 0; rank < comm.size(); ++rank) {
    if (rank == comm.rank) continue;
    const StagedRows::Row& row = rows.of(rank);
    const auto* elsewhere = static_cast<const TypedBuffer*>(row.elsewhere);
    are_all_staged = are_all_staged && elsewhere == nullptr;
    record_error(error, move(elsewhere == nullptr ? rows.part(rank, 0, row.bytes) : *elsewhere,
                             receive.of(rank)));
  }
  if (!are_all_staged) slots.barrier(self, comm);
  return error;
}

int gather_over_processes(const Member& member,
                          const TypedBuffer* send,
                          const BlockList& receive,
                          std::int32_t root) {
  auto& [self, comm] = member;
  const ProcessMap& processes = *comm.shared->processes();
  CollectiveSlots& slots = comm.shared->slots();
  const std::int32_t root_index = processes.index_of(root);
  Traffic traffic(member);
  if (processes.own_index() != root_index) {
    traffic.send(*send, root);
    return traffic.finish();
  }
  int error = MPI_SUCCESS;
  if (comm.rank == root) {
    for (std::int32_t rank = 0; rank < comm.size(); ++rank) {
      if (processes.index_of(rank) != root_index) traffic.receive(receive.of(rank), rank);
    }
    if (send != nullptr) error = move(*send, receive.of(root));
  }
  slots.publish(comm, send);
  slots.local_barrier(self, comm);
  if (comm.rank == root) {
    for (const std::int32_t rank : processes.own_members()) {
      if (rank != root)
        record_error(error, move(slots.published_by<TypedBuffer>(rank), receive.of(rank)));
    }
  }
  slots.local_barrier(self, comm);
  record_error(error, traffic.finish());
  return error;
}

/// The offset of each block if all are packed contiguously; the last entry is their sum.
std::vector<std::size_t> packed_offsets(const BlockList& blocks, std::int32_t rank_count) {
  std::vector<std::size_t> offsets(static_cast<std::size_t>(rank_count) + 1);
  for (std::int32_t rank = 0; rank < rank_count; ++rank) {
    const auto i = static_cast<std::size_t>(rank);
    offsets[i + 1] = offsets[i] + blocks.of(rank).bytes();
  }
  return offsets;
}

/// The packed blocks [first, last).
TypedBuffer packed_run(std::byte* packed,
                       const std::vector<std::size_t>& offsets,
                       std::int32_t first,
                       std::int32_t last) {
  const std::size_t from = offsets[static_cast<std::size_t>(first)];
  return {.buffer = packed + from,
          .count = offsets[static_cast<std::size_t>(last)] - from,
          .type = datatype_from_handle(MPI_BYTE)};
}

/// Exchange of packed data between the first members of the processes. Those of a node exchange it,
/// the node leaders exchange the data of their nodes, and forward what they receive. So the data is
/// sent to a node once.
class PackedExchange {
 public:
  PackedExchange(const Member& member, std::byte* packed, const std::vector<std::size_t>& offsets)
      : member_(member),
        processes_(*member.comm.shared->processes()),
        packed_(packed),
        offsets_(offsets) {}

  int run() {
    const std::int32_t own = processes_.own_index();
    const std::int32_t own_node = processes_.own_node();
    const std::int32_t node_leader = processes_.node_leader(own_node);
    const auto is_ours = [&](std::int32_t index) { return processes_.node_of(index) == own_node; };
    int error = exchange(
        processes_.on_node(own_node), [&](std::int32_t index) { return index == own; },
        [&](std::int32_t index) { return is_ours(index) ? index : none; });
    if (processes_.node_count() == 1) return error;
    if (own == node_leader) {
      std::vector<std::int32_t> node_leaders;
      for (std::int32_t node = 0; node < processes_.node_count(); ++node)
        node_leaders.push_back(processes_.node_leader(node));
      record_error(error, exchange(node_leaders, is_ours, [&](std::int32_t index) {
                     return processes_.node_leader(processes_.node_of(index));
                   }));
    }
    const auto is_forwarded = [&](std::int32_t index) {
      return own == node_leader && !is_ours(index);
    };
    record_error(error,
                 exchange(processes_.on_node(own_node), is_forwarded,
                          [&](std::int32_t index) { return is_ours(index) ? none : node_leader; }));
    return error;
  }

 private:
  static constexpr std::int32_t none = -1;

  /// For the blocks of every process: sends those for which is_sent() holds to all other
  /// `partners`, and receives the remaining ones from source_of(process), unless that is `none`.
  template <class IsSent, class SourceOf>
  int exchange(const std::vector<std::int32_t>& partners, IsSent&& is_sent, SourceOf&& source_of) {
    Traffic traffic(member_);
    for (const ProcessMap::Run& run : processes_.runs()) {
      const TypedBuffer blocks = packed_run(packed_, offsets_, run.first, run.last);
      if (is_sent(run.process_index)) {
        send_to_others(traffic, partners, blocks);
      } else if (const std::int32_t source = source_of(run.process_index);
                 source != none && source != processes_.own_index()) {
        traffic.receive(blocks, processes_.process_leader(source));
      }
    }
    return traffic.finish();
  }

  /// Starts after the caller, so that not all send to the same one at once.
  void send_to_others(Traffic& traffic,
                      const std::vector<std::int32_t>& partners,
                      const TypedBuffer& blocks) {
    const std::size_t own = static_cast<std::size_t>(
        std::ranges::find(partners, processes_.own_index()) - partners.begin());
    for (std::size_t i = 1; i < partners.size(); ++i)
      traffic.send(blocks, processes_.process_leader(partners[(own + i) % partners.size()]));
  }

  Member member_;
  const ProcessMap& processes_;
  std::byte* packed_;
  const std::vector<std::size_t>& offsets_;
};

/// All blocks are packed contiguously once per process, and all members read them from there.
int all_gather_over_processes(const Member& member,
                              const TypedBuffer& own,
                              const BlockList& receive) {
  auto& [self, comm] = member;
  const ProcessMap& processes = *comm.shared->processes();
  CollectiveSlots& slots = comm.shared->slots();
  const std::int32_t process_leader = processes.own_leader();
  const std::vector<std::size_t> offsets = packed_offsets(receive, comm.size());
  std::unique_ptr<std::byte[]> space;
  if (comm.rank == process_leader) {
    space = std::make_unique_for_overwrite<std::byte[]>(offsets.back() + 1);
    slots.publish(comm, space.get());
  }
  slots.local_barrier(self, comm);
  std::byte* packed = const_cast<std::byte*>(&slots.published_by<std::byte>(process_leader));
  int error = move(own, packed_run(packed, offsets, comm.rank, comm.rank + 1));
  slots.local_barrier(self, comm);
  if (comm.rank == process_leader)
    record_error(error, PackedExchange(member, packed, offsets).run());
  slots.local_barrier(self, comm);
  for (std::int32_t rank = 0; rank < comm.size(); ++rank)
    record_error(error, move(packed_run(packed, offsets, rank, rank + 1), receive.of(rank)));
  slots.local_barrier(self, comm);
  return error;
}

}  // namespace

int gather(const Member& member,
           const TypedBuffer* send,
           const BlockList& receive,
           std::int32_t root) {
  auto& [self, comm] = member;
  if (comm.inter != nullptr) return inter::gather(member, send, receive, root);
  CollectiveSlots& slots = comm.shared->slots();
  if (comm.shared->processes() != nullptr)
    return gather_over_processes(member, send, receive, root);
  // The members of MPI_Gather have compared their bytes, those of MPI_Gatherv have not.
  const CollectiveArguments call = comm.call.arguments();
  if (call.kind == CollectiveKind::gather && call.bytes <= slots.limit(Limit::allgather_staged))
    return gather_staged(member, send, receive, root, call.bytes);
  const bool is_root = comm.rank == root;
  int error = MPI_SUCCESS;
  if (is_root && send != nullptr) error = move(*send, receive.of(root));
  slots.publish(comm, send);
  if (const int mismatch = slots.barrier(self, comm); mismatch != MPI_SUCCESS) return mismatch;
  if (is_root) record_error(error, collect(member, receive));
  slots.barrier(self, comm);
  return error;
}

int all_gather(const Member& member, const TypedBuffer* send, const BlockList& receive) {
  auto& [self, comm] = member;
  if (comm.inter != nullptr) return inter::all_gather(member, *send, receive);
  CollectiveSlots& slots = comm.shared->slots();
  const TypedBuffer own_block = receive.of(comm.rank);
  const TypedBuffer& own = send == nullptr ? own_block : *send;
  if (comm.shared->processes() != nullptr) return all_gather_over_processes(member, own, receive);
  if (can_stage(slots, receive)) return all_gather_staged(member, own, receive);
  if (!receive.counts.is_null() && StagedRows::are_for(comm.size()))
    return all_gather_rows(member, send, receive);
  int error = send == nullptr ? MPI_SUCCESS : move(own, own_block);
  slots.publish(comm, &own);
  if (const int mismatch = slots.barrier(self, comm); mismatch != MPI_SUCCESS) return mismatch;
  record_error(error, collect(member, receive));
  slots.barrier(self, comm);
  return error;
}

}  // namespace sorrel::mpi
