// The tool information interface: control variables, performance variables and their sessions.
// MPI 5.0, 15.3.6 and 15.3.7.
#include "abi/body.hpp"
#include "abi/tool_state.hpp"

namespace sorrel::abi {

namespace {

MPI_T_cvar_handle handle_of(ControlHandle& handle) {
  return reinterpret_cast<MPI_T_cvar_handle>(&handle);
}

PerformanceSession* session_of(const ToolState& tool, MPI_T_pvar_session session) {
  return find_handle(tool.sessions, session);
}

/// The handle of a session; null if either is invalid, with the error.
int find(const ToolState& tool,
         MPI_T_pvar_session session,
         MPI_T_pvar_handle handle,
         PerformanceHandle** found) {
  const PerformanceSession* in = session_of(tool, session);
  if (in == nullptr) return MPI_T_ERR_INVALID_SESSION;
  *found = find_handle(in->handles, handle);
  return *found == nullptr ? MPI_T_ERR_INVALID_HANDLE : MPI_SUCCESS;
}

int value_of(RankState& self, const PerformanceHandle& handle, std::int64_t* value) {
  if (!handle.variable->is_counter()) return read_variable(self, handle, value);
  *value = handle.sum;
  if (!handle.is_started) return MPI_SUCCESS;
  std::int64_t now = 0;
  const int error = read_variable(self, handle, &now);
  *value += now - handle.value_at_start;
  return error;
}

int start(RankState& self, PerformanceHandle& handle) {
  if (!handle.variable->is_counter()) return MPI_T_ERR_PVAR_NO_STARTSTOP;
  if (handle.is_started) return MPI_SUCCESS;
  const int error = read_variable(self, handle, &handle.value_at_start);
  handle.is_started = error == MPI_SUCCESS;
  return error;
}

int stop(RankState& self, PerformanceHandle& handle) {
  if (!handle.variable->is_counter()) return MPI_T_ERR_PVAR_NO_STARTSTOP;
  const int error = value_of(self, handle, &handle.sum);
  handle.is_started = false;
  return error;
}

/// Sets the count of a counter.
int set(RankState& self, PerformanceHandle& handle, std::int64_t value) {
  if (!handle.variable->is_counter()) return MPI_T_ERR_PVAR_NO_WRITE;
  handle.sum = value;
  return handle.is_started ? read_variable(self, handle, &handle.value_at_start) : MPI_SUCCESS;
}

int reset(RankState& self, PerformanceHandle& handle) {
  return set(self, handle, 0);
}

/// action(self, handle) for one handle, or for those of the session that allow it.
int apply(RankState& self,
          const ToolState& tool,
          MPI_T_pvar_session session,
          MPI_T_pvar_handle handle,
          int (*action)(RankState& self, PerformanceHandle& handle)) {
  if (handle != MPI_T_PVAR_ALL_HANDLES) {
    PerformanceHandle* found = nullptr;
    const int error = find(tool, session, handle, &found);
    return error == MPI_SUCCESS ? action(self, *found) : error;
  }
  const PerformanceSession* all = session_of(tool, session);
  if (all == nullptr) return MPI_T_ERR_INVALID_SESSION;
  int error = MPI_SUCCESS;
  for (const auto& one : all->handles) {
    if (!one->variable->is_counter()) continue;
    if (const int failed = action(self, *one); failed != MPI_SUCCESS) error = failed;
  }
  return error;
}

}  // namespace

namespace body {

int T_cvar_get_num(RankState& /*self*/, ToolState& /*tool*/, int* num_cvar) {
  if (num_cvar == nullptr) return MPI_T_ERR_INVALID;
  *num_cvar = static_cast<int>(control_variables().size());
  return MPI_SUCCESS;
}

int T_cvar_get_index(RankState& /*self*/, ToolState& /*tool*/, const char* name, int* cvar_index) {
  return find_index(control_variables(), name, cvar_index);
}

int T_cvar_get_info(RankState& /*self*/,
                    ToolState& /*tool*/,
                    int cvar_index,
                    char* name,
                    int* name_len,
                    int* verbosity,
                    MPI_Datatype* datatype,
                    MPI_T_enum* enumtype,
                    char* desc,
                    int* desc_len,
                    int* bind,
                    int* scope) {
  const ControlVariable* variable = at_index(control_variables(), cvar_index);
  if (variable == nullptr) return MPI_T_ERR_INVALID_INDEX;
  give_variable(*variable, name, name_len, verbosity, datatype, enumtype, desc, desc_len, bind);
  give_if_wanted(scope, variable->write != nullptr ? MPI_T_SCOPE_LOCAL : MPI_T_SCOPE_CONSTANT);
  return MPI_SUCCESS;
}

int T_cvar_handle_alloc(RankState& self,
                        ToolState& tool,
                        int cvar_index,
                        void* obj_handle,
                        MPI_T_cvar_handle* handle,
                        int* count) {
  const ControlVariable* variable = at_index(control_variables(), cvar_index);
  if (variable == nullptr) return MPI_T_ERR_INVALID_INDEX;
  if (handle == nullptr || count == nullptr) return MPI_T_ERR_INVALID;
  MPI_Comm comm = MPI_COMM_NULL;
  if (const int error = find_binding(self, *variable, obj_handle, &comm); error != MPI_SUCCESS)
    return error;
  tool.control_handles.push_back(std::make_unique<ControlHandle>(ControlHandle{variable, comm}));
  *handle = handle_of(*tool.control_handles.back());
  *count = 1;
  return MPI_SUCCESS;
}

int T_cvar_handle_free(RankState& /*self*/, ToolState& tool, MPI_T_cvar_handle* handle) {
  if (handle == nullptr) return MPI_T_ERR_INVALID;
  const ControlHandle* found = find_handle(tool.control_handles, *handle);
  if (found == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  remove_handle(tool.control_handles, *found);
  *handle = MPI_T_CVAR_HANDLE_NULL;
  return MPI_SUCCESS;
}

int T_cvar_read(RankState& self, ToolState& tool, MPI_T_cvar_handle handle, void* buf) {
  const ControlHandle* found = find_handle(tool.control_handles, handle);
  if (found == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  if (buf == nullptr) return MPI_T_ERR_INVALID;
  std::int64_t value = 0;
  const int error = read_variable(self, *found, &value);
  if (error == MPI_SUCCESS) give_value(found->variable->is_int, value, buf);
  return error;
}

int T_cvar_write(RankState& self, ToolState& tool, MPI_T_cvar_handle handle, const void* buf) {
  const ControlHandle* found = find_handle(tool.control_handles, handle);
  if (found == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  if (buf == nullptr) return MPI_T_ERR_INVALID;
  if (found->variable->write == nullptr) return MPI_T_ERR_CVAR_SET_NEVER;
  Comm* comm = self.comm_of(found->comm);
  if (comm == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  found->variable->write(comm, take_value(*found->variable, buf));
  return MPI_SUCCESS;
}

int T_pvar_get_num(RankState& /*self*/, ToolState& /*tool*/, int* num_pvar) {
  if (num_pvar == nullptr) return MPI_T_ERR_INVALID;
  *num_pvar = static_cast<int>(performance_variables().size());
  return MPI_SUCCESS;
}

int T_pvar_get_index(
    RankState& /*self*/, ToolState& /*tool*/, const char* name, int var_class, int* pvar_index) {
  int index = 0;
  if (pvar_index == nullptr) return MPI_T_ERR_INVALID;
  const int error = find_index(performance_variables(), name, &index);
  if (error != MPI_SUCCESS) return error;
  if (performance_variables()[static_cast<std::size_t>(index)].variable_class != var_class)
    return MPI_T_ERR_INVALID_NAME;
  *pvar_index = index;
  return MPI_SUCCESS;
}

int T_pvar_get_info(RankState& /*self*/,
                    ToolState& /*tool*/,
                    int pvar_index,
                    char* name,
                    int* name_len,
                    int* verbosity,
                    int* var_class,
                    MPI_Datatype* datatype,
                    MPI_T_enum* enumtype,
                    char* desc,
                    int* desc_len,
                    int* bind,
                    int* readonly,
                    int* continuous,
                    int* atomic) {
  const PerformanceVariable* variable = at_index(performance_variables(), pvar_index);
  if (variable == nullptr) return MPI_T_ERR_INVALID_INDEX;
  give_variable(*variable, name, name_len, verbosity, datatype, enumtype, desc, desc_len, bind);
  const int is_counter = variable->is_counter() ? 1 : 0;
  give_if_wanted(var_class, variable->variable_class);
  give_if_wanted(readonly, 1 - is_counter);
  give_if_wanted(continuous, 1 - is_counter);
  give_if_wanted(atomic, is_counter);
  return MPI_SUCCESS;
}

int T_pvar_session_create(RankState& /*self*/, ToolState& tool, MPI_T_pvar_session* session) {
  if (session == nullptr) return MPI_T_ERR_INVALID;
  tool.sessions.push_back(std::make_unique<PerformanceSession>());
  *session = reinterpret_cast<MPI_T_pvar_session>(tool.sessions.back().get());
  return MPI_SUCCESS;
}

int T_pvar_session_free(RankState& /*self*/, ToolState& tool, MPI_T_pvar_session* session) {
  if (session == nullptr) return MPI_T_ERR_INVALID;
  const PerformanceSession* found = session_of(tool, *session);
  if (found == nullptr) return MPI_T_ERR_INVALID_SESSION;
  remove_handle(tool.sessions, *found);
  *session = MPI_T_PVAR_SESSION_NULL;
  return MPI_SUCCESS;
}

int T_pvar_handle_alloc(RankState& self,
                        ToolState& tool,
                        MPI_T_pvar_session session,
                        int pvar_index,
                        void* obj_handle,
                        MPI_T_pvar_handle* handle,
                        int* count) {
  PerformanceSession* in = session_of(tool, session);
  if (in == nullptr) return MPI_T_ERR_INVALID_SESSION;
  const PerformanceVariable* variable = at_index(performance_variables(), pvar_index);
  if (variable == nullptr) return MPI_T_ERR_INVALID_INDEX;
  if (handle == nullptr || count == nullptr) return MPI_T_ERR_INVALID;
  MPI_Comm comm = MPI_COMM_NULL;
  if (const int error = find_binding(self, *variable, obj_handle, &comm); error != MPI_SUCCESS)
    return error;
  in->handles.push_back(
      std::make_unique<PerformanceHandle>(PerformanceHandle{.variable = variable, .comm = comm}));
  *handle = reinterpret_cast<MPI_T_pvar_handle>(in->handles.back().get());
  *count = 1;
  return MPI_SUCCESS;
}

int T_pvar_handle_free(RankState& /*self*/,
                       ToolState& tool,
                       MPI_T_pvar_session session,
                       MPI_T_pvar_handle* handle) {
  if (handle == nullptr) return MPI_T_ERR_INVALID;
  PerformanceHandle* found = nullptr;
  if (const int error = find(tool, session, *handle, &found); error != MPI_SUCCESS) return error;
  remove_handle(session_of(tool, session)->handles, *found);
  *handle = MPI_T_PVAR_HANDLE_NULL;
  return MPI_SUCCESS;
}

int T_pvar_start(RankState& self,
                 ToolState& tool,
                 MPI_T_pvar_session session,
                 MPI_T_pvar_handle handle) {
  return apply(self, tool, session, handle, start);
}

int T_pvar_stop(RankState& self,
                ToolState& tool,
                MPI_T_pvar_session session,
                MPI_T_pvar_handle handle) {
  return apply(self, tool, session, handle, stop);
}

int T_pvar_reset(RankState& self,
                 ToolState& tool,
                 MPI_T_pvar_session session,
                 MPI_T_pvar_handle handle) {
  return apply(self, tool, session, handle, reset);
}

int T_pvar_read(RankState& self,
                ToolState& tool,
                MPI_T_pvar_session session,
                MPI_T_pvar_handle handle,
                void* buf) {
  PerformanceHandle* found = nullptr;
  if (const int error = find(tool, session, handle, &found); error != MPI_SUCCESS) return error;
  if (buf == nullptr) return MPI_T_ERR_INVALID;
  std::int64_t value = 0;
  const int error = value_of(self, *found, &value);
  if (error == MPI_SUCCESS) give_value(found->variable->is_int, value, buf);
  return error;
}

int T_pvar_readreset(RankState& self,
                     ToolState& tool,
                     MPI_T_pvar_session session,
                     MPI_T_pvar_handle handle,
                     void* buf) {
  PerformanceHandle* found = nullptr;
  if (const int error = find(tool, session, handle, &found); error != MPI_SUCCESS) return error;
  if (buf == nullptr) return MPI_T_ERR_INVALID;
  if (!found->variable->is_counter()) return MPI_T_ERR_PVAR_NO_ATOMIC;
  const int error = T_pvar_read(self, tool, session, handle, buf);
  return error == MPI_SUCCESS ? reset(self, *found) : error;
}

int T_pvar_write(RankState& self,
                 ToolState& tool,
                 MPI_T_pvar_session session,
                 MPI_T_pvar_handle handle,
                 const void* buf) {
  PerformanceHandle* found = nullptr;
  if (const int error = find(tool, session, handle, &found); error != MPI_SUCCESS) return error;
  if (buf == nullptr) return MPI_T_ERR_INVALID;
  return set(self, *found, take_value(*found->variable, buf));
}

}  // namespace body

}  // namespace sorrel::abi
