//! Traffic - the messages of one member in a collective whose members are in several processes.
//!
//! Nonblocking sends and receives under the library's own tags, waited for together. The member's
//! fiber only.
#pragma once

#include <vector>

#include "mpi/collectives/collectives.hpp"
#include "mpi/internal_tag.hpp"

namespace sorrel::mpi {

class Traffic {
 public:
  explicit Traffic(const Member& member) : member_(member) {}

  Traffic(const Traffic&) = delete;
  Traffic& operator=(const Traffic&) = delete;

  /// The buffers stay the caller's until finish(). Never suspends.
  void send(const TypedBuffer& from, std::int32_t destination);
  void receive(const TypedBuffer& into, std::int32_t source);

  /// Waits for all; the first error. May suspend. Must be called before the end.
  [[nodiscard]] int finish();

 private:
  Member member_;
  std::vector<MPI_Request> requests_;
};

/// The tag of the collective that a member is in.
[[nodiscard]] std::int32_t tag_of(const Member& member);

/// One message, waited for. May suspend.
void send_now(const Member& member,
              const TypedBuffer& from,
              std::int32_t destination,
              std::int32_t tag);
void receive_now(const Member& member,
                 const TypedBuffer& into,
                 std::int32_t source,
                 std::int32_t tag);

}  // namespace sorrel::mpi
