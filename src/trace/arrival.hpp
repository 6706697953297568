//! The records of what has arrived from another core.
#pragma once

#include "arch/load_fence.hpp"
#include "trace/record.hpp"

namespace sorrel::trace {

/// `description`: a MessageRecord or a PacketRecord. The time is later than that of the send, whose
/// data the caller has read.
template <class Description>
[[nodiscard]] Record record_of_arrival(const Description& description, Kind kind) {
  arch::finish_loads();
  return description.as(kind);
}

}  // namespace sorrel::trace
