//! Tool - the tool that observes this process by the standard's interface (OMPT), if there is one:
//! found, started and ended here, with the callbacks that it has set.
//!
//! A tool defines ompt_start_tool(): in the program, in a preloaded library, or in one of those
//! that OMP_TOOL_LIBRARIES names. Without a tool, each place that could call one has a branch that
//! is never taken.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#include "omp/tool/ompt.hpp"

namespace sorrel::omp {

/// unknown: no thread of the program has become an OpenMP thread.
enum class ToolPhase : std::uint8_t { unknown, on, off };

/// Relaxed: set before the first OpenMP thread; a thread that does not see the tool's end finds it
/// in ToolCall.
extern constinit std::atomic<ToolPhase> tool_phase;

/// Whether a tool observes the process.
[[nodiscard]] inline bool has_tool() {
  return tool_phase.load(std::memory_order_relaxed) == ToolPhase::on;
}

/// Whether a tool observes it, or could when the caller has become an OpenMP thread.
[[nodiscard]] inline bool may_have_tool() {
  return tool_phase.load(std::memory_order_relaxed) != ToolPhase::off;
}

/// What needs to know teams and threads.
struct ToolHooks {
  ompt::Function (*find_inquiry)(const char* name);  ///< by name; null: unknown
  void (*end_thread)();  ///< the tool ends: tells it so of the calling thread
};

/// Before a thread of the program becomes an OpenMP thread: the first one looks for a tool and
/// starts it, others wait for that. The tool itself may use OpenMP meanwhile, unobserved.
void start_tool(const ToolHooks& hooks);

/// The callback of an event, or null.
[[nodiscard]] ompt::Function callback_of(ompt::Event event);

/// An implicit task of a region begins (1), or its end has been told (-1).
void count_implicit_task(std::int32_t change);

/// Waits a moment until the ends of all of them have been told: threads may be late that have done
/// their part of a region. By a thread in no region, before the tool ends.
void await_implicit_tasks();

/// A number that the tool has not got before.
[[nodiscard]] std::uint64_t new_tool_id();

/// While it exists, the tool is not ended by another thread.
class ToolCall {
 public:
  ToolCall();
  ~ToolCall();
  ToolCall(const ToolCall&) = delete;
  ToolCall& operator=(const ToolCall&) = delete;

  /// Whether the tool had not been ended before.
  [[nodiscard]] bool is_allowed() const { return is_allowed_; }

 private:
  bool is_allowed_;
};

/// Calls it if the tool has set it.
template <class Callback, class... Arguments>
void tell_tool(ompt::Event event, Arguments... arguments) {
  const ompt::Function callback = callback_of(event);
  if (callback == nullptr) return;
  const ToolCall call;
  if (call.is_allowed()) reinterpret_cast<Callback>(callback)(arguments...);
}

}  // namespace sorrel::omp
