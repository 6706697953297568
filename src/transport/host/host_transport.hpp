//! HostTransport - packets between processes that a host MPI's launcher has started, carried by
//! that MPI.
//!
//! One worker at a time is inside the host MPI: the holder of the *turn*, a try-lock. A sender that
//! gets the turn sends at once; otherwise it leaves the packet in its *outbox*, for the holder. A
//! worker polls for arrivals by a timer of its own: continuously while it has just become idle,
//! later at growing intervals up to poll_interval_ns_max; of several idle workers one is on duty. A
//! packet for another worker goes into that worker's *inbox*. If the host admits only its first
//! thread, worker 0 is always the holder. README.md has the protocol and the bounds.
//!
//! Between processes of one node that share memory, packets are records of that memory
//! (transport/shm); this class only counts them, so that termination detection covers both ways.
//! Without shared memory, processes of a node still read each other's memory where the system
//! allows it (pull()).
//!
//! Progress: try_send() wait-free, except the host's calls; a process with an idle worker sees a
//! packet after poll_interval_ns_max at most. Limit: process_count_max processes; HostLimits.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/cache_line.hpp"
#include "core/index_list.hpp"
#include "core/mailbox.hpp"
#include "core/remote_call.hpp"
#include "core/scheduler.hpp"
#include "core/timer.hpp"
#include "transport/host/host_link.hpp"
#include "transport/host/termination_detector.hpp"
#include "transport/shm/shm_transport.hpp"
#include "transport/transport.hpp"

namespace sorrel::transport {

/// Data of a process that all processes of the job know.
struct HostMember {
  std::uint64_t probe_address = 0;
  std::uint64_t probe_value = 0;
  std::int32_t pid = 0;
  /// First process on its node.
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
  /// Common ancestor of all processes of this node; 0 = unknown.
  std::int32_t common_ancestor = 0;
  /// All processes have declared that they need no other process.
  bool has_ended = false;
  /// Whether processes of a node may read each other's memory where the system allows it.
  bool may_pull = true;
  std::vector<HostMember> members;
  /// Where the files lie that were loaded before the host MPI: the program and its libraries.
  std::vector<std::uintptr_t> program_files;

  /// The processes of this process's node, ascending: the order of their numbers in shared memory.
  [[nodiscard]] std::vector<std::uint32_t> neighbours() const;

  /// The values of all processes, by process; all of them call it. Before there is a transport.
  template <class Value>
  [[nodiscard]] std::vector<Value> gather(const Value& own) const {
    std::vector<Value> all(process_count);
    api->share(host, &own, all.data(), sizeof own);
    return all;
  }
};

class HostTransport final : public Transport {
 public:
  static constexpr std::uint32_t process_count_max = 1024;
  /// Longest sleep of an idle process between two polls, in ns.
  static constexpr std::int64_t poll_interval_ns_max = 1'000'000;

  /// Before the scheduler's workers run; both outlive this object. If the scheduler's memory is
  /// shared by processes, these are the job's neighbours().
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
                              Endpoint to,
                              const Packet& packet,
                              const void* payload) override;

  [[nodiscard]] bool can_pull(std::uint32_t process) const override;

  [[nodiscard]] bool pull(std::uint32_t process,
                          void* target,
                          std::uintptr_t source,
                          std::size_t bytes) override;

  /// Detects deadlocks.
  [[nodiscard]] TerminationDetector& quiet() { return termination_; }

  /// On a worker's thread: the other processes end with this status, which is not 0; no other
  /// packets are sent. Returns false if one of them has not confirmed in time, or this thread may
  /// not send. Takes up to two seconds.
  [[nodiscard]] bool end_others(int status);

  /// Gives `use` the host MPI for a moment: no other worker is inside. False: one is, or this one
  /// may not be.
  template <class Use>
  [[nodiscard]] bool try_use(core::Worker& worker, const Use& use) {
    if (!try_take_turn(worker)) return false;
    use(*job_.api, job_.host);
    release_turn(worker);
    return true;
  }

  /// While all workers of this process are stopped: packets sent, less those taken. 0 in the sum
  /// over all processes, if their workers are stopped, too: none is in flight.
  [[nodiscard]] std::uint64_t excess_of_sent() const { return termination_.excess_of_sent(); }

  void start(core::Worker& worker) override;
  void finish() override;

 private:
  enum class Way : std::uint8_t { untried, open, closed };
  using Outbox = core::BasicMailbox<core::StdSync, 64, 64u << 10>;

  struct Look : core::Timer {
    HostTransport* transport = nullptr;
  };

