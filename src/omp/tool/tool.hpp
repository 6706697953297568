//! Tool - the tool that observes this process by the standard's interface (OMPT), if there is one:
//! found, started and ended here, with the callbacks that it has set.
//!
//! A tool defines ompt_start_tool(): in the program, in a preloaded library, or in one of those
//! that OMP_TOOL_LIBRARIES names. Without a tool, each place that could call one has a branch that
//! is never taken.
#pragma once

#include <array>
#include <atomic>
#include <utility>

#include "omp/tool/ompt.hpp"

namespace sorrel::omp {

/// Whether a tool observes the process. Relaxed: set before the first OpenMP thread; a thread that
/// does not see its end finds it in ToolCall.
extern constinit std::atomic<bool> is_tool_on;

[[nodiscard]] inline bool has_tool() {
  return is_tool_on.load(std::memory_order_relaxed);
}

/// The inquiry functions that need to know teams, by name; null: unknown.
using FindInquiry = ompt::Function (*)(const char* name);

/// Before a thread of the program becomes an OpenMP thread: the first one looks for a tool and
/// starts it, others wait for that. The tool itself may use OpenMP meanwhile, unobserved.
void start_tool(FindInquiry find);

/// The callback of an event, or null.
[[nodiscard]] ompt::Function callback_of(ompt::Event event);

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
