// The tool information interface: start and end, enumerations, categories, and the source of events
// with its time. MPI 5.0, 15.3.
#include <algorithm>
#include <cstring>
#include <limits>
#include <time.h>

#include "abi/body.hpp"
#include "abi/tool_state.hpp"

namespace sorrel::abi {

namespace {

constexpr const char* source_name = "sorrel_rank";
constexpr const char* source_description =
    "The events of this rank and of its worker, in order, by the clock of MPI_Wtime in "
    "nanoseconds.";
constexpr MPI_Count ticks_per_s = 1'000'000'000;

template <class Variable>
int count_in(std::span<const Variable> variables, int category) {
  return static_cast<int>(std::ranges::count_if(variables, [&](const Variable& variable) {
    return static_cast<int>(variable.category) == category;
  }));
}

/// The indices of a category's variables, `length` at most.
template <class Variable>
int give_members(std::span<const Variable> variables, int category, int length, int indices[]) {
  if (at_index(tool_categories(), category) == nullptr) return MPI_T_ERR_INVALID_INDEX;
  if (length > 0 && indices == nullptr) return MPI_T_ERR_INVALID;
  int count = 0;
  for (std::size_t i = 0; i < variables.size() && count < length; ++i) {
    if (static_cast<int>(variables[i].category) == category) indices[count++] = static_cast<int>(i);
  }
  return MPI_SUCCESS;
}

const ToolEnum* enum_of(MPI_T_enum handle) {
  for (const ToolEnum& known : tool_enums())
    if (reinterpret_cast<MPI_T_enum>(const_cast<ToolEnum*>(&known)) == handle) return &known;
  return nullptr;
}

}  // namespace

MPI_T_enum handle_of_enum(const ToolEnum* enumeration) {
  return reinterpret_cast<MPI_T_enum>(const_cast<ToolEnum*>(enumeration));
}

MPI_Info make_tool_info() {
  return mpi::make_info_handle(std::make_unique<mpi::Info>());
}

void give_tool_text(const char* text, char* to, int* length) {
  if (length == nullptr) return;
  const int room = *length;
  const auto size = std::strlen(text);
  *length = static_cast<int>(size) + 1;
  if (to == nullptr || room <= 0) return;
  const std::size_t copied = std::min(size, static_cast<std::size_t>(room) - 1);
  std::memcpy(to, text, copied);
  to[copied] = '\0';
}

void give_variable(const ToolVariable& variable,
                   char* name,
                   int* name_length,
                   int* verbosity,
                   MPI_Datatype* datatype,
                   MPI_T_enum* enumeration,
                   char* description,
                   int* description_length,
                   int* bind) {
  give_tool_text(variable.name, name, name_length);
  give_tool_text(variable.description, description, description_length);
  give_if_wanted(verbosity, variable.verbosity);
  give_if_wanted(datatype, variable.is_int ? MPI_INT : MPI_UNSIGNED_LONG_LONG);
  give_if_wanted(enumeration, handle_of_enum(variable.enumeration));
  give_if_wanted(bind, variable.is_bound_to_comm ? MPI_T_BIND_MPI_COMM : MPI_T_BIND_NO_OBJECT);
}

int find_binding(RankState& self,
                 const ToolVariable& variable,
                 const void* object,
                 MPI_Comm* comm) {
  *comm = MPI_COMM_NULL;
  if (!variable.is_bound_to_comm) return MPI_SUCCESS;
  if (object == nullptr) return MPI_T_ERR_INVALID;
  *comm = *static_cast<const MPI_Comm*>(object);
  // A stand-in has communicators without members.
  const bool is_valid = self.world != nullptr && self.comm_of(*comm) != nullptr;
  return is_valid ? MPI_SUCCESS : MPI_T_ERR_INVALID;
}

void give_value(bool is_int, std::int64_t value, void* to) {
  if (is_int) {
    const int small = static_cast<int>(value);
    std::memcpy(to, &small, sizeof small);
  } else {
    const auto large = static_cast<unsigned long long>(value);
    std::memcpy(to, &large, sizeof large);
  }
}

std::int64_t take_value(const ToolVariable& variable, const void* from) {
  if (variable.is_int) {
    int small = 0;
    std::memcpy(&small, from, sizeof small);
    return small;
  }
  unsigned long long large = 0;
  std::memcpy(&large, from, sizeof large);
  return static_cast<std::int64_t>(large);
}

extern "C" {

int PMPI_T_init_thread(int required, int* provided) {
  SORREL_CALL_ON_THREAD(mpi::current_rank(), T_init_thread, required, provided);
  const AnyTimeCall caller(mpi::current_rank(), "MPI_T_init_thread", __builtin_return_address(0));
  if (provided == nullptr) return MPI_T_ERR_INVALID;
  *provided = std::min(required, runtime::thread_level_max());
  ++ToolState::of(caller.rank()).init_count;
  return MPI_SUCCESS;
}
SORREL_WEAK(MPI_T_init_thread)

}  // extern "C"

namespace body {

int T_finalize(RankState& self, ToolState& tool) {
  if (tool.init_count == 1 && tool.events != nullptr) deliver_events(self, tool);
  if (--tool.init_count > 0) return MPI_SUCCESS;
  end_registrations(tool);
  tool.control_handles.clear();
  tool.sessions.clear();
  return MPI_SUCCESS;
}

int T_enum_get_info(RankState& /*self*/,
                    ToolState& /*tool*/,
                    MPI_T_enum enumtype,
                    int* num,
                    char* name,
                    int* name_len) {
  const ToolEnum* found = enum_of(enumtype);
  if (found == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  give_if_wanted(num, static_cast<int>(found->items.size()));
  give_tool_text(found->name, name, name_len);
  return MPI_SUCCESS;
}

int T_enum_get_item(RankState& /*self*/,
                    ToolState& /*tool*/,
                    MPI_T_enum enumtype,
                    int indx,
                    int* value,
                    char* name,
                    int* name_len) {
  const ToolEnum* found = enum_of(enumtype);
  if (found == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  const ToolEnumItem* item = at_index(found->items, indx);
  if (item == nullptr) return MPI_T_ERR_INVALID_INDEX;
  give_if_wanted(value, item->value);
  give_tool_text(item->name, name, name_len);
  return MPI_SUCCESS;
}

int T_category_get_num(RankState& /*self*/, ToolState& /*tool*/, int* num_cat) {
  if (num_cat == nullptr) return MPI_T_ERR_INVALID;
  *num_cat = static_cast<int>(tool_categories().size());
  return MPI_SUCCESS;
}

int T_category_get_index(RankState& /*self*/,
                         ToolState& /*tool*/,
                         const char* name,
                         int* cat_index) {
  return find_index(tool_categories(), name, cat_index);
}

int T_category_get_info(RankState& /*self*/,
                        ToolState& /*tool*/,
                        int cat_index,
                        char* name,
                        int* name_len,
                        char* desc,
                        int* desc_len,
                        int* num_cvars,
                        int* num_pvars,
                        int* num_categories) {
  const auto* category = at_index(tool_categories(), cat_index);
  if (category == nullptr) return MPI_T_ERR_INVALID_INDEX;
  give_tool_text(category->name, name, name_len);
  give_tool_text(category->description, desc, desc_len);
  give_if_wanted(num_cvars, count_in(control_variables(), cat_index));
  give_if_wanted(num_pvars, count_in(performance_variables(), cat_index));
  give_if_wanted(num_categories,
                 cat_index == 0 ? static_cast<int>(tool_categories().size()) - 1 : 0);
  return MPI_SUCCESS;
}

int T_category_get_cvars(
    RankState& /*self*/, ToolState& /*tool*/, int cat_index, int len, int indices[]) {
  return give_members(control_variables(), cat_index, len, indices);
}

int T_category_get_pvars(
    RankState& /*self*/, ToolState& /*tool*/, int cat_index, int len, int indices[]) {
  return give_members(performance_variables(), cat_index, len, indices);
}

int T_category_get_categories(
    RankState& /*self*/, ToolState& /*tool*/, int cat_index, int len, int indices[]) {
  const auto categories = tool_categories();
  if (at_index(categories, cat_index) == nullptr) return MPI_T_ERR_INVALID_INDEX;
  if (len > 0 && indices == nullptr) return MPI_T_ERR_INVALID;
  const int count = cat_index == 0 ? static_cast<int>(categories.size()) - 1 : 0;
  for (int i = 0; i < std::min(len, count); ++i)
    indices[i] = i + 1;
  return MPI_SUCCESS;
}

int T_category_get_num_events(RankState& /*self*/,
                              ToolState& /*tool*/,
                              int cat_index,
                              int* num_events) {
  if (at_index(tool_categories(), cat_index) == nullptr) return MPI_T_ERR_INVALID_INDEX;
  if (num_events == nullptr) return MPI_T_ERR_INVALID;
  *num_events = count_in(tool_events(), cat_index);
  return MPI_SUCCESS;
}

int T_category_get_events(
    RankState& /*self*/, ToolState& /*tool*/, int cat_index, int len, int indices[]) {
  return give_members(tool_events(), cat_index, len, indices);
}

int T_category_changed(RankState& /*self*/, ToolState& /*tool*/, int* update_number) {
  if (update_number == nullptr) return MPI_T_ERR_INVALID;
  // The tables are constant.
  *update_number = 0;
  return MPI_SUCCESS;
}

int T_source_get_num(RankState& /*self*/, ToolState& /*tool*/, int* num_sources) {
  if (num_sources == nullptr) return MPI_T_ERR_INVALID;
  *num_sources = 1;
  return MPI_SUCCESS;
}

int T_source_get_info(RankState& /*self*/,
                      ToolState& /*tool*/,
                      int source_index,
                      char* name,
                      int* name_len,
                      char* desc,
                      int* desc_len,
                      MPI_T_source_order* ordering,
                      MPI_Count* ticks_per_second,
                      MPI_Count* max_ticks,
                      MPI_Info* info) {
  if (source_index != 0) return MPI_T_ERR_INVALID_INDEX;
  give_tool_text(source_name, name, name_len);
  give_tool_text(source_description, desc, desc_len);
  give_if_wanted(ordering, MPI_T_SOURCE_ORDERED);
  give_if_wanted(ticks_per_second, ticks_per_s);
  give_if_wanted(max_ticks, std::numeric_limits<MPI_Count>::max());
  if (info != nullptr) *info = make_tool_info();
  return MPI_SUCCESS;
}

int T_source_get_timestamp(RankState& self,
                           ToolState& /*tool*/,
                           int source_index,
                           MPI_Count* timestamp) {
  if (source_index != 0) return MPI_T_ERR_INVALID_INDEX;
  if (timestamp == nullptr) return MPI_T_ERR_INVALID;
  if (self.worker != nullptr) {
    *timestamp = self.worker->now_ns();
  } else {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    *timestamp = now.tv_sec * ticks_per_s + now.tv_nsec;
  }
  return MPI_SUCCESS;
}

}  // namespace body

}  // namespace sorrel::abi
