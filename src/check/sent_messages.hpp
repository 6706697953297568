//! SentMessages - the messages that one rank has sent and that no receive has matched, with the
//! types of their data.
//!
//! Messages of one envelope match in the order in which they were sent (MPI 5.0, 3.5), so the
//! oldest one of an envelope is the one that has arrived. One worker.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "check/finding_log.hpp"
#include "check/type_signature.hpp"

namespace sorrel::check {

struct SentMessage {
  std::uint64_t number = 0;
  std::uint32_t context = 0;
  std::int32_t receiver = 0;  ///< in the job
  std::int32_t tag = 0;
  CallPlace place;
  TypeSignature signature;
  /// From a standard send, which may be buffered outside of a checked run.
  bool is_standard = false;
};

class SentMessages {
 public:
  /// Returns its number.
  std::uint64_t add(SentMessage message);

  /// Removes a message that was not sent after all, if it is still there.
  void remove(std::uint64_t number);

  /// Whether a standard send has not been received.
  [[nodiscard]] bool has_standard() const;

  /// Takes the oldest message of an envelope; nothing if the library has sent it for itself.
  std::optional<SentMessage> take(std::uint32_t context, std::int32_t receiver, std::int32_t tag);

 private:
  std::deque<SentMessage> messages_;
  std::uint64_t next_ = 1;
};

}  // namespace sorrel::check
