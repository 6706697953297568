//! Transport - carries packets to the workers of the job's other processes.
//!
//! A job has P processes of W workers each. An *endpoint* is a worker of the job; a *packet* is
//! what one worker sends to a worker of another process: a kind, four words, a payload of bounded
//! size. Packets between the same two endpoints keep their order and are neither lost nor
//! duplicated. The layer above defines the words of a kind, and registers a handler for each kind
//! before the job starts.
//!
//! Calls are made on the sending worker's own thread; handlers run on the receiving worker, outside
//! any fiber. No call suspends. If a transport can read another process's memory, can_pull()
//! returns true: then a long message is one copy, made by its receiver.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/check.hpp"
#include "core/worker.hpp"

namespace sorrel::transport {

/// A worker of the job.
struct Endpoint {
  std::uint32_t process = 0;
  std::uint32_t worker = 0;

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

/// The header of a packet.
struct Packet {
  std::uint32_t kind = 0;
  std::array<std::uint32_t, 4> words{};
  std::uint32_t payload_bytes = 0;
};

inline constexpr std::uint32_t packet_kind_count_max = 31;

/// Runs on the receiving worker, outside any fiber: must not suspend. `owner` is the pointer
/// registered with the handler; `payload` is valid during the call only.
using PacketHandler = void (*)(void* owner,
                               core::Worker& receiver,
                               Endpoint from,
                               const Packet& packet,
                               const std::byte* payload);

struct OwnedHandler {
  PacketHandler handler = nullptr;
  void* owner = nullptr;
};

/// By kind.
using HandlerTable = std::array<OwnedHandler, packet_kind_count_max>;

/// The handler of a packet that has arrived.
inline const OwnedHandler& handler_of(const HandlerTable& handlers, const Packet& packet) {
  SORREL_ASSERT(packet.kind < packet_kind_count_max, "a packet of kind %u", packet.kind);
  SORREL_ASSERT(handlers[packet.kind].handler != nullptr, "no handler of kind %u", packet.kind);
  return handlers[packet.kind];
}

class Transport {
 public:
  virtual ~Transport() = default;

  [[nodiscard]] virtual std::uint32_t process_count() const = 0;
  [[nodiscard]] virtual std::uint32_t own_process() const = 0;

  /// The node of a process, named by its first process.
  [[nodiscard]] virtual std::uint32_t node_of(std::uint32_t /*process*/) const { return 0; }

  /// Registers the handler of a kind. Before the workers run.
  virtual void set_handler(std::uint32_t kind, PacketHandler handler, void* owner) = 0;

  /// On each worker's own thread, before any fiber runs: may set timers.
  virtual void start(core::Worker& /*worker*/) {}

  /// When the workers have ended, on the thread of the first one: delivers what was sent, and
  /// serves other processes that still need this one.
  virtual void finish() {}

  /// Largest payload of try_send() to that process, in bytes: at least 4096.
  [[nodiscard]] virtual std::uint32_t payload_bytes_max(std::uint32_t process) const = 0;

  /// Sends from the calling worker `from` to a worker of another process. Returns false if there is
  /// no room: nothing was sent; retry after `from` has polled.
  [[nodiscard]] virtual bool try_send(core::Worker& from,
                                      Endpoint to,
                                      const Packet& packet,
                                      const void* payload) = 0;

  /// Whether pull() works with that process.
  [[nodiscard]] virtual bool can_pull(std::uint32_t process) const = 0;

  /// Time, by the clock of `by`, at which data requested now may be pulled. 0: at once.
  [[nodiscard]] virtual std::int64_t pull_due_ns(core::Worker& /*by*/,
                                                 std::uint32_t /*process*/,
                                                 std::size_t /*bytes*/) {
    return 0;
  }

  /// Copies `bytes` from the address `source` of another process to `target` here. Returns false if
  /// that process is gone or the address is not mapped there.
  [[nodiscard]] virtual bool pull(std::uint32_t process,
                                  void* target,
                                  std::uintptr_t source,
                                  std::size_t bytes) = 0;

  /// As pull(), for data that is read late: written past the caches.
  [[nodiscard]] virtual bool pull_past_caches(std::uint32_t process,
                                              void* target,
                                              std::uintptr_t source,
                                              std::size_t bytes) {
    return pull(process, target, source, bytes);
  }
};

}  // namespace sorrel::transport
