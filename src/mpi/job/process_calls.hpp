//! ProcessCalls - questions of ranks to other processes of the job, which a worker there answers:
//! for what is rare, and concerns no rank there. A question has a topic, which has a handler.
//!
//! A question and an answer are bytes of any length, in as many packets as they need. The handler
//! of a question runs on the first worker of the process that is asked, outside of any fiber. The
//! rank looks for the answer again and again, less and less often, and stops when that process has
//! ended, where processes share memory. In a job of one process nothing is asked.
//!
//! Any rank. One lock for the lists, which is not held while a handler runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/byte_cursor.hpp"
#include "base/byte_writer.hpp"
#include "mpi/comm/world.hpp"
#include "mpi/net/packet_words.hpp"

namespace sorrel::mpi {

enum class CallTopic : std::uint8_t { ports, spawned_ranks };

class ProcessCalls {
 public:
  /// Writes the answer. Must not suspend.
  using Handler = std::function<void(ByteCursor question, ByteWriter& answer)>;

  /// Sets the handlers of its packets. `world` outlives it.
  explicit ProcessCalls(World& world);
  ProcessCalls(const ProcessCalls&) = delete;
  ProcessCalls& operator=(const ProcessCalls&) = delete;

  /// Before workers run.
  void set_handler(CallTopic topic, Handler handler);

  /// The answer of another process; nothing if it has ended. May suspend.
  [[nodiscard]] std::optional<std::string> ask(std::uint32_t process,
                                               CallTopic topic,
                                               const std::string& question);

 private:
  /// A question or an answer whose packets have not all come.
  struct Arriving {
    std::string bytes;
    bool is_complete = false;
  };

  [[nodiscard]] bool has_ended(std::uint32_t process) const;
  /// `number`: of the question, among those of the process that asks.
  void send(core::Worker& from,
            Endpoint to,
            PacketKind kind,
            std::uint32_t number,
            const std::string& bytes);
  static void on_question(void* owner,
                          core::Worker& receiver,
                          Endpoint from,
                          const transport::Packet& packet,
                          const std::byte* payload);
  static void on_answer(void* owner,
                        core::Worker& receiver,
                        Endpoint from,
                        const transport::Packet& packet,
                        const std::byte* payload);

  World& world_;
  std::map<CallTopic, Handler> handlers_;
  std::mutex mutex_;
  std::uint32_t asked_count_ = 0;
  /// By the number of the question.
  std::map<std::uint32_t, Arriving> answers_;
  /// By the process that asks, and the number of its question.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> questions_;
};

}  // namespace sorrel::mpi
