//! NodeTransport - packets between pretend nodes of one process, delayed as a Wire says.
//!
//! Each node has some of the process's workers, or several nodes share one. A packet is copied into
//! a *flight*, handed to the receiving worker as a notice, and waits there with that worker's
//! timers until it is due. Data is read by pull(), one copy, when the wire would have brought it.
//! Nothing is refused: what bounds the flights are the windows and requests of the layer above.
//! README.md has the rest.
//!
//! Progress: no locks; a packet allocates only until as many flights exist as are under way at
//! once.
#pragma once

#include <memory>
#include <vector>

#include "core/notice.hpp"
#include "core/scheduler.hpp"
#include "core/timer.hpp"
#include "transport/sim/wire.hpp"
#include "transport/transport.hpp"

namespace sorrel::transport {

class NodeTransport;

/// The pretend nodes of a process.
class PretendNodes {
 public:
  /// The nodes share the scheduler's first `worker_count` workers, which must be a multiple or a
  /// divisor of the number of nodes. Outlived by the scheduler; destroyed when its workers have
  /// ended.
  PretendNodes(core::Scheduler& scheduler, const WireOptions& options, std::uint32_t worker_count);
  ~PretendNodes();
  PretendNodes(const PretendNodes&) = delete;
  PretendNodes& operator=(const PretendNodes&) = delete;

  /// Whether so many nodes can share so many workers.
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

  [[nodiscard]] core::Worker& worker_of(Place place) const {
    return scheduler_.worker(first_worker(place.process) + place.worker);
  }

  [[nodiscard]] Wire& wire() { return wire_; }

 private:
  friend class NodeTransport;

  /// A packet on its way. Its sender's worker's, but for the time between post and return.
  struct Flight : core::Notice, core::Timer {
    PretendNodes* nodes = nullptr;
    core::Worker* sender = nullptr;
    Place from;
    Place to;
    Packet packet;
    std::unique_ptr<std::byte[]> payload;
    std::uint32_t payload_room = 0;
    Flight* next_idle = nullptr;
  };

  /// What a worker has sent or may send with. Its thread only.
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

/// What one node sees of the others.
class NodeTransport final : public Transport {
 public:
  NodeTransport(PretendNodes& nodes, std::uint32_t own_node) : nodes_(nodes), own_node_(own_node) {}

  [[nodiscard]] std::uint32_t process_count() const override { return nodes_.count(); }

  [[nodiscard]] std::uint32_t own_process() const override { return own_node_; }

  void set_handler(std::uint32_t kind, PacketHandler handler, void* owner) override;

  [[nodiscard]] std::uint32_t node_of(std::uint32_t process) const override { return process; }

  [[nodiscard]] std::uint32_t payload_bytes_max(std::uint32_t /*process*/) const override {
    return 16384;
  }

  [[nodiscard]] bool try_send(core::Worker& from,
                              Place to,
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
  friend class PretendNodes;

  PretendNodes& nodes_;
  const std::uint32_t own_node_;
  HandlerTable handlers_{};
};

}  // namespace sorrel::transport
