//! HostTransport - packets between processes that a host MPI's launcher has started, carried by
//! that MPI.
//!
//! One worker at a time is inside the host MPI: whoever has the *turn*. A sender that gets it sends
//! at once; one that does not leaves the packet in its *outbox*, for whoever has it. A worker looks
//! for arrivals by a timer of its own: all the time while it has just been idle, less and less
//! often later, every look_ns_max at last; of several idle workers one is on duty. What it takes
//! for another worker goes into that one's *inbox*. Where the host wants only its first thread
//! inside, that is worker 0, and the others hand over. README.md has the protocol and the bounds.
//!
//! Between processes of one node that share memory nothing goes over the MPI: packets are records
//! of that memory (transport/shm), and all that this adds is to count them, so that "nobody is
//! left" holds for both ways. Without it, processes of a node still read each other's memory where
//! the system allows it (pull()).
//!
//! Progress: try_send() wait-free but for the host's calls; a packet is seen after look_ns_max at
//! most by a process with an idle worker. Limit: process_count_max processes; HostLimits.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/cache_line.hpp"
#include "core/index_list.hpp"
#include "core/mailbox.hpp"
#include "core/notice.hpp"
#include "core/scheduler.hpp"
#include "core/timer.hpp"
#include "transport/host/host_link.hpp"
#include "transport/host/host_quiet.hpp"
#include "transport/shm/shm_transport.hpp"
#include "transport/transport.hpp"

namespace sorrel::transport {

/// What the processes of a job have told each other.
struct HostMember {
  std::uint64_t probe_address = 0;
  std::uint64_t probe_value = 0;
  std::int32_t pid = 0;
  /// The first process on its node.
  std::int32_t node = 0;
};

/// A job under a host MPI that has started.
struct HostJob {
  const sorrel_host_api* api = nullptr;
  void* host = nullptr;
  std::uint32_t process = 0;
  std::uint32_t process_count = 1;
  bool any_thread = false;
  /// More workers on this node than cores.
  bool is_crowded = false;
  /// All processes of this node descend from it; 0 = nobody known.
  std::int32_t common_ancestor = 0;
  /// All have said that they need nobody any more.
  bool has_ended = false;
  /// Whether processes of a node may read each other's memory where the system allows it.
  bool may_pull = true;
  std::vector<HostMember> members;

  /// The processes of this one's node, ascending: as the memory that they share numbers them.
  [[nodiscard]] std::vector<std::uint32_t> neighbours() const;
};

class HostTransport final : public Transport {
 public:
  static constexpr std::uint32_t process_count_max = 1024;
  /// How long an idle process sleeps at most before it looks again.
  static constexpr std::int64_t look_ns_max = 1'000'000;

  /// Before the scheduler's workers run. Both outlive it. Where the scheduler has memory that
  /// processes share, those are the job's neighbours().
  HostTransport(core::Scheduler& scheduler, HostJob& job);
  HostTransport(core::Scheduler& scheduler, HostJob& job, const HostLimits& limits);
  ~HostTransport() override;

  [[nodiscard]] std::uint32_t process_count() const override { return job_.process_count; }

  [[nodiscard]] std::uint32_t own_process() const override { return job_.process; }

  [[nodiscard]] std::uint32_t node_of(std::uint32_t process) const override {
    return static_cast<std::uint32_t>(job_.members[process].node);
  }

  void set_handler(std::uint32_t kind, PacketHandler handler, void* owner) override;

  [[nodiscard]] std::uint32_t payload_bytes_max(std::uint32_t process) const override {
    return is_near(process) ? near_->payload_bytes_max(0) : link_.limits().payload_bytes_max;
  }

  [[nodiscard]] bool try_send(core::Worker& from,
                              Place to,
                              const Packet& packet,
                              const void* payload) override;

  [[nodiscard]] bool can_pull(std::uint32_t process) const override;

  [[nodiscard]] bool pull(std::uint32_t process,
                          void* target,
                          std::uintptr_t source,
                          std::size_t bytes) override;

  /// Knows when nobody is left.
  [[nodiscard]] HostQuiet& quiet() { return quiet_; }

  void start(core::Worker& worker) override;
  void finish() override;

 private:
  enum class Way : std::uint8_t { untried, open, closed };
  using Outbox = core::BasicMailbox<core::StdSync, 64, 64u << 10>;

  struct Look : core::Timer {
    HostTransport* transport = nullptr;
  };

  /// Tells a worker of this process that there is something for it.
  struct Call : core::Notice {
    HostTransport* transport = nullptr;
    // Set by who posts it, cleared by the worker called before it looks.
    std::atomic<bool> is_under_way{false};
  };

