#include <array>
#include <cstring>
#include <limits>
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

/// The blocks of a member side by side in its row, in the order of their receivers. Where they may
/// differ in length, a list of the places where they begin, and of the end, is in front of them.
class BlocksInRows {
 public:
  BlocksInRows(const StagedRows& rows, std::int32_t rank_count, bool are_uniform)
      : rows_(rows), rank_count_(rank_count), are_uniform_(are_uniform) {}

  /// The caller's. False: they are too long for a row.
  bool write(const BlockList& blocks, int& error) {
    return are_uniform_ ? write_uniform(blocks, error) : write_listed(blocks, error);
  }

  [[nodiscard]] TypedBuffer of(std::int32_t from, std::int32_t to) const {
    const StagedRows::Row& row = rows_.of(from);
    if (are_uniform_) {
      const std::size_t bytes = row.bytes / static_cast<std::size_t>(rank_count_);
      return rows_.part(from, bytes * static_cast<std::size_t>(to), bytes);
    }
    std::array<Place, 2> places;
    std::memcpy(places.data(), row.data.data() + sizeof(Place) * static_cast<std::size_t>(to),
                sizeof places);
    return rows_.part(from, places[0], static_cast<std::size_t>(places[1] - places[0]));
  }

 private:
  using Place = std::uint16_t;
  static_assert(StagedRows::row_bytes <= std::numeric_limits<Place>::max());

  bool write_uniform(const BlockList& blocks, int& error) {
    const TypedBuffer all{.buffer = blocks.buffer,
                          .count = blocks.count * static_cast<std::size_t>(rank_count_),
                          .type = blocks.type};
    if (all.bytes() > StagedRows::row_bytes) return false;
    rows_.begin_own(all.bytes());
    record_error(error, move(all, rows_.own_part(0, all.bytes())));
    return true;
  }

  bool write_listed(const BlockList& blocks, int& error) {
    const std::size_t list_bytes = sizeof(Place) * (static_cast<std::size_t>(rank_count_) + 1);
    std::size_t end = list_bytes;
    for (std::int32_t to = 0; to < rank_count_; ++to)
      end += blocks.of(to).bytes();
    if (end > StagedRows::row_bytes) return false;
    StagedRows::Row& row = rows_.begin_own(end);
    std::size_t place = list_bytes;
    for (std::int32_t to = 0; to < rank_count_; ++to) {
      const TypedBuffer block = blocks.of(to);
      set_place(row, to, place);
      record_error(error, move(block, rows_.own_part(place, block.bytes())));
      place += block.bytes();
    }
    set_place(row, rank_count_, place);
    return true;
  }

  static void set_place(StagedRows::Row& row, std::int32_t to, std::size_t place) {
    const auto value = static_cast<Place>(place);
    std::memcpy(row.data.data() + sizeof value * static_cast<std::size_t>(to), &value,
                sizeof value);
  }

  const StagedRows& rows_;
  std::int32_t rank_count_;
  bool are_uniform_;
};

/// Short blocks go through rows. `send` is null for blocks that are where others are received.
int all_to_all_rows(const Member& member, const BlockList* send, const BlockList& receive) {
  auto& [self, comm] = member;
  CollectiveSlots& slots = comm.shared->slots();
  StagedRows rows;
  if (const int mismatch = rows.open(member); mismatch != MPI_SUCCESS) return mismatch;
  BlocksInRows staged(rows, comm.size(), comm.call.kind() == CollectiveKind::alltoall);
  int error = MPI_SUCCESS;
  bool are_all_staged = staged.write(send == nullptr ? receive : *send, error);
  std::unique_ptr<PackedBlocks> packed;
  if (!are_all_staged && send == nullptr)
    packed = std::make_unique<PackedBlocks>(receive, comm.size());
  const Offer offer{.blocks = send, .packed = packed.get()};
  if (!are_all_staged) rows.begin_own(0, &offer);
  if (const int mismatch = slots.barrier(self, comm); mismatch != MPI_SUCCESS) return mismatch;
  for (std::int32_t i = 0; i < comm.size(); ++i) {
    const std::int32_t from = (comm.rank + i) % comm.size();
    const auto* elsewhere = static_cast<const Offer*>(rows.of(from).elsewhere);
    are_all_staged = are_all_staged && elsewhere == nullptr;
    record_error(error,
                 move(elsewhere == nullptr ? staged.of(from, comm.rank) : elsewhere->of(comm.rank),
                      receive.of(from)));
  }
  if (!are_all_staged) slots.barrier(self, comm);
  return error;
}

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
  if (comm.shared->processes() == nullptr && StagedRows::are_for(comm.size()))
    return all_to_all_rows(member, send, receive);
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
