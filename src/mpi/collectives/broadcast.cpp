#include <algorithm>
#include <deque>
#include <memory>

#include "mpi/collectives/collectives.hpp"
#include "mpi/collectives/inter.hpp"
#include "mpi/collectives/move.hpp"
#include "mpi/collectives/slots.hpp"
#include "mpi/collectives/traffic.hpp"
#include "mpi/comm/process_map.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

namespace {

/// Broadcasts along a binomial tree of `count` members. The caller is the `position`-th; rank_at(0)
/// has the data.
template <class RankAt>
int send_along_tree(const Member& member,
                    const TypedBuffer& buffer,
                    std::int32_t position,
                    std::int32_t count,
                    RankAt&& rank_at) {
  Traffic traffic(member);
  int error = MPI_SUCCESS;
  std::int32_t step = 1;
  while (step < count && (position & step) == 0)
    step <<= 1;
  if (position != 0) {
    traffic.receive(buffer, rank_at(position - step));
    error = traffic.finish();
  }
  for (step >>= 1; step > 0; step >>= 1) {
    if (position + step < count) traffic.send(buffer, rank_at(position + step));
  }
  record_error(error, traffic.finish());
  return error;
}

/// A long broadcast between nodes, in segments. The root sends each to one of the other nodes, in
/// turn, which forwards it to the remaining ones. So every line of the network carries the data
/// once, and all at the same time. The caller is the `position`-th of `count` members; rank_at(0)
/// has the data.
class Spread {
 public:
  Spread(const Member& member, const TypedBuffer& buffer, std::int32_t position, std::int32_t count)
      : member_(member),
        buffer_(buffer),
        bytes_(buffer.bytes()),
        // Short messages need no answer of the receiver; very long data has longer segments.
        segment_bytes_(std::max(segment_bytes_min, bytes_ / segment_count_max + 1)),
        segment_count_((bytes_ + segment_bytes_ - 1) / segment_bytes_),
        position_(position),
        forwarders_(static_cast<std::size_t>(count - 1)),
        data_(static_cast<std::byte*>(single_run(buffer.buffer, buffer.count, *buffer.type))) {
    if (data_ != nullptr) return;
    packed_ = std::make_unique_for_overwrite<std::byte[]>(bytes_);
    data_ = packed_.get();
  }

  /// Whether each of the nodes has a segment to forward. The same at every member.
  static bool fits(std::size_t bytes, std::int32_t count) {
    return count > 2 && bytes >= segment_bytes_min * static_cast<std::size_t>(count);
  }

  template <class RankAt>
  int run(RankAt&& rank_at) {
    const auto forwarder = [&](std::size_t index) {
      return rank_at(1 + static_cast<std::int32_t>(index % forwarders_));
    };
    return position_ == 0 ? send(forwarder) : receive(rank_at(0), forwarder);
  }

 private:
  static constexpr std::size_t segment_bytes_min = 16384;
  static constexpr std::size_t segment_count_max = 1024;

  template <class Forwarder>
  int send(Forwarder&& forwarder) {
    int error = MPI_SUCCESS;
    if (packed_ != nullptr) error = move(buffer_, bytes_at(0, bytes_));
    std::size_t total = bytes_;
    Traffic traffic(member_);
    for (std::size_t i = 0; i < forwarders_; ++i)
      traffic.send(number(total), forwarder(i));
    for (std::size_t i = 0; i < segment_count_; ++i)
      traffic.send(segment(i), forwarder(i));
    record_error(error, traffic.finish());
    return error;
  }

  template <class Forwarder>
  int receive(std::int32_t root, Forwarder&& forwarder) {
    // The root's number of bytes: with another one, what follows would be taken for other segments.
    std::size_t total = 0;
    receive_now(member_, number(total), root, tag_of(member_));
    if (total != bytes_) return MPI_ERR_TRUNCATE;
    const auto own = static_cast<std::size_t>(position_ - 1);
    std::deque<Traffic> forwarded;
    Traffic others(member_);
    for (std::size_t i = 0; i < segment_count_; ++i) {
      if (i % forwarders_ == own) {
        forwarded.emplace_back(member_).receive(segment(i), root);
      } else {
        others.receive(segment(i), forwarder(i));
      }
    }
    int error = MPI_SUCCESS;
    std::size_t index = own;
    for (Traffic& traffic : forwarded) {
      record_error(error, traffic.finish());
      for (std::size_t i = 1; i < forwarders_; ++i)
        others.send(segment(index), forwarder(own + i));
      index += forwarders_;
    }
    record_error(error, others.finish());
    if (packed_ != nullptr) record_error(error, move(bytes_at(0, bytes_), buffer_));
    return error;
  }

  [[nodiscard]] TypedBuffer bytes_at(std::size_t first, std::size_t count) const {
    return {.buffer = data_ + first, .count = count, .type = datatype_from_handle(MPI_BYTE)};
  }

