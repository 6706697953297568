#include <memory>
#include <vector>

#include "mpi/collectives/collectives.hpp"
#include "mpi/collectives/inter.hpp"
#include "mpi/collectives/move.hpp"
#include "mpi/collectives/slots.hpp"
#include "mpi/collectives/traffic.hpp"
#include "mpi/comm/process_map.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

namespace {

/// A packed copy of the blocks of an in-place call: members still read them while this one receives
/// over them.
class PackedBlocks {
 public:
  PackedBlocks(const BlockList& blocks, std::int32_t rank_count) {
    const auto count = static_cast<std::size_t>(rank_count);
    std::size_t total = 0;
    for (std::int32_t i = 0; i < rank_count; ++i)
      total += blocks.of(i).bytes();
    bytes_ = std::make_unique_for_overwrite<std::byte[]>(total + 1);
    packed_.reserve(count);
    std::byte* place = bytes_.get();
    for (std::int32_t i = 0; i < rank_count; ++i) {
      const TypedBuffer block = blocks.of(i);
      packed_.push_back(
          {.buffer = place, .count = block.bytes(), .type = datatype_from_handle(MPI_BYTE)});
      copy(block.buffer, block.count, *block.type, place, block.bytes(), *packed_.back().type);
      place += block.bytes();
    }
  }

  [[nodiscard]] const TypedBuffer& of(std::int32_t rank) const {
    return packed_[static_cast<std::size_t>(rank)];
  }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  std::vector<TypedBuffer> packed_;
};

/// What a member publishes: one of the two.
struct Offer {
  const BlockList* blocks;
  const PackedBlocks* packed;

  [[nodiscard]] TypedBuffer of(std::int32_t rank) const {
    return packed == nullptr ? blocks->of(rank) : packed->of(rank);
  }
};

int all_to_all_over_processes(const Member& member, const Offer& offer, const BlockList& receive) {
  auto& [self, comm] = member;
  const ProcessMap& processes = *comm.shared->processes();
  CollectiveSlots& slots = comm.shared->slots();
  const std::int32_t size = comm.size();
  Traffic traffic(member);
  for (std::int32_t i = 1; i < size; ++i) {
    const std::int32_t from = (comm.rank - i + size) % size;
    if (processes.index_of(from) != processes.own_index()) traffic.receive(receive.of(from), from);
  }
  for (std::int32_t i = 1; i < size; ++i) {
    const std::int32_t to = (comm.rank + i) % size;
    if (processes.index_of(to) != processes.own_index()) traffic.send(offer.of(to), to);
  }
  slots.publish(comm, &offer);
  slots.local_barrier(self, comm);
  int error = MPI_SUCCESS;
  for (const std::int32_t from : processes.own_members())
    record_error(error, move(slots.published_by<Offer>(from).of(comm.rank), receive.of(from)));
  slots.local_barrier(self, comm);
  record_error(error, traffic.finish());
  return error;
}

}  // namespace

int all_to_all(const Member& member, const BlockList* send, const BlockList& receive) {
  auto& [self, comm] = member;
  if (comm.inter != nullptr) return inter::all_to_all(member, *send, receive);
  CollectiveSlots& slots = comm.shared->slots();
  std::unique_ptr<PackedBlocks> packed;
  if (send == nullptr) packed = std::make_unique<PackedBlocks>(receive, comm.size());
  const Offer offer{.blocks = send, .packed = packed.get()};
  if (comm.shared->processes() != nullptr) return all_to_all_over_processes(member, offer, receive);
  slots.publish(comm, &offer);
  if (const int error = slots.barrier(self, comm); error != MPI_SUCCESS) return error;
  int error = MPI_SUCCESS;
  // Each member starts with itself, so that not all read from the same one at once.
  for (std::int32_t i = 0; i < comm.size(); ++i) {
    const std::int32_t from = (comm.rank + i) % comm.size();
    const Offer& theirs = from == comm.rank ? offer : slots.published_by<Offer>(from);
    record_error(error, move(theirs.of(comm.rank), receive.of(from)));
  }
  slots.barrier(self, comm);
  return error;
}

}  // namespace sorrel::mpi
