//! NodeTransport - packets between simulated nodes of one process, delayed as a Wire computes.
//!
//! Each node has some of the process's workers, or several nodes share one. A packet is copied into
//! a *flight*, posted to the receiving worker as a RemoteCall, and waits there as a timer until it
//! is due. pull() copies data once, at the time at which the wire would have delivered it. No
//! packet is refused: the windows and requests of the layer above bound the flights. README.md has
//! the rest.
//!
//! Progress: no locks; a packet allocates only until as many flights exist as are in flight at
//! once.
#pragma once

#include <memory>
#include <vector>

#include "core/remote_call.hpp"
#include "core/scheduler.hpp"
#include "core/timer.hpp"
#include "transport/sim/wire.hpp"
#include "transport/transport.hpp"

namespace sorrel::transport {

class NodeTransport;

/// The simulated nodes of a process.
class SimulatedNodes {
 public:
  /// The nodes share the scheduler's first `worker_count` workers, which must be a multiple or a
  /// divisor of the number of nodes. The scheduler outlives this object; destroy it when the
  /// workers have ended.
  SimulatedNodes(core::Scheduler& scheduler,
                 const WireOptions& options,
                 std::uint32_t worker_count);
  ~SimulatedNodes();
  SimulatedNodes(const SimulatedNodes&) = delete;
  SimulatedNodes& operator=(const SimulatedNodes&) = delete;

  /// Whether `nodes` nodes can share `workers` workers.
  [[nodiscard]] static bool fit(std::uint32_t node_count, std::uint32_t worker_count) {
    return node_count % worker_count == 0 || worker_count % node_count == 0;
  }

  [[nodiscard]] static std::uint32_t workers_per_node(std::uint32_t node_count,
                                                      std::uint32_t worker_count) {
    return worker_count > node_count ? worker_count / node_count : 1;
  }

  [[nodiscard]] std::uint32_t count() const { return wire_.options().node_count; }

  [[nodiscard]] NodeTransport& node(std::uint32_t index) { return *nodes_[index]; }

  /// The first of a node's workers.
  [[nodiscard]] std::uint32_t first_worker(std::uint32_t node) const;

  [[nodiscard]] core::Worker& worker_of(Endpoint endpoint) const {
    SORREL_ASSERT(endpoint.process < count() &&
                  endpoint.worker < workers_per_node(count(), worker_count_));
    return scheduler_.worker(first_worker(endpoint.process) + endpoint.worker);
  }

  [[nodiscard]] Wire& wire() { return wire_; }

 private:
  friend class NodeTransport;

  /// A packet in flight. Belongs to its sender's worker, except between post and return.
  struct Flight : core::RemoteCall, core::Timer {
    SimulatedNodes* nodes = nullptr;
    core::Worker* sender = nullptr;
    Endpoint from;
    Endpoint to;
    Packet packet;
    std::unique_ptr<std::byte[]> payload;
    std::uint32_t payload_room = 0;
    Flight* next_idle = nullptr;
  };

  /// Flights of a worker. Its thread only.
  struct Fleet {
    std::vector<std::unique_ptr<Flight>> flights;
    Flight* idle = nullptr;
  };

  Flight& idle_flight(core::Worker& sender, std::uint32_t payload_bytes);
  void land(core::Worker& receiver, Flight& flight);
  void give_back(Flight& flight);

  core::Scheduler& scheduler_;
  const std::uint32_t worker_count_;
  Wire wire_;
  std::vector<std::unique_ptr<NodeTransport>> nodes_;
  std::vector<Fleet> fleets_;
};

/// The transport of one node.
class NodeTransport final : public Transport {
 public:
  NodeTransport(SimulatedNodes& nodes, std::uint32_t own_node)
      : nodes_(nodes), own_node_(own_node) {}

  [[nodiscard]] std::uint32_t process_count() const override { return nodes_.count(); }

  [[nodiscard]] std::uint32_t own_process() const override { return own_node_; }

  void set_handler(std::uint32_t kind, PacketHandler handler, void* owner) override;

  [[nodiscard]] std::uint32_t node_of(std::uint32_t process) const override { return process; }

  [[nodiscard]] std::uint32_t payload_bytes_max(std::uint32_t /*process*/) const override {
    return 16384;
  }

  [[nodiscard]] bool try_send(core::Worker& from,
                              Endpoint to,
                              const Packet& packet,
                              const void* payload) override;

  [[nodiscard]] bool can_pull(std::uint32_t /*process*/) const override { return true; }

  [[nodiscard]] std::int64_t pull_due_ns(core::Worker& by,
                                         std::uint32_t process,
                                         std::size_t bytes) override;

  [[nodiscard]] bool pull(std::uint32_t process,
                          void* target,
                          std::uintptr_t source,
                          std::size_t bytes) override;

  [[nodiscard]] bool pull_past_caches(std::uint32_t process,
                                      void* target,
                                      std::uintptr_t source,
                                      std::size_t bytes) override;

 private:
  friend class SimulatedNodes;

  SimulatedNodes& nodes_;
  const std::uint32_t own_node_;
  HandlerTable handlers_{};
};

}  // namespace sorrel::transport
