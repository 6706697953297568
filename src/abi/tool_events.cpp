// The tool information interface: events. MPI 5.0, 15.3.9. A rank records what happens to it and to
// its worker (mpi/match/rank_events.hpp); its callbacks run when one of its next calls ends,
// outside of all that the library does, so that they may call any function.
#include <utility>

#include "abi/body.hpp"
#include "abi/tool_state.hpp"
#include "base/check.hpp"

namespace sorrel::abi {

namespace {

constexpr int source_index = 0;
constexpr std::size_t element_bytes = sizeof(std::int64_t);

/// Position in EventRegistration::callbacks; negative: no level.
int level_of(MPI_T_cb_safety safety) {
  switch (safety) {
    case MPI_T_CB_REQUIRE_NONE:
      return 0;
    case MPI_T_CB_REQUIRE_MPI_RESTRICTED:
      return 1;
    case MPI_T_CB_REQUIRE_THREAD_SAFE:
      return 2;
    case MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE:
      return 3;
  }
  return -1;
}

MPI_T_event_registration handle_of(EventRegistration& registration) {
  return reinterpret_cast<MPI_T_event_registration>(&registration);
}

EventRegistration* registration_of(const ToolState& tool, MPI_T_event_registration handle) {
  EventRegistration* found = find_handle(tool.registrations, handle);
  return found == nullptr || found->is_freed ? nullptr : found;
}

/// The registration and the callback of a level.
int find(const ToolState& tool,
         MPI_T_event_registration handle,
         MPI_T_cb_safety safety,
         EventRegistration** registration,
         EventCallback** callback) {
  *registration = registration_of(tool, handle);
  if (*registration == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  const int level = level_of(safety);
  if (level < 0) return MPI_T_ERR_INVALID;
  *callback = &(*registration)->callbacks[static_cast<std::size_t>(level)];
  return MPI_SUCCESS;
}

/// Hints are ignored, as there are none.
bool is_valid(MPI_Info info) {
  return info == MPI_INFO_NULL || mpi::info_of(info) != nullptr;
}

const EventInstance* instance_of(const ToolState& tool, MPI_T_event_instance handle) {
  const void* pointer = handle;
  return pointer == nullptr || pointer != tool.instance ? nullptr : tool.instance;
}

/// use(registration, callback) for those of a kind that had a callback when the event came. A
/// callback may add registrations and free any.
template <class Use>
void for_each_observer(const ToolState& tool,
                       mpi::EventKind kind,
                       std::uint64_t number,
                       Use&& use) {
  for (std::size_t i = 0; i < tool.registrations.size(); ++i) {
    EventRegistration& registration = *tool.registrations[i];
    if (registration.is_freed || registration.kind != kind || number < registration.first_number)
      continue;
    // A copy, as the function may register another one.
    if (const EventCallback* found = registration.callback(); found != nullptr)
      use(registration, EventCallback(*found));
  }
}

void give(ToolState& tool, const mpi::RankEvent& event) {
  SORREL_ASSERT(tool.instance == nullptr, "an event is given in a callback of another one");
  const EventInstance instance{.type = &tool_events()[static_cast<std::size_t>(event.kind)],
                               .event = event};
  tool.instance = &instance;
  auto* handle = reinterpret_cast<MPI_T_event_instance>(const_cast<EventInstance*>(&instance));
  for_each_observer(tool, event.kind, event.number,
                    [&](EventRegistration& registration, const EventCallback& callback) {
                      callback.function(handle, handle_of(registration), MPI_T_CB_REQUIRE_NONE,
                                        callback.user_data);
                    });
  tool.instance = nullptr;
}

void give_dropped(const ToolState& tool, mpi::EventKind kind) {
  if (tool.events == nullptr) return;
  const mpi::RankEvents::Dropped dropped = tool.events->take_dropped(kind);
  if (dropped.count == 0) return;
  for_each_observer(tool, kind, dropped.first,
                    [&](EventRegistration& registration, const EventCallback& callback) {
                      if (registration.on_dropped == nullptr) return;
                      registration.on_dropped(static_cast<MPI_Count>(dropped.count),
                                              handle_of(registration), source_index,
                                              MPI_T_CB_REQUIRE_NONE, callback.user_data);
                    });
}

/// Calls the functions of the freed registrations, which may free others, and ends them.
void end_freed(ToolState& tool) {
  tool.is_delivering = true;
  const auto is_due = [](const auto& held) { return held->on_freed != nullptr; };
  for (auto due = std::ranges::find_if(tool.registrations, is_due); due != tool.registrations.end();
       due = std::ranges::find_if(tool.registrations, is_due)) {
    EventRegistration& freed = **due;
    std::exchange(freed.on_freed, nullptr)(handle_of(freed), MPI_T_CB_REQUIRE_NONE,
                                           freed.freed_data);
  }
  tool.is_delivering = false;
  std::erase_if(tool.registrations, [](const auto& held) { return held->is_freed; });
}

void mark_freed(ToolState& tool, EventRegistration& registration) {
  SORREL_ASSERT(!registration.is_observed || tool.events != nullptr, "no events are observed");
  registration.is_freed = true;
  if (registration.is_observed) tool.events->end(registration.kind);
  registration.is_observed = false;
}

/// Whether no registration is observed any more: then no call needs to end in the slow way.
void end_observation_if_unused(ToolState& tool) {
  const bool is_used =
      std::ranges::any_of(tool.registrations, [](const auto& held) { return held->is_observed; });
  if (!is_used) tool.events.reset();
}

}  // namespace

void observe(RankState& self, ToolState& tool, EventRegistration& registration) {
  const bool has_callback = registration.callback() != nullptr;
  if (has_callback == registration.is_observed || self.world == nullptr) return;
  registration.is_observed = has_callback;
  if (has_callback) {
    if (tool.events == nullptr) tool.events = std::make_unique<mpi::RankEvents>(self);
    registration.first_number = tool.events->next_number();
    tool.events->begin(registration.kind);
  } else {
    tool.events->end(registration.kind);
    end_observation_if_unused(tool);
  }
}

void deliver_events(RankState& self, ToolState& tool) {
  if (tool.is_delivering) return;
  SORREL_ASSERT(tool.events != nullptr, "rank %d observes no events", self.world_rank);
  tool.is_delivering = true;
  // Callbacks may call MPI, and the call that ends here is not over.
  const char* const call = self.fiber.call;
  const void* const call_site = self.fiber.call_site;
  {
    const core::PinnedFiber pinned;
    // Events that callbacks cause come at the end of the next call.
    const std::uint64_t end = tool.events->next_number();
    while (tool.events != nullptr) {
      const auto event = tool.events->take_before(end);
      if (!event) break;
      give(tool, *event);
    }
    for (std::size_t kind = 0; kind < mpi::event_kind_count; ++kind)
      give_dropped(tool, static_cast<mpi::EventKind>(kind));
    end_freed(tool);
  }
  self.fiber.call = call;
  self.fiber.call_site = call_site;
}

void end_registrations(ToolState& tool) {
  for (const auto& registration : tool.registrations)
    mark_freed(tool, *registration);
  tool.events.reset();
  if (!tool.is_delivering) end_freed(tool);
}

namespace body {

int T_event_get_num(RankState& /*self*/, ToolState& /*tool*/, int* num_events) {
  if (num_events == nullptr) return MPI_T_ERR_INVALID;
  *num_events = static_cast<int>(tool_events().size());
  return MPI_SUCCESS;
}

int T_event_get_index(RankState& /*self*/,
                      ToolState& /*tool*/,
                      const char* name,
                      int* event_index) {
  return find_index(tool_events(), name, event_index);
}

int T_event_get_info(RankState& /*self*/,
                     ToolState& /*tool*/,
                     int event_index,
                     char* name,
                     int* name_len,
                     int* verbosity,
                     MPI_Datatype array_of_datatypes[],
                     MPI_Aint array_of_displacements[],
                     int* num_elements,
                     MPI_T_enum* enumtype,
                     MPI_Info* info,
                     char* desc,
                     int* desc_len,
                     int* bind) {
  const ToolEvent* type = at_index(tool_events(), event_index);
  if (type == nullptr) return MPI_T_ERR_INVALID_INDEX;
  const auto count = static_cast<int>(type->elements->items.size());
  if (num_elements != nullptr) {
    for (int i = 0; i < std::min(*num_elements, count); ++i) {
      const bool is_int = type->is_int[static_cast<std::size_t>(i)];
      if (array_of_datatypes != nullptr)
        array_of_datatypes[i] = is_int ? MPI_INT : MPI_UNSIGNED_LONG_LONG;
      if (array_of_displacements != nullptr)
        array_of_displacements[i] = i * static_cast<MPI_Aint>(element_bytes);
    }
    *num_elements = count;
  }
  give_tool_text(type->name, name, name_len);
  give_tool_text(type->description, desc, desc_len);
  give_if_wanted(verbosity, type->verbosity);
  give_if_wanted(enumtype, handle_of_enum(type->elements));
  if (info != nullptr) *info = make_tool_info();
  give_if_wanted(bind, MPI_T_BIND_NO_OBJECT);
  return MPI_SUCCESS;
}

int T_event_handle_alloc(RankState& /*self*/,
                         ToolState& tool,
                         int event_index,
                         void* /*obj_handle*/,
                         MPI_Info info,
                         MPI_T_event_registration* event_registration) {
  if (at_index(tool_events(), event_index) == nullptr) return MPI_T_ERR_INVALID_INDEX;
  if (event_registration == nullptr || !is_valid(info)) return MPI_T_ERR_INVALID;
  tool.registrations.push_back(std::make_unique<EventRegistration>(
      EventRegistration{.kind = static_cast<mpi::EventKind>(event_index)}));
  *event_registration = handle_of(*tool.registrations.back());
  return MPI_SUCCESS;
}

int T_event_handle_free(RankState& self,
                        ToolState& tool,
                        MPI_T_event_registration event_registration,
                        void* user_data,
                        MPI_T_event_free_cb_function free_cb_function) {
  if (registration_of(tool, event_registration) == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  // What has happened before.
  if (tool.events != nullptr) deliver_events(self, tool);
  EventRegistration* found = registration_of(tool, event_registration);
  // A callback has freed it.
  if (found == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  mark_freed(tool, *found);
  end_observation_if_unused(tool);
  found->on_freed = free_cb_function;
  found->freed_data = user_data;
  if (!tool.is_delivering) end_freed(tool);
  return MPI_SUCCESS;
}

int T_event_handle_get_info(RankState& /*self*/,
                            ToolState& tool,
                            MPI_T_event_registration event_registration,
                            MPI_Info* info_used) {
  if (registration_of(tool, event_registration) == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  if (info_used == nullptr) return MPI_T_ERR_INVALID;
  *info_used = make_tool_info();
  return MPI_SUCCESS;
}

int T_event_handle_set_info(RankState& /*self*/,
                            ToolState& tool,
                            MPI_T_event_registration event_registration,
                            MPI_Info info) {
  if (registration_of(tool, event_registration) == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  return is_valid(info) ? MPI_SUCCESS : MPI_T_ERR_INVALID;
}

int T_event_register_callback(RankState& self,
                              ToolState& tool,
                              MPI_T_event_registration event_registration,
                              MPI_T_cb_safety cb_safety,
                              MPI_Info info,
                              void* user_data,
                              MPI_T_event_cb_function event_cb_function) {
  EventRegistration* found = nullptr;
  EventCallback* callback = nullptr;
  const int error = find(tool, event_registration, cb_safety, &found, &callback);
  if (error != MPI_SUCCESS) return error;
  if (!is_valid(info)) return MPI_T_ERR_INVALID;
  *callback = {.function = event_cb_function, .user_data = user_data};
  observe(self, tool, *found);
  return MPI_SUCCESS;
}

int T_event_callback_get_info(RankState& /*self*/,
                              ToolState& tool,
                              MPI_T_event_registration event_registration,
                              MPI_T_cb_safety cb_safety,
                              MPI_Info* info_used) {
  EventRegistration* found = nullptr;
  EventCallback* callback = nullptr;
  const int error = find(tool, event_registration, cb_safety, &found, &callback);
  if (error != MPI_SUCCESS) return error;
  if (info_used == nullptr) return MPI_T_ERR_INVALID;
  *info_used = make_tool_info();
  return MPI_SUCCESS;
}

int T_event_callback_set_info(RankState& /*self*/,
                              ToolState& tool,
                              MPI_T_event_registration event_registration,
                              MPI_T_cb_safety cb_safety,
                              MPI_Info info) {
  EventRegistration* found = nullptr;
  EventCallback* callback = nullptr;
  const int error = find(tool, event_registration, cb_safety, &found, &callback);
  return error == MPI_SUCCESS && !is_valid(info) ? MPI_T_ERR_INVALID : error;
}

int T_event_set_dropped_handler(RankState& /*self*/,
                                ToolState& tool,
                                MPI_T_event_registration event_registration,
                                MPI_T_event_dropped_cb_function dropped_cb_function) {
  EventRegistration* found = registration_of(tool, event_registration);
  if (found == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  found->on_dropped = dropped_cb_function;
  return MPI_SUCCESS;
}

int T_event_read(RankState& /*self*/,
                 ToolState& tool,
                 MPI_T_event_instance event_instance,
                 int element_index,
                 void* buffer) {
  const EventInstance* instance = instance_of(tool, event_instance);
  if (instance == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  if (at_index(instance->type->elements->items, element_index) == nullptr)
    return MPI_T_ERR_INVALID_INDEX;
  if (buffer == nullptr) return MPI_T_ERR_INVALID;
  const auto element = static_cast<std::size_t>(element_index);
  SORREL_CHECK(element < instance->event.values.size(), "element %zu of %zu", element,
               instance->event.values.size());
  give_value(instance->type->is_int[element], instance->event.values[element], buffer);
  return MPI_SUCCESS;
}

int T_event_copy(RankState& /*self*/,
                 ToolState& tool,
                 MPI_T_event_instance event_instance,
                 void* buffer) {
  const EventInstance* instance = instance_of(tool, event_instance);
  if (instance == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  if (buffer == nullptr) return MPI_T_ERR_INVALID;
  for (std::size_t i = 0; i < instance->type->elements->items.size(); ++i) {
    give_value(instance->type->is_int[i], instance->event.values[i],
               static_cast<std::byte*>(buffer) + i * element_bytes);
  }
  return MPI_SUCCESS;
}

int T_event_get_timestamp(RankState& /*self*/,
                          ToolState& tool,
                          MPI_T_event_instance event_instance,
                          MPI_Count* event_timestamp) {
  const EventInstance* instance = instance_of(tool, event_instance);
  if (instance == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  if (event_timestamp == nullptr) return MPI_T_ERR_INVALID;
  *event_timestamp = instance->event.time_ns;
  return MPI_SUCCESS;
}

int T_event_get_source(RankState& /*self*/,
                       ToolState& tool,
                       MPI_T_event_instance event_instance,
                       int* source) {
  const EventInstance* instance = instance_of(tool, event_instance);
  if (instance == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  if (source == nullptr) return MPI_T_ERR_INVALID;
  *source = source_index;
  return MPI_SUCCESS;
}

}  // namespace body

}  // namespace sorrel::abi
