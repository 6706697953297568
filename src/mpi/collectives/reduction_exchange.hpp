//! ReductionExchange - long and user-defined reductions of members in several processes: each
//! process gets the totals of its *shards* of the elements from all other processes.
//!
//! A total is that of a node of the communicator's RankTree, so its bits do not depend on the
//! processes: each sends those of the nodes which its members make up. On a node of the machine the
//! processes combine theirs first: each acts for the processes of other nodes at its position
//! (ProcessMap::deputy()), and one message for each shard leaves the node. In each process one
//! member computes a shard, so that many members work at the same time. All receives of a round are
//! posted before its first send, and no message of a round waits for another but for the data in
//! it. Members call between two barriers of their process, with operands published. May suspend.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "mpi/collectives/traffic.hpp"
#include "mpi/collectives/tree_fold.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/comm/process_map.hpp"

namespace sorrel::mpi {

class ReductionExchange {
 public:
  struct Shard {
    /// The process that gets the total.
    std::int32_t process;
    /// Decides which member computes it.
    std::int32_t slot;
    ElementRange range;
  };

  /// A part of a shard's total, elements from 0 on; valid until the function returns.
  using Done = std::function<void(const Shard& shard, ElementRange range, const void* total)>;

  ReductionExchange(const Member& member,
                    const ReductionArguments& arguments,
                    std::int32_t slot_count,
                    std::size_t shard_count);

  /// The member that computes the shards of a slot in a process.
  [[nodiscard]] std::int32_t computer(std::int32_t process_index, std::int32_t slot) const;

  [[nodiscard]] bool is_computer(std::int32_t slot) const {
    return computer(processes_.own_index(), slot) == member_.comm.rank;
  }

  /// All shards of the vector, the same in every process: the caller computes its part in them, and
  /// calls done() for those of its process.
  void reduce(std::span<const Shard> shards, const Done& done);

  /// Every process gets the total of all elements, which are few. By the computer of slot 0.
  void reduce_everywhere(const Done& done);

  /// Calls body(range) for each of done()'s parts of a shard.
  template <class Body>
  void for_each_part(ElementRange range, Body&& body) const {
    for (std::size_t done = 0; done < range.count; done += part_)
      body(ElementRange{.first = range.first + done, .count = std::min(part_, range.count - done)});
  }

  /// Calls body(range) for each message in which elements go to or come from a process. To other
  /// nodes they are short ones, which arrive while the receiver computes: a long one would wait for
  /// the receiver's answer first.
  template <class Body>
  void for_each_message(std::int32_t process, ElementRange range, Body&& body) const {
    const std::size_t most = message_element_count(process);
    for (std::size_t done = 0; done < range.count; done += most)
      body(ElementRange{.first = range.first + done, .count = std::min(most, range.count - done)});
  }

  /// Elements of a buffer of the arguments' type.
  [[nodiscard]] TypedBuffer elements(const void* buffer,
                                     std::size_t first,
                                     std::size_t count) const;

 private:
  struct Piece;
  class Round;

  [[nodiscard]] std::size_t message_element_count(std::int32_t process) const;

  /// The pieces by the process to which they go, from the one after this one on, so that not all
  /// send to the same one at once. Those that go to one process stay in order.
  template <class Destination>
  [[nodiscard]] std::vector<const Piece*> by_destination(const std::vector<Piece>& pieces,
                                                         Destination&& destination) const;

  void reduce_pieces(std::vector<Piece>& pieces, const Done& done);

  Member member_;
  const ReductionArguments& arguments_;
  const ProcessMap& processes_;
  std::int32_t slot_count_;
  /// Elements of a shard that are reduced in one round.
  std::size_t part_ = 1;
  TreeFold fold_;
  /// The operands of the members here.
  std::vector<PartialTotal> own_;
};

}  // namespace sorrel::mpi
