//! The kinds of packets between processes, of which traces show each one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sorrel::trace {

enum class PacketKind : std::uint32_t {
  // Messages.
  eager,          ///< A short message with its data.
  rts,            ///< Request to send: a message whose data stays with its sender.
  fin,            ///< The sender's data has been read.
  cts,            ///< Clear to send: push the data, which cannot be read from here.
  data,           ///< A piece of pushed data.
  credit,         ///< Short messages have been received: the window is returned.
  cancel,         ///< Drop an RTS that no receive has matched.
  cancel_answer,  ///< Whether the RTS was dropped.
  // Barriers over processes.
  contribution,  ///< The members of a process, or of a subtree, have arrived.
  result,        ///< All have arrived.
  // One-sided communication.
  rma,          ///< A part of a message to a window.
  rma_data,     ///< A part of the data that an operation brings back.
  rma_failure,  ///< Instead of that data: an error.
  rma_ack,      ///< Answers a synchronization, or grants a lock.
  // Balance between processes.
  window_load,  ///< The load of a process, for the first one.
  // Questions to a process (mpi/job/process_calls.hpp).
  question,
  answer,
};

/// By kind, for traces.
inline constexpr std::array<std::string_view, 17> packet_kind_names = {
    "eager",       "rts",           "fin",          "cts",      "data",  "credit",
    "cancel",      "cancel answer", "contribution", "result",   "rma",   "rma data",
    "rma failure", "rma ack",       "window load",  "question", "answer"};
static_assert(packet_kind_names.size() == static_cast<std::size_t>(PacketKind::answer) + 1);

constexpr std::uint32_t number_of(PacketKind kind) {
  return static_cast<std::uint32_t>(kind);
}

}  // namespace sorrel::trace
