//! Traffic - the messages of one member in a collective over several processes.
//!
//! Nonblocking sends and receives under internal tags, completed together. The member's fiber only.
//! Also the messages of neighbourhood collectives, and between the groups of an intercommunicator.
#pragma once

#include <vector>

#include "base/check.hpp"
#include "mpi/base/internal_tag.hpp"
#include "mpi/collectives/collectives.hpp"

namespace sorrel::mpi {

struct Request;

class Traffic {
 public:
  /// Traffic under the tag of the member's current collective.
  explicit Traffic(const Member& member);

  /// Traffic under another tag; every receive must be filled.
  Traffic(const Member& member, std::int32_t tag) : member_(member), tag_(tag), is_exact_(true) {}

  ~Traffic() { SORREL_ASSERT(requests_.empty(), "finish() was not called"); }

  Traffic(const Traffic&) = delete;
  Traffic& operator=(const Traffic&) = delete;

  /// The buffers must stay valid until finish(). Never suspends.
  void send(const TypedBuffer& from, std::int32_t destination);
  void receive(const TypedBuffer& into, std::int32_t source);

  /// Waits for all; returns the first error. May suspend.
  [[nodiscard]] int finish();

 private:
  Member member_;
  std::int32_t tag_;
  bool is_exact_ = false;
  std::vector<MPI_Request> requests_;
};

/// Whether a complete receive got less data than it has room for.
[[nodiscard]] bool is_short(const Request& request);

/// The tag of a member's current collective.
[[nodiscard]] std::int32_t tag_of(const Member& member);

/// One blocking message. May suspend.
void send_now(const Member& member,
              const TypedBuffer& from,
              std::int32_t destination,
              std::int32_t tag);
void receive_now(const Member& member,
                 const TypedBuffer& into,
                 std::int32_t source,
                 std::int32_t tag);

}  // namespace sorrel::mpi