  /// What the transport keeps for a worker of this process.
  struct Station {
    // Own worker.
    alignas(cache_line_bytes) Look look;
    std::uint32_t posted_count = 0;
    std::uint32_t inbox_head = 0;
    /// To worker 0, where only that may be inside.
    Call call_for_help;
    // Own worker writes, whoever has the turn reads; the mailbox has its own order.
    Outbox outbox;
    // Whoever has the turn writes, own worker reads.
    alignas(cache_line_bytes) std::atomic<std::uint32_t> taken_count{0};
    std::atomic<std::uint32_t> inbox_tail{0};
    std::vector<std::uint32_t> inbox;
    Call call;
  };

  /// Whether it shares memory with this one.
  [[nodiscard]] bool is_near(std::uint32_t process) const { return near_number_[process] >= 0; }

  [[nodiscard]] std::uint32_t near_number(std::uint32_t process) const {
    return static_cast<std::uint32_t>(near_number_[process]);
  }

  void join_neighbours();
  static void take_from_near(void* owner,
                             core::Worker& receiver,
                             Place from,
                             const Packet& packet,
                             const std::byte* payload);

  [[nodiscard]] bool may_enter(const core::Worker& worker) const {
    return job_.any_thread || worker.index() == 0;
  }

  [[nodiscard]] bool has_turn(const core::Worker& worker) const {
    // Relaxed: only we write our own number.
    return turn_.load(std::memory_order_relaxed) == worker.index() + 1;
  }

  bool try_take_turn(const core::Worker& worker);
  void give_turn_up(core::Worker& worker);
  [[nodiscard]] bool send_now(std::uint32_t from_worker,
                              Place to,
                              const Packet& packet,
                              const void* payload);
  [[nodiscard]] bool leave_in_outbox(core::Worker& from,
                                     Place to,
                                     const Packet& packet,
                                     const void* payload);
  bool look(core::Worker& worker);
  enum class Running { at_once, later };
  bool serve(core::Worker& worker, Running running);
  void hand_over(core::Worker& worker, const HostLink::Arrival& arrival, Running running);
  void empty_inbox(core::Worker& worker);
  void run_handler(core::Worker& worker, const HostLink::Arrival& arrival);
  void empty_outboxes();
  void take_returned();
  void call(core::Worker& from, std::uint32_t worker, Call& notice);
  [[nodiscard]] std::int64_t delay_after(const core::Worker& worker, std::int64_t now_ns);
  [[nodiscard]] Way try_way(std::uint32_t process) const;
  [[nodiscard]] bool try_send_or_leave(core::Worker& from,
                                       Place to,
                                       const Packet& packet,
                                       const void* payload);
  [[nodiscard]] bool finish_outgoing();
  void drop_arrivals();
  void drop(std::uint32_t slot);

  // Constant while the workers run.
  core::Scheduler& scheduler_;
  HostJob& job_;
  HandlerTable handlers_{};
  /// One worker: nobody to share the turn with.
  const bool is_alone_;
  const std::int64_t hot_ns_;
  /// Where processes of this node share memory: they, ascending, this one among them.
  const std::vector<std::uint32_t> neighbours_;
  /// The way to them.
  std::unique_ptr<ShmTransport> near_;
  /// By process: its number among the neighbours, or -1.
  std::vector<std::int32_t> near_number_;
  const int misses_per_look_;
  std::vector<std::unique_ptr<Station>> stations_;

  // Whoever has the turn.
  alignas(cache_line_bytes) HostLink link_;
  HostQuiet quiet_;

  // Any worker.
  /// 1 + the worker that is inside, or 0.
  alignas(cache_line_bytes) std::atomic<std::uint32_t> turn_{0};
  /// Packets in outboxes.
  std::atomic<std::uint32_t> waiting_count_{0};
  /// Receive slots whose packets have been used.
  core::IndexList returned_;
  std::vector<core::IndexList::Link> returned_links_;
  /// 1 + the worker that looks while all are idle, or 0.
  alignas(cache_line_bytes) std::atomic<std::uint32_t> on_duty_{0};
  std::atomic<std::int64_t> last_look_ns_{0};
  std::atomic<std::int64_t> last_event_ns_{0};
  std::atomic<bool> has_news_{false};
  /// Nothing has come for so long that looks are followed by sleep.
  std::atomic<bool> is_cold_{false};
  mutable std::unique_ptr<std::atomic<Way>[]> ways_;
};

}  // namespace sorrel::transport
