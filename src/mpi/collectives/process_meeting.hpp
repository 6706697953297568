//! ProcessMeeting - a meeting of a communicator that spans processes, above the parts of one
//! process: who has arrived elsewhere, what they bring to a small reduction, and the release.
//!
//! Lives on the worker of the process's root part (ProcessMap::barrier_endpoint), found there by
//! the communicator's context, because a packet may come before this process has made the
//! communicator. Who tells whom: MeetingTree. That worker only; nothing suspends. README.md, "Over
//! processes", has the protocol and why nothing is mixed up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "mpi/collectives/collective_call.hpp"
#include "mpi/outlet.hpp"
#include "mpi/packet_kind.hpp"
#include "mpi/process_map.hpp"

namespace sorrel::mpi {

class ProcessMeetings;

/// Which of a communicator's small operands a process contributes: of a block of ranks that it runs
/// entirely the combined one, else one per member. `values_of(i)` are the ranks under whose number
/// they stand.
class ContributionMap {
 public:
  ContributionMap(const ProcessMap& processes, std::int32_t block_rank_count);

  [[nodiscard]] const std::vector<std::int32_t>& values_of(std::int32_t process_index) const {
    return values_[static_cast<std::size_t>(process_index)];
  }

 private:
  std::vector<std::vector<std::int32_t>> values_;
};

/// What the meeting asks of the slots it belongs to.
class MeetingSite {
 public:
  /// The operand that stands under a rank's number.
  virtual std::byte* value(std::int32_t rank) = 0;

  /// All values are there: combines them and returns the result.
  virtual const std::byte* combine() = 0;

  /// Everybody has arrived. `result` is null without a reduction.
  virtual void release_all(const std::byte* result) = 0;

 protected:
  ~MeetingSite() = default;
};

class ProcessMeeting {
 public:
  ProcessMeeting(ProcessMeetings& home, std::uint32_t context) : home_(home), context_(context) {}

  ProcessMeeting(const ProcessMeeting&) = delete;
  ProcessMeeting& operator=(const ProcessMeeting&) = delete;

  /// Before the first begin(): packets may have come already. The arguments outlive the last
  /// meeting.
  void introduce(const ProcessMap& processes,
                 const ContributionMap& contributions,
                 MeetingSite& site,
                 Outlet& outlet);

  /// All members of this process have arrived in the same call, with values of `value_bytes` each
  /// (0: none). Returns true if the members of all processes have arrived, and the meeting is
  /// released. Ends the job if another process is in another call.
  bool begin(const MemberCall& call, std::uint32_t value_bytes);

  /// No member of this process will meet again: goes away when all it has to send has left.
  void abandon();

  void take_contribution(std::uint32_t process,
                         const transport::Packet& packet,
                         const std::byte* payload);
  void take_result(const transport::Packet& packet, const std::byte* payload);

 private:
  enum class State : std::uint8_t {
    idle,
    gathering,        ///< Children have not contributed.
    meeting_peers,    ///< They have; other tops have not.
    awaiting_result,  ///< From the parent.
  };

  /// What has come from another process for one meeting.
  struct Incoming {
    std::vector<std::byte> values;
    std::size_t arrived_bytes = 0;
    bool is_complete = false;
    std::uint16_t digest = 0;
  };

  /// A process that contributes to us. Two meetings, because it may be one ahead.
  struct Source {
    std::uint32_t process;
    /// A child, whose values are part of our contribution; else a peer.
    bool is_below = false;
    /// The ranks whose values it brings, in order; empty until introduced.
    std::vector<std::int32_t> ranks;
    std::array<Incoming, 2> incoming;
  };

  /// Packets on their way to one process.
  struct Dispatch : Outgoing {
    ProcessMeeting* meeting = nullptr;
    PacketKind kind{};
    /// The meeting's number in the low half, the call's digest in the high one.
    std::uint32_t sequence_and_digest = 0;
    const std::vector<std::byte>* data = nullptr;
    std::size_t sent_bytes = 0;
    bool is_under_way = false;
  };

  Source& source_of(std::uint32_t process);
  [[nodiscard]] bool have_contributed(bool is_below) const;
  void contribute();
  void send(Endpoint to, PacketKind kind, const std::vector<std::byte>& data);
  static bool send_some(Outgoing& outgoing, Outlet& outlet, Endpoint to);
  Dispatch& idle_dispatch();
  bool advance();
  void take_values(bool is_below);
  void check_call(const Source& source) const;
  void finish(const std::byte* result);
  void go_if_abandoned();

  ProcessMeetings& home_;
  const std::uint32_t context_;

  // Set by introduce().
  MeetingSite* site_ = nullptr;
  Outlet* outlet_ = nullptr;
  bool awaits_result_ = false;
  /// Whose values our contribution carries.
  std::vector<std::int32_t> own_ranks_;
  std::vector<Endpoint> contribution_targets_;
  std::vector<Endpoint> result_targets_;

  State state_ = State::idle;
  /// Of the meeting under way, or the next one.
  std::uint32_t sequence_ = 0;
  std::uint32_t value_bytes_ = 0;
  /// Of a member of this process.
  MemberCall call_;
  std::vector<Source> sources_;
  std::array<std::vector<std::byte>, 2> contribution_;
  std::vector<std::byte> result_;
  bool has_result_ = false;
  std::vector<std::unique_ptr<Dispatch>> dispatches_;
  std::uint32_t dispatch_count_ = 0;
  bool is_abandoned_ = false;
};

/// The meetings of the communicators whose root part is on this worker.
class ProcessMeetings {
 public:
  ProcessMeeting& of(std::uint32_t context);
  void remove(std::uint32_t context);

 private:
  std::unordered_map<std::uint32_t, std::unique_ptr<ProcessMeeting>> meetings_;
};

void set_meeting_handlers(transport::Transport& transport, World& world);

}  // namespace sorrel::mpi
