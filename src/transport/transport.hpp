//! Transport - how packets reach the workers of the job's other processes.
//!
//! A job has P processes of W workers each. A *place* is a worker of the job; a *packet* is what
//! one worker sends to one of another process: a kind, four words, a payload of bounded size.
//! Packets between the same two places keep their order and are neither lost nor doubled. What the
//! words of a kind mean is the business of the layer above, which registers a handler for each kind
//! before the job starts.
//!
//! Calls are made on the sending worker's own thread; handlers run on the receiving worker, outside
//! of any fiber. Nothing here suspends. A transport that can read another process's memory says so
//! by can_pull(): then a long message is one copy, made by its receiver.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/worker.hpp"

namespace sorrel::transport {

/// A worker of the job.
struct Place {
  std::uint32_t process = 0;
  std::uint32_t worker = 0;

  friend bool operator==(const Place&, const Place&) = default;
};

/// What a packet carries in front of its payload.
struct Packet {
  std::uint32_t kind = 0;
  std::array<std::uint32_t, 4> words{};
  std::uint32_t payload_bytes = 0;
};

inline constexpr std::uint32_t packet_kind_count_max = 31;

/// Runs on the receiving worker, outside of any fiber: must not suspend. `owner` is what was set
/// with the handler; `payload` is valid during the call only.
using PacketHandler = void (*)(void* owner,
                               core::Worker& receiver,
                               Place from,
                               const Packet& packet,
                               const std::byte* payload);

struct OwnedHandler {
  PacketHandler handler = nullptr;
  void* owner = nullptr;
};

/// By kind.
using HandlerTable = std::array<OwnedHandler, packet_kind_count_max>;

class Transport {
 public:
  virtual ~Transport() = default;

  [[nodiscard]] virtual std::uint32_t process_count() const = 0;
  [[nodiscard]] virtual std::uint32_t own_process() const = 0;

  /// The node that a process is on, by the first process there.
  [[nodiscard]] virtual std::uint32_t node_of(std::uint32_t /*process*/) const { return 0; }

  /// Before the workers run. A kind has one handler.
  virtual void set_handler(std::uint32_t kind, PacketHandler handler, void* owner) = 0;

  /// On each worker's own thread, before any fiber runs: it may set timers.
  virtual void start(core::Worker& /*worker*/) {}

  /// When the workers have ended, on the first one's thread: what was sent must leave, and others
  /// may need this process to finish what they do.
  virtual void finish() {}

  /// The largest payload that try_send() takes to that process: 4096 bytes at least.
  [[nodiscard]] virtual std::uint32_t payload_bytes_max(std::uint32_t process) const = 0;

  /// From the calling worker `from` to a worker of another process. False when the way is full:
  /// nothing was sent, and it is worth trying again after `from` has polled.
  [[nodiscard]] virtual bool try_send(core::Worker& from,
                                      Place to,
                                      const Packet& packet,
                                      const void* payload) = 0;

  /// Whether pull() works with that process.
  [[nodiscard]] virtual bool can_pull(std::uint32_t process) const = 0;

  /// When data that is asked for now could be here, by the clock of `by`: pull() must not be called
  /// before. 0: at once.
  [[nodiscard]] virtual std::int64_t pull_due_ns(core::Worker& /*by*/,
                                                 std::uint32_t /*process*/,
                                                 std::size_t /*bytes*/) {
    return 0;
  }

  /// Copies `bytes` from the address `source` of another process to `target` here. False when that
  /// process is gone or the address is none of its.
  [[nodiscard]] virtual bool pull(std::uint32_t process,
                                  void* target,
                                  std::uintptr_t source,
                                  std::size_t bytes) = 0;

  /// The same for data that is read late, which need not take others' place in the caches.
  [[nodiscard]] virtual bool pull_past_caches(std::uint32_t process,
                                              void* target,
                                              std::uintptr_t source,
                                              std::size_t bytes) {
    return pull(process, target, source, bytes);
  }
};

}  // namespace sorrel::transport