  [[nodiscard]] TypedBuffer segment(std::size_t index) const {
    const std::size_t first = index * segment_bytes_;
    return bytes_at(first, std::min(segment_bytes_, bytes_ - first));
  }

  static TypedBuffer number(std::size_t& value) {
    return {.buffer = &value, .count = sizeof value, .type = datatype_from_handle(MPI_BYTE)};
  }

  Member member_;
  TypedBuffer buffer_;
  std::size_t bytes_;
  std::size_t segment_bytes_;
  std::size_t segment_count_;
  std::int32_t position_;
  std::size_t forwarders_;
  std::byte* data_;
  /// Packed data of a buffer with gaps.
  std::unique_ptr<std::byte[]> packed_;
};

/// Sends from the root to one member in each process: first to one process of each node, so that
/// the data is sent to a node once.
int send_to_processes(const Member& member, const TypedBuffer& buffer, std::int32_t root) {
  const ProcessMap& processes = *member.comm.shared->processes();
  const std::int32_t root_index = processes.index_of(root);
  const std::int32_t root_node = processes.node_of(root_index);
  const std::int32_t node_count = processes.node_count();
  const auto local_root_of = [&](std::int32_t index) {
    return index == root_index ? root : processes.process_leader(index);
  };
  // The first process of a node to receive the data.
  const auto first_of = [&](std::int32_t node) {
    return node == root_node ? root_index : processes.node_leader(node);
  };
  const std::int32_t own_node = processes.own_node();
  const auto& node_processes = processes.on_node(own_node);
  const auto node_process_count = static_cast<std::int32_t>(node_processes.size());
  const auto position_of = [&](std::int32_t index) {
    return static_cast<std::int32_t>(std::ranges::find(node_processes, index) -
                                     node_processes.begin());
  };
  const std::int32_t first = position_of(first_of(own_node));
  int error = MPI_SUCCESS;
  if (processes.own_index() == first_of(own_node)) {
    const std::int32_t position = (own_node - root_node + node_count) % node_count;
    const auto rank_at = [&](std::int32_t at) {
      return local_root_of(first_of((at + root_node) % node_count));
    };
    error = Spread::fits(buffer.bytes(), node_count)
                ? Spread(member, buffer, position, node_count).run(rank_at)
                : send_along_tree(member, buffer, position, node_count, rank_at);
  }
  const std::int32_t own = position_of(processes.own_index());
  record_error(error, send_along_tree(
                          member, buffer, (own - first + node_process_count) % node_process_count,
                          node_process_count, [&](std::int32_t at) {
                            const std::int32_t place = (at + first) % node_process_count;
                            return local_root_of(node_processes[static_cast<std::size_t>(place)]);
                          }));
  return error;
}

int broadcast_over_processes(const Member& member, const TypedBuffer& buffer, std::int32_t root) {
  auto& [self, comm] = member;
  const ProcessMap& processes = *comm.shared->processes();
  CollectiveSlots& slots = comm.shared->slots();
  const bool is_root_here = processes.index_of(root) == processes.own_index();
  const std::int32_t local_root = is_root_here ? root : processes.own_leader();
  int error = MPI_SUCCESS;
  if (comm.rank == local_root) error = send_to_processes(member, buffer, root);
  slots.publish(comm, &buffer);
  slots.local_barrier(self, comm);
  if (comm.rank != local_root) error = move(slots.published_by<TypedBuffer>(local_root), buffer);
  slots.local_barrier(self, comm);
  return error;
}

}  // namespace

int broadcast(const Member& member, const TypedBuffer& buffer, std::int32_t root) {
  auto& [self, comm] = member;
  if (comm.inter != nullptr) return inter::broadcast(member, buffer, root);
  CollectiveSlots& slots = comm.shared->slots();
  const bool is_root = comm.rank == root;
  int error = MPI_SUCCESS;
  if (comm.size() == 1) return error;
  if (comm.shared->processes() != nullptr) return broadcast_over_processes(member, buffer, root);
  // The standard requires the same number of bytes at every member, so all take the same branch.
  if (buffer.bytes() <= slots.limit(Limit::bcast_staged)) {
    // The staging buffer saves the second barrier.
    std::byte* place = nullptr;
    error = slots.staging(self, comm, buffer.bytes(), &place);
    if (error != MPI_SUCCESS) return error;
    const TypedBuffer staged{
        .buffer = place, .count = buffer.bytes(), .type = datatype_from_handle(MPI_BYTE)};
    if (is_root) error = move(buffer, staged);
    if (const int mismatch = slots.barrier(self, comm); mismatch != MPI_SUCCESS) return mismatch;
    if (!is_root) error = move(staged, buffer);
    return error;
  }
  slots.publish(comm, &buffer);
  error = slots.barrier(self, comm);
  if (error != MPI_SUCCESS) return error;
  if (!is_root) error = move(slots.published_by<TypedBuffer>(root), buffer);
  slots.barrier(self, comm);
  return error;
}

}  // namespace sorrel::mpi
