//! ToolState - a rank's use of the tool information interface (MPI 5.0, chapter 15): the handles
//! that its tools have allocated, and the events that they observe.
//!
//! Owner's worker only; a stand-in's, one caller at a time. A handle is found in its list, so that
//! an invalid one is an error. The functions of the interface return their error class and call no
//! error handler.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "abi/any_time.hpp"
#include "abi/tool_catalogue.hpp"

namespace sorrel::abi {

struct ControlHandle {
  const ControlVariable* variable;
  MPI_Comm comm;
};

struct PerformanceHandle {
  const PerformanceVariable* variable;
  MPI_Comm comm;
  // State of a counter.
  bool is_started = false;
  std::int64_t value_at_start = 0;
  /// Counted before that.
  std::int64_t sum = 0;
};

struct PerformanceSession {
  std::vector<std::unique_ptr<PerformanceHandle>> handles;
};

/// What an MPI_T_event_instance points to, while a callback runs.
struct EventInstance {
  const ToolEvent* type;
  mpi::RankEvent event;
};

struct EventCallback {
  MPI_T_event_cb_function* function = nullptr;
  void* user_data = nullptr;
};

struct EventRegistration {
  mpi::EventKind kind;
  /// By level of safety, from MPI_T_CB_REQUIRE_NONE on.
  std::array<EventCallback, 4> callbacks{};
  MPI_T_event_dropped_cb_function* on_dropped = nullptr;
  bool is_observed = false;
  /// The number of the first event that it gets.
  std::uint64_t first_number = 0;
  /// Freed while callbacks run: it ends after them.
  bool is_freed = false;
  MPI_T_event_free_cb_function* on_freed = nullptr;
  void* freed_data = nullptr;

  /// Callbacks run at the end of a call, on the rank's own thread, so that each level is enough:
  /// the one that requires least. Null: there is none.
  [[nodiscard]] const EventCallback* callback() const {
    const auto* found = std::ranges::find_if(
        callbacks, [](const EventCallback& callback) { return callback.function != nullptr; });
    return found == callbacks.end() ? nullptr : found;
  }
};

struct ToolState : mpi::RankTool {
  int init_count = 0;
  std::vector<std::unique_ptr<ControlHandle>> control_handles;
  std::vector<std::unique_ptr<PerformanceSession>> sessions;
  std::vector<std::unique_ptr<EventRegistration>> registrations;
  /// While a callback runs; else null.
  const EventInstance* instance = nullptr;
  bool is_delivering = false;

  static ToolState& of(mpi::RankState& self) {
    std::shared_ptr<void>& place = self.services().tool;
    if (place == nullptr) place = std::shared_ptr<mpi::RankTool>(std::make_shared<ToolState>());
    return *static_cast<ToolState*>(static_cast<mpi::RankTool*>(place.get()));
  }
};

/// The object that a handle of a tool points to; null if it is not in the list.
template <class Object>
Object* find_handle(const std::vector<std::unique_ptr<Object>>& objects, const void* handle) {
  for (const auto& object : objects)
    if (object.get() == handle) return object.get();
  return nullptr;
}

template <class Object>
void remove_handle(std::vector<std::unique_ptr<Object>>& objects, const Object& object) {
  std::erase_if(objects, [&](const auto& held) { return held.get() == &object; });
}

/// body(self, tool) between MPI_T_init_thread and MPI_T_finalize, on any thread, in any phase.
template <class Body>
int call_tool(mpi::RankState* running, const char* function, Body&& body) {
  const AnyTimeCall caller(running, function, __builtin_return_address(0));
  mpi::RankState& self = caller.rank();
  ToolState& tool = ToolState::of(self);
  return tool.init_count == 0 ? MPI_T_ERR_NOT_INITIALIZED : body(self, tool);
}

/// The entry of a table at a tool's index; null if there is none.
template <class Entry>
const Entry* at_index(std::span<const Entry> entries, int index) {
  const bool is_index = index >= 0 && static_cast<std::size_t>(index) < entries.size();
  return is_index ? &entries[static_cast<std::size_t>(index)] : nullptr;
}

/// The index of the entry of this name.
template <class Entry>
int find_index(std::span<const Entry> entries, const char* name, int* index) {
  if (name == nullptr || index == nullptr) return MPI_T_ERR_INVALID;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (std::strcmp(entries[i].name, name) != 0) continue;
    *index = static_cast<int>(i);
    return MPI_SUCCESS;
  }
  return MPI_T_ERR_INVALID_NAME;
}

/// A null pointer: the tool does not want it.
template <class Value>
void give_if_wanted(Value* to, Value value) {
  if (to != nullptr) *to = value;
}

/// A text for a tool: `length` is the room for it, and becomes that of the whole text with its end.
void give_tool_text(const char* text, char* to, int* length);

/// What the information functions of variables have in common.
void give_variable(const ToolVariable& variable,
                   char* name,
                   int* name_length,
                   int* verbosity,
                   MPI_Datatype* datatype,
                   MPI_T_enum* enumeration,
                   char* description,
                   int* description_length,
                   int* bind);

/// The communicator to which a new handle is bound; `object` points to its handle.
[[nodiscard]] int find_binding(mpi::RankState& self,
                               const ToolVariable& variable,
                               const void* object,
                               MPI_Comm* comm);

/// value = variable.read() for a handle. MPI_T_ERR_INVALID_HANDLE: its communicator has ended.
template <class Handle>
int read_variable(mpi::RankState& self, const Handle& handle, std::int64_t* value) {
  const mpi::Comm* comm = nullptr;
  if (handle.variable->is_bound_to_comm) {
    comm = self.comm_of(handle.comm);
    if (comm == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  }
  *value = handle.variable->read(self, comm);
  return MPI_SUCCESS;
}

/// An enumeration's handle; null for none.
[[nodiscard]] MPI_T_enum handle_of_enum(const ToolEnum* enumeration);

/// An info object of a tool, without hints: there are none.
[[nodiscard]] MPI_Info make_tool_info();

/// Calls the callbacks for the events so far. Not while one runs: then the running call does it.
void deliver_events(mpi::RankState& self, ToolState& tool);

/// Begins or ends to observe what the registration has callbacks for. A stand-in does not: its
/// registrations begin when its caller becomes a rank.
void observe(mpi::RankState& self, ToolState& tool, EventRegistration& registration);

/// Without further events. The tool's functions that free are called.
void end_registrations(ToolState& tool);

/// In the C type of a variable or element: MPI_INT, or MPI_UNSIGNED_LONG_LONG.
void give_value(bool is_int, std::int64_t value, void* to);
[[nodiscard]] std::int64_t take_value(const ToolVariable& variable, const void* from);

}  // namespace sorrel::abi