  /// Tells a worker of this process that its inbox has a packet.
  struct Call : core::RemoteCall {
    HostTransport* transport = nullptr;
    // Set by the posting worker, cleared by the called worker before it polls.
    std::atomic<bool> is_in_flight{false};
  };

  /// State of the transport for a worker of this process.
  struct Station {
    // Own worker.
    alignas(cache_line_bytes) Look look;
    std::uint32_t posted_count = 0;
    std::uint32_t inbox_head = 0;
    /// A call to worker 0, if only that may be inside.
    Call call_for_help;
    // Written by its worker, read by the holder of the turn; the mailbox has its own order.
    Outbox outbox;
    // Written by the holder of the turn, read by its worker.
    alignas(cache_line_bytes) std::atomic<std::uint32_t> taken_count{0};
    std::atomic<std::uint32_t> inbox_tail{0};
    std::vector<std::uint32_t> inbox;
    Call call;
  };

  /// Whether a process shares memory with this one.
  [[nodiscard]] bool is_near(std::uint32_t process) const { return near_number_[process] >= 0; }

  [[nodiscard]] std::uint32_t near_number(std::uint32_t process) const {
    SORREL_ASSERT(is_near(process));
    return static_cast<std::uint32_t>(near_number_[process]);
  }

  void join_neighbours();
  static void take_from_near(void* owner,
                             core::Worker& receiver,
                             Endpoint from,
                             const Packet& packet,
                             const std::byte* payload);

  [[nodiscard]] bool may_enter(const core::Worker& worker) const {
    return job_.any_thread || worker.index() == 0;
  }

  [[nodiscard]] bool has_turn(const core::Worker& worker) const {
    // Relaxed: only this worker writes its number.
    return turn_.load(std::memory_order_relaxed) == worker.index() + 1;
  }

  bool try_take_turn(const core::Worker& worker);
  void release_turn(core::Worker& worker);
  [[nodiscard]] bool send_now(std::uint32_t from_worker,
                              Endpoint to,
                              const Packet& packet,
                              const void* payload);
  [[nodiscard]] bool leave_in_outbox(core::Worker& from,
                                     Endpoint to,
                                     const Packet& packet,
                                     const void* payload);
  bool look(core::Worker& worker);
  enum class Running { at_once, later };
  bool serve(core::Worker& worker, Running running);
  void deliver(core::Worker& worker, const HostLink::Arrival& arrival, Running running);
  void empty_inbox(core::Worker& worker);
  void run_handler(core::Worker& worker, const HostLink::Arrival& arrival);
  void empty_outboxes();
  void take_returned();
  void call(core::Worker& from, std::uint32_t worker, Call& notice);
  [[nodiscard]] std::int64_t delay_after(const core::Worker& worker, std::int64_t now_ns);
  [[nodiscard]] Way try_way(std::uint32_t process) const;
  [[nodiscard]] bool try_send_or_leave(core::Worker& from,
                                       Endpoint to,
                                       const Packet& packet,
                                       const void* payload);
  [[nodiscard]] bool finish_outgoing();
  void drop_arrivals();
  void drop(std::uint32_t slot);

  // Constant while the workers run.
  core::Scheduler& scheduler_;
  HostJob& job_;
  HandlerTable handlers_{};
  /// One worker: the turn is not shared.
  const bool is_alone_;
  const std::int64_t hot_ns_;
  /// Where processes of this node share memory: those processes, ascending, with this one.
  const std::vector<std::uint32_t> neighbours_;
  /// The transport to them.
  std::unique_ptr<ShmTransport> near_;
  /// By process: its number among the neighbours, or -1.
  std::vector<std::int32_t> near_number_;
  const int misses_per_poll_;
  std::vector<std::unique_ptr<Station>> stations_;

  // For the holder of the turn.
  alignas(cache_line_bytes) HostLink link_;
  TerminationDetector termination_;

  // Any worker.
  /// 1 + the worker that holds the turn, or 0.
  alignas(cache_line_bytes) std::atomic<std::uint32_t> turn_{0};
  /// Packets in outboxes.
  std::atomic<std::uint32_t> waiting_count_{0};
  /// Receive slots whose packets have been handled.
  core::IndexList returned_;
  std::vector<core::IndexList::Link> returned_links_;
  /// 1 + the worker that polls while all are idle, or 0.
  alignas(cache_line_bytes) std::atomic<std::uint32_t> on_duty_{0};
  std::atomic<std::int64_t> last_poll_ns_{0};
  std::atomic<std::int64_t> last_event_ns_{0};
  std::atomic<bool> has_news_{false};
  /// Nothing has arrived for so long that polls are followed by sleep.
  std::atomic<bool> is_cold_{false};
  mutable std::unique_ptr<std::atomic<Way>[]> ways_;
};

}  // namespace sorrel::transport
