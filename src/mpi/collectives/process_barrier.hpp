//! ProcessBarrier - a barrier of a communicator that spans processes, above the barrier nodes of
//! one process: arrivals of other processes, their values for a small reduction, and the release.
//!
//! Lives on the worker of the process's root node (ProcessMap::barrier_endpoint), and is found
//! there by the communicator's context: a packet may come before this process has created the
//! communicator. The tree is a BarrierTree. That worker only; nothing suspends. README.md, "Over
//! processes", has the protocol and the proof that barriers do not mix.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "mpi/base/collective_call.hpp"
#include "mpi/comm/process_map.hpp"
#include "mpi/net/packet_words.hpp"
#include "mpi/net/send_queue.hpp"

namespace sorrel::mpi {

class ProcessBarriers;

/// The small operands that a process contributes: the combined one of a block of ranks that it runs
/// entirely, else one per member. `values_of(i)` are the ranks under whose numbers they are stored.
class ContributionMap {
 public:
  ContributionMap(const ProcessMap& processes, std::int32_t block_rank_count);

  [[nodiscard]] const std::vector<std::int32_t>& values_of(std::int32_t process_index) const {
    return values_[static_cast<std::size_t>(process_index)];
  }

 private:
  std::vector<std::vector<std::int32_t>> values_;
};

/// Operations of the slots that the process barrier calls.
class BarrierSite {
 public:
  /// The operand that is stored under a rank's number.
  virtual std::byte* value(std::int32_t rank) = 0;

  /// All values have arrived: combines them and returns the result.
  virtual const std::byte* combine() = 0;

  /// All members have arrived. `result` is null without a reduction; `wanted`: of all processes
  /// (Safepoint::wanted()). Returns false if the members wait for a safepoint. Otherwise they are
  /// released: the site may be gone.
  virtual bool release_all(const std::byte* result, std::uint32_t wanted) = 0;

 protected:
  ~BarrierSite() = default;
};

class ProcessBarrier {
 public:
  ProcessBarrier(ProcessBarriers& owner, std::uint32_t context)
      : owner_(owner), context_(context) {}

  ProcessBarrier(const ProcessBarrier&) = delete;
  ProcessBarrier& operator=(const ProcessBarrier&) = delete;

  /// Before the first begin(): packets may have come already. The arguments outlive the last
  /// barrier.
  void attach(const ProcessMap& processes,
              const ContributionMap& contributions,
              BarrierSite& site,
              SendQueue& send_queue);

  /// All members of this process have arrived in the same call, with values of `value_bytes` each
  /// (0: none). Returns true if the members of all processes have arrived, and those of this
  /// process are released: the site may be gone. Ends the job if another process is in another
  /// call. `wanted`: Safepoint::wanted().
  bool begin(const MemberCall& call, std::uint32_t value_bytes, std::uint32_t wanted = 0);

  /// No member of this process will enter a barrier again: removed when its last packet has left.
  void abandon();

  void take_contribution(std::uint32_t process,
                         const transport::Packet& packet,
                         const std::byte* payload);
  void take_result(const transport::Packet& packet, const std::byte* payload);

 private:
  enum class State : std::uint8_t {
    idle,
    gathering,        ///< Children have not contributed.
    awaiting_peers,   ///< Children have contributed, further roots have not.
    awaiting_result,  ///< From the parent.
  };

  /// Packets from another process for one barrier.
  struct Incoming {
    std::vector<std::byte> values;
    std::size_t arrived_bytes = 0;
    bool is_complete = false;
    std::uint16_t digest = 0;
    std::uint32_t wanted = 0;
  };

  /// A process that contributes to this one. Two barriers, because it may be one ahead.
  struct Source {
    std::uint32_t process;
    /// A child, whose values are part of this process's contribution; else a peer.
    bool is_child = false;
    /// The ranks whose values it brings, in order; empty until attach().
    std::vector<std::int32_t> ranks;
    std::array<Incoming, 2> incoming;
  };

  /// Unsent packets to one process.
  struct Dispatch : PendingSend {
    ProcessBarrier* barrier = nullptr;
    PacketKind kind{};
    /// The number of the barrier in the low half, the call's digest in the high one.
    std::uint32_t sequence_and_digest = 0;
    std::uint32_t wanted = 0;
    const std::vector<std::byte>* data = nullptr;
    std::size_t sent_bytes = 0;
    bool is_queued = false;
  };

  void change_state([[maybe_unused]] State from, State to) {
    SORREL_ASSERT(state_ == from, "in state %d, not %d, before %d", static_cast<int>(state_),
                  static_cast<int>(from), static_cast<int>(to));
    state_ = to;
  }

  Source& source_of(std::uint32_t process);
  [[nodiscard]] bool have_contributed(bool is_child) const;
  void contribute();
  void send(Endpoint to, PacketKind kind, const std::vector<std::byte>& data);
  static bool send_some(PendingSend& pending_send, SendQueue& send_queue, Endpoint to);
  Dispatch& idle_dispatch();
  bool advance();
  void take_values(bool is_child);
  void check_call(const Source& source) const;
  bool finish(const std::byte* result);
  void remove_if_abandoned();

  ProcessBarriers& owner_;
  const std::uint32_t context_;

  // Set by attach().
  BarrierSite* site_ = nullptr;
  SendQueue* send_queue_ = nullptr;
  bool awaits_result_ = false;
  /// The ranks whose values this process's contribution carries.
  std::vector<std::int32_t> own_ranks_;
  std::vector<Endpoint> contribution_targets_;
  std::vector<Endpoint> result_targets_;

  State state_ = State::idle;
  /// Number of the current or next barrier.
  std::uint32_t sequence_ = 0;
  std::uint32_t value_bytes_ = 0;
  /// Wanted by this process and by those whose contributions have been taken, or of all.
  std::uint32_t wanted_ = 0;
  /// The call of a member of this process.
  MemberCall call_;
  std::vector<Source> sources_;
  std::array<std::vector<std::byte>, 2> contribution_;
  std::vector<std::byte> result_;
  bool has_result_ = false;
  std::vector<std::unique_ptr<Dispatch>> dispatches_;
  std::uint32_t dispatch_count_ = 0;
  bool is_abandoned_ = false;
};

/// The process barriers of the communicators whose root node is on this worker.
class ProcessBarriers {
 public:
  ProcessBarrier& of(std::uint32_t context);
  void remove(std::uint32_t context);

 private:
  std::unordered_map<std::uint32_t, std::unique_ptr<ProcessBarrier>> barriers_;
};

void set_barrier_handlers(transport::Transport& transport, World& world);

}  // namespace sorrel::mpi
