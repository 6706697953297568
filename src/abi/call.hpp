//! The frame of every C binding: find the calling rank, record the function, run the body, pass
//! errors to the error handler.
//!
//! make_bindings.py writes the bindings from functions.txt; a few are written by hand. A body
//! returns MPI_SUCCESS or an error class, normally through self.fail(class, message). Inlined into
//! its binding, so that the return address is the user's call.
#pragma once

#include <optional>

#include "abi/any_time.hpp"
#include "abi/thread_call.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/io/file.hpp"
#include "mpi/match/completion.hpp"
#include "mpi/match/rank_state.hpp"
#include "mpi/rma/window.hpp"

namespace sorrel::abi {

using mpi::Comm;
using mpi::FailedComm;
using mpi::RankState;

/// As move_to_main_thread(); ends the process if the caller has no rank.
[[gnu::cold]] RankState* require_rank(const char* function);

/// Raises "called before MPI_Init" or "after MPI_Finalize"; returns only if the error handler does.
[[gnu::cold]] int wrong_phase(RankState& self);

/// Passes an error to the handler of `comm`. Returns the result of the call for the user.
[[gnu::cold]] int raise(RankState& self, Comm& comm, int error_class);

/// Passes an error in a call on a window to the window's handler.
[[gnu::cold]] int raise(RankState& self, mpi::Win& win, int error_class);

/// Passes an error in a call on a file to the file's handler.
[[gnu::cold]] int raise(RankState& self, mpi::File& file, int error_class);

/// Passes an error in a call for MPI_FILE_NULL to its handler: opening and deleting files.
[[gnu::cold]] int raise_without_file(RankState& self, int error_class);

/// Passes an error in a call on a session to the session's handler.
[[gnu::cold]] int raise(RankState& self, mpi::Session& session, int error_class);

/// Passes an error in a call that gets an error handler to that one, with MPI_COMM_SELF.
[[gnu::cold]] int raise(RankState& self, MPI_Errhandler handler, int error_class);

/// Error: the window handle is not valid.
[[gnu::cold]] int raise_invalid_win(RankState& self, MPI_Win handle);

/// Error: the file handle is not valid. Goes to the handler of MPI_FILE_NULL.
[[gnu::cold]] int raise_invalid_file(RankState& self, MPI_File handle);

/// Error: the session handle is not valid.
[[gnu::cold]] int raise_invalid_session(RankState& self, MPI_Session handle);

/// Error: the communicator handle is not valid.
[[gnu::cold]] int raise_invalid_comm(RankState& self, MPI_Comm handle);

/// MPI_ERR_ARG: the argument of this name is a null pointer.
[[nodiscard, gnu::cold]] int fail_null(RankState& self, const char* argument);

/// The handle by which the user knows a communicator.
[[nodiscard]] MPI_Comm user_handle_of(const RankState& self, Comm& comm);

[[nodiscard]] inline MPI_Comm handle_or_null(Comm* comm) {
  return comm == nullptr ? MPI_COMM_NULL : handle_of(*comm);
}

/// Copies a text with its end to the user, and its length.
void give_text(const char* text, char* to, int* length);

/// The calling rank, in any phase; `self` is the running one, or null.
[[gnu::always_inline]] inline RankState& enter(RankState* self, const char* function) {
  if (self == nullptr) [[unlikely]]
    self = require_rank(function);
  self->fiber.call = function;
  self->fiber.call_site = __builtin_return_address(0);
  return *self;
}

/// The rare part of leave(). `failed` is released.
[[gnu::cold]] int leave_slowly(RankState& self, Comm& comm, int error);
[[gnu::cold]] int leave_slowly(RankState& self, FailedComm& failed, int error);

/// The end of a call, with its result: raises an error to the communicator, or the rank goes on to
/// compute. May suspend, and return on another worker; nothing of the rank may be used afterwards.
template <class Failed>
[[gnu::always_inline]] inline int leave(RankState& self, Failed& comm, int error) {
  if (core::is_error_or_sought(error)) [[unlikely]]
    return leave_slowly(self, comm, error);
  return error;
}

/// The rank between MPI_Init and MPI_Finalize that has started the calling thread and runs beside
/// it, or null. Such a thread may read the rank's objects, and not change its state.
[[nodiscard, gnu::cold]] RankState* rank_beside_thread();

/// An error in a call of such a thread. Returns the class where the handler is not fatal; a
/// handler of the user's is not called.
[[gnu::cold]] int raise_beside(RankState& rank, Comm& comm, const char* function, int error_class);

/// The default of a frame's `on_device`, which runs a call with memory of the host in the place of
/// buffers on a device, if it has any (device_call.hpp). Returns the result, or nothing.
struct StaysOnHost {
  std::optional<int> operator()(RankState& /*self*/) const { return std::nullopt; }
};

/// What a frame does where the phase is not Phase::running: the result, or the call goes on.
template <class OnDevice>
[[gnu::always_inline]] inline std::optional<int> call_rarely(RankState& self,
                                                             const OnDevice& on_device) {
  if (!mpi::is_running(self.phase)) return wrong_phase(self);
  return on_device(self);
}

/// body(self, comm) for the calling rank and a communicator.
template <class Body, class OnDevice = StaysOnHost>
[[gnu::always_inline]] inline int call_on(RankState* running,
                                          MPI_Comm handle,
                                          const char* function,
                                          Body&& body,
                                          const OnDevice& on_device = {}) {
  RankState& self = enter(running, function);
  if (self.phase != mpi::Phase::running) [[unlikely]] {
    if (const std::optional<int> ended = call_rarely(self, on_device)) return *ended;
  }
  Comm* comm = self.comm_of(handle);
  if (comm == nullptr) [[unlikely]]
    return raise_invalid_comm(self, handle);
  const int error = body(self, *comm);
  return leave(self, *comm, error);
}

/// body(self), errors to the handler of MPI_COMM_SELF. Between MPI_Init and MPI_Finalize only.
template <class Body, class OnDevice = StaysOnHost>
[[gnu::always_inline]] inline int call(RankState* running,
                                       const char* function,
                                       Body&& body,
                                       const OnDevice& on_device = {}) {
  RankState& self = enter(running, function);
  if (self.phase != mpi::Phase::running) [[unlikely]] {
    if (const std::optional<int> ended = call_rarely(self, on_device)) return *ended;
  }
  const int error = body(self);
  return error == MPI_SUCCESS ? MPI_SUCCESS : raise(self, self.self_comm, error);
}

/// As call(), also beside the rank: `body` changes nothing of it.
template <class Body>
[[gnu::always_inline]] inline int read(RankState* running, const char* function, Body&& body) {
  if (running == nullptr) [[unlikely]] {
    if (RankState* rank = rank_beside_thread(); rank != nullptr)
      return raise_beside(*rank, rank->self_comm, function, body(*rank));
  }
  return call(running, function, body);
}

/// As call(), errors to an error handler that the caller passes.
template <class Body>
[[gnu::always_inline]] inline int call_with_handler(RankState* running,
                                                    MPI_Errhandler handler,
                                                    const char* function,
                                                    Body&& body) {
  RankState& self = enter(running, function);
  if (!mpi::is_running(self.phase)) [[unlikely]]
    return wrong_phase(self);
  const int error = body(self);
  return error == MPI_SUCCESS ? MPI_SUCCESS : raise(self, handler, error);
}

/// As call_on(), also beside the rank: `body` changes nothing of it.
template <class Body>
[[gnu::always_inline]] inline int read_on(RankState* running,
                                          MPI_Comm handle,
                                          const char* function,
                                          Body&& body) {
  if (running == nullptr) [[unlikely]] {
    if (RankState* rank = rank_beside_thread(); rank != nullptr) {
      Comm* comm = rank->comm_of(handle);
      const int error =
          comm != nullptr ? body(*rank, *comm) : rank->fail(MPI_ERR_COMM, "invalid communicator");
      return raise_beside(*rank, comm != nullptr ? *comm : rank->self_comm, function, error);
    }
  }
  return call_on(running, handle, function, body);
}

/// body(self, comm) for a communicator whose handle the call may set to MPI_COMM_NULL.
template <class Body>
[[gnu::always_inline]] inline int call_on_variable(RankState* running,
                                                   MPI_Comm* handle,
                                                   const char* function,
                                                   Body&& body) {
  RankState& self = enter(running, function);
  if (handle == nullptr) [[unlikely]]
    return raise(self, self.self_comm, fail_null(self, "comm"));
  return call_on(running, *handle, function, body);
}

/// body(self, win) for the calling rank and a window.
template <class Body, class OnDevice = StaysOnHost>
[[gnu::always_inline]] inline int call_on_win(RankState* running,
                                              MPI_Win handle,
                                              const char* function,
                                              Body&& body,
                                              const OnDevice& on_device = {}) {
  RankState& self = enter(running, function);
  if (self.phase != mpi::Phase::running) [[unlikely]] {
    if (const std::optional<int> ended = call_rarely(self, on_device)) return *ended;
  }
  mpi::Win* win = mpi::win_of(handle);
  if (win == nullptr) [[unlikely]]
    return raise_invalid_win(self, handle);
  const int error = body(self, *win);
  return error == MPI_SUCCESS ? MPI_SUCCESS : raise(self, *win, error);
}

/// body(self, win) for a window whose handle the call may set to MPI_WIN_NULL.
template <class Body>
[[gnu::always_inline]] inline int call_on_win_variable(RankState* running,
                                                       MPI_Win* handle,
                                                       const char* function,
                                                       Body&& body) {
  RankState& self = enter(running, function);
  if (handle == nullptr) [[unlikely]]
    return raise(self, self.self_comm, fail_null(self, "win"));
  return call_on_win(running, *handle, function, body);
}

/// body(self, file) for the calling rank and a file.
template <class Body, class OnDevice = StaysOnHost>
[[gnu::always_inline]] inline int call_on_file(RankState* running,
                                               MPI_File handle,
                                               const char* function,
                                               Body&& body,
                                               const OnDevice& on_device = {}) {
  RankState& self = enter(running, function);
  if (self.phase != mpi::Phase::running) [[unlikely]] {
    if (const std::optional<int> ended = call_rarely(self, on_device)) return *ended;
  }
  mpi::File* file = mpi::file_of(handle);
  if (file == nullptr) [[unlikely]]
    return raise_invalid_file(self, handle);
  const int error = body(self, *file);
  return error == MPI_SUCCESS ? MPI_SUCCESS : raise(self, *file, error);
}

/// body(self), errors to the handler of MPI_FILE_NULL.
template <class Body>
[[gnu::always_inline]] inline int call_without_file(RankState* running,
                                                    const char* function,
                                                    Body&& body) {
  RankState& self = enter(running, function);
  if (!mpi::is_running(self.phase)) [[unlikely]]
    return wrong_phase(self);
  const int error = body(self);
  return error == MPI_SUCCESS ? MPI_SUCCESS : raise_without_file(self, error);
}

/// body(self, session) for the calling rank and a session.
template <class Body, class OnDevice = StaysOnHost>
int call_on_session(RankState* running,
                    MPI_Session handle,
                    const char* function,
                    Body&& body,
                    const OnDevice& on_device = {}) {
  RankState& self = enter(running, function);
  if (self.phase != mpi::Phase::running) [[unlikely]] {
    if (const std::optional<int> ended = call_rarely(self, on_device)) return *ended;
  }
  auto* session = mpi::object_of<mpi::Session>(handle);
  if (session == nullptr) return raise_invalid_session(self, handle);
  const int error = body(self, *session);
  return error == MPI_SUCCESS ? MPI_SUCCESS : raise(self, *session, error);
}

/// body(self, session) for a session whose handle the call may set to MPI_SESSION_NULL.
template <class Body>
int call_on_session_variable(RankState* running,
                             MPI_Session* handle,
                             const char* function,
                             Body&& body) {
  RankState& self = enter(running, function);
  if (handle == nullptr) return raise(self, self.self_comm, fail_null(self, "session"));
  return call_on_session(running, *handle, function, body);
}

/// body(self, failed), errors to the handler of the communicator that the body adds to `failed`.
template <class Body, class OnDevice = StaysOnHost>
[[gnu::always_inline]] inline int call_on_requests(RankState* running,
                                                   const char* function,
                                                   Body&& body,
                                                   const OnDevice& on_device = {}) {
  FailedComm failed;
  RankState& self = enter(running, function);
  if (self.phase != mpi::Phase::running) [[unlikely]] {
    if (const std::optional<int> ended = call_rarely(self, on_device)) return *ended;
  }
  const int error = body(self, failed);
  return leave(self, failed, error);
}

/// As call(), legal at any time and on any thread: see any_time.hpp.
template <class Body>
[[gnu::always_inline]] inline int call_any_time(RankState* running,
                                                const char* function,
                                                Body&& body) {
  const AnyTimeCall caller(running, function, __builtin_return_address(0));
  RankState& self = caller.rank();
  const int error = body(self);
  return error == MPI_SUCCESS ? MPI_SUCCESS : raise(self, self.self_comm, error);
}

/// Raises MPI_ERR_ARG for a null pointer where a call has no body; legal at any time.
[[gnu::cold]] int raise_null(const char* function, const char* argument);

}  // namespace sorrel::abi

/// For use in a body whose rank is `self`.
#define SORREL_NOT_NULL_IF(condition, argument)            \
  do {                                                     \
    if ((condition) && (argument) == nullptr) [[unlikely]] \
      return fail_null(self, #argument);                   \
  } while (false)
#define SORREL_NOT_NULL(argument) SORREL_NOT_NULL_IF(true, argument)

/// The profiling interface: MPI_X is a weak alias of PMPI_X, so that a tool can define MPI_X.
#define SORREL_WEAK(name) extern "C" __attribute__((weak, alias("P" #name))) decltype(P##name) name;
