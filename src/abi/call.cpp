#include "abi/call.hpp"

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "abi/tool_state.hpp"
#include "base/check.hpp"
#include "base/printable.hpp"
#include "check/checked_job.hpp"
#include "launch/exit_status.hpp"
#include "mpi/base/error_string.hpp"
#include "mpi/base/returned_codes.h"
#include "mpi/io/rank_files.hpp"
#include "mpi/match/observer.hpp"
#include "mpi/match/rank_events.hpp"
#include "mpi/rma/window.hpp"
#include "mpi/safepoint/safepoint.hpp"
#include "runtime/process_mode.hpp"
#include "runtime/program_calls.hpp"
#include "runtime/rank_guests.hpp"
#include "symbols/backtrace.hpp"

namespace sorrel::abi {

RankState* require_rank(const char* function) {
  RankState* self = rank_of_caller();
  if (self != nullptr) return self;
  if (runtime::awaits_init()) {
    std::fprintf(stderr, "sorrel: %s was called before MPI_Init\n", function);
  } else if (const RankState* rank = runtime::rank_of_thread(); rank == nullptr) {
    std::fprintf(stderr, "sorrel: %s was called from a thread that no rank has started\n",
                 function);
  } else if (core::Guest::current() != nullptr) {
    std::fprintf(
        stderr,
        "sorrel: rank %d: %s was called in a signal handler that interrupts a call of MPI\n",
        rank->world_rank, function);
  } else {
    std::fprintf(
        stderr,
        "sorrel: rank %d: %s was called from a thread other than the main thread of the "
        "rank: that needs MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE, and MPI_Init_thread "
        "has provided %s%s\n",
        rank->world_rank, function,
        rank->calling_level == MPI_THREAD_SINGLE ? "MPI_THREAD_SINGLE" : "MPI_THREAD_FUNNELED",
        sorrel_is_translated_program == nullptr || sorrel_is_translated_program() == 0
            ? ""
            : "; OMPI_MPI_THREAD_LEVEL=3 in the environment gives a program that was built with "
              "Open "
              "MPI the latter, MPIR_CVAR_DEFAULT_THREAD_LEVEL=MPI_THREAD_MULTIPLE one of MPICH's");
  }
  symbols::write_calls(runtime::calls_of_program());
  std::_Exit(MPI_ERR_OTHER);
}

namespace {

[[noreturn]] void end_job_with(RankState& self, const char* call, int error_class) {
  char message[512];
  const char* detail = self.detail().text();
  char prefix[24] = "";
  if (self.world != nullptr) std::snprintf(prefix, sizeof prefix, "rank %d: ", self.world_rank);
  std::snprintf(message, sizeof message, "%s%s: %s%s%s", prefix, call,
                mpi::error_string(error_class), detail[0] != '\0' ? ": " : "", detail);
  if (self.world == nullptr) {
    std::fprintf(stderr, "sorrel: %s\n", printable(message).c_str());
    symbols::write_calls(runtime::calls_of_program());
    std::_Exit(failure_status(error_class));
  }
  self.world->job().end_job(&self, error_class, message);
}

}  // namespace

int wrong_phase(RankState& self) {
  SORREL_ASSERT(!mpi::is_running(self.phase), "%s was called at the right time", self.fiber.call);
  const char* when = self.phase == mpi::Phase::before_init ? "before MPI_Init"
                     : self.phase == mpi::Phase::in_handler
                         ? "in a signal handler that interrupts a call of MPI"
                         : "after MPI_Finalize";
  return raise(self, self.self_comm, self.fail(MPI_ERR_OTHER, "called %s", when));
}

int raise_invalid_comm(RankState& self, MPI_Comm handle) {
  return raise(
      self, self.self_comm,
      self.fail(MPI_ERR_COMM, handle == MPI_COMM_NULL ? "invalid communicator handle: MPI_COMM_NULL"
                                                      : "invalid communicator handle"));
}

MPI_Comm user_handle_of(const RankState& self, Comm& comm) {
  if (&comm == &self.world_comm) return MPI_COMM_WORLD;
  return &comm == &self.self_comm ? MPI_COMM_SELF : handle_of(comm);
}

int fail_null(RankState& self, const char* argument) {
  return self.fail(MPI_ERR_ARG, "%s is a null pointer", argument);
}

namespace {

bool is_fatal(const mpi::Errhandler& handler) {
  using Action = mpi::Errhandler::Action;
  return handler.action == Action::fatal || handler.action == Action::abort;
}

/// What the call returns.
int returned_code(const RankState& self, int error_class) {
  const mpi::RankServices* services = self.services_if_used.get();
  const bool is_other = services != nullptr && services->returned_code != nullptr;
  return is_other ? services->returned_code(error_class) : error_class;
}

/// Acts on an error; `call` calls a user's handler.
template <class Call>
int act(RankState& self, const mpi::Errhandler& handler, int error_class, Call&& call) {
  if (mpi::Observer* observer = mpi::observer_of(self); observer != nullptr)
    observer->on_error(self, error_class, self.detail().text(), is_fatal(handler));
  switch (handler.action) {
    case mpi::Errhandler::Action::give_back:
      break;
    case mpi::Errhandler::Action::call: {
      const core::PinnedFiber pinned;
      call(&error_class);
      break;
    }
    case mpi::Errhandler::Action::fatal:
    case mpi::Errhandler::Action::abort:
      end_job_with(self, check::name_of_call(self), error_class);
  }
  self.detail() = {};
  return returned_code(self, error_class);
}

}  // namespace

RankState* rank_beside_thread() {
  if (rank_of_caller() != nullptr || runtime::awaits_init()) return nullptr;
  RankState* rank = runtime::rank_of_thread();
  if (rank == nullptr) return nullptr;
  // The rank may run at this moment.
  const auto phase = __atomic_load_n(&rank->phase, __ATOMIC_RELAXED);
  return mpi::is_running(phase) ? rank : nullptr;
}

int raise_beside(RankState& rank, Comm& comm, const char* function, int error_class) {
  if (error_class != MPI_SUCCESS && is_fatal(*comm.errhandler))
    end_job_with(rank, function, error_class);
  return returned_code(rank, error_class);
}

namespace {

int raise(RankState& self, Comm& comm, const mpi::Errhandler& handler, int error_class) {
  return act(self, handler, error_class, [&](int* error_code) {
    SORREL_CHECK(handler.function != nullptr, "an error handler without a function");
    MPI_Comm comm_handle = user_handle_of(self, comm);
    handler.function(&comm_handle, error_code);
  });
}

/// Errors without an object are errors of MPI_COMM_SELF, MPI 5.0, 9.3. Programs that were built for
/// another MPI expect MPI_COMM_WORLD, as in MPI 3.1, unless they set a handler of MPI_COMM_SELF.
Comm& comm_with_handler(RankState& self, Comm& comm) {
  if (&comm != &self.self_comm || sorrel_is_translated_program == nullptr) return comm;
  const bool is_as_begun = comm.errhandler == mpi::errhandler_of(MPI_ERRORS_ARE_FATAL);
  const bool has_world = self.world_comm.shared != nullptr;
  return is_as_begun && has_world && sorrel_is_translated_program() != 0 ? self.world_comm : comm;
}

}  // namespace

int raise(RankState& self, Comm& comm, int error_class) {
  // The own communicator of a file: the file's handler gets the error.
  if (comm.file != nullptr) return raise(self, *comm.file, error_class);
  Comm& used = comm_with_handler(self, comm);
  return raise(self, used, *used.errhandler, error_class);
}

namespace {

/// A rank that goes on in another process does so here: nothing of it is used afterwards.
int enter_safepoint(RankState& self, int result) {
  SORREL_ASSERT(mpi::current_rank() == &self, "rank %d goes to a safepoint on another flow",
                self.world_rank);
  self.world->safepoint()->enter(self);
  return result;
}

int end_call(RankState& self, int result) {
  if (mpi::RankEvents* events = mpi::events_of(self); events != nullptr) {
    events->record_worker();
    if (events->is_due()) deliver_events(self, ToolState::of(self));
  }
  mpi::Safepoint* const safepoint = self.world->safepoint();
  if (safepoint != nullptr && safepoint->is_due(self)) return enter_safepoint(self, result);
  if (core::are_loans_sought()) self.worker->begin_burst(self.burst, self.fiber.call_site);
  return result;
}

}  // namespace

int leave_slowly(RankState& self, Comm& comm, int error) {
  return end_call(self, error == MPI_SUCCESS ? MPI_SUCCESS : raise(self, comm, error));
}

int leave_slowly(RankState& self, FailedComm& failed, int error) {
  if (error != MPI_SUCCESS) error = raise(self, failed.value_or(self.self_comm), error);
  // Here, and not by the caller, which may return on another worker.
  failed.reset();
  return end_call(self, error);
}

int raise(RankState& self, MPI_Errhandler handler, int error_class) {
  const mpi::Errhandler* passed = mpi::errhandler_of(handler);
  const mpi::Errhandler& used = passed != nullptr ? *passed : *self.self_comm.errhandler;
  return raise(self, self.self_comm, used, error_class);
}

int raise(RankState& self, mpi::Win& win, int error_class) {
  return act(self, *win.errhandler, error_class, [&](int* error_code) {
    SORREL_CHECK(win.errhandler->win_function != nullptr, "an error handler without a function");
    MPI_Win handle = handle_of(win);
    win.errhandler->win_function(&handle, error_code);
  });
}

int raise(RankState& self, mpi::File& file, int error_class) {
  return act(self, *file.errhandler, error_class, [&](int* error_code) {
    SORREL_CHECK(file.errhandler->file_function != nullptr, "an error handler without a function");
    MPI_File handle = handle_of(file);
    file.errhandler->file_function(&handle, error_code);
  });
}

int raise_without_file(RankState& self, int error_class) {
  const mpi::Errhandler& errhandler = *mpi::RankFiles::of(self).null_errhandler;
  return act(self, errhandler, error_class, [&](int* error_code) {
    MPI_File handle = MPI_FILE_NULL;
    errhandler.file_function(&handle, error_code);
  });
}

int raise_invalid_file(RankState& self, MPI_File handle) {
  return raise_without_file(
      self, self.fail(MPI_ERR_FILE, handle == MPI_FILE_NULL ? "invalid file handle: MPI_FILE_NULL"
                                                            : "invalid file handle"));
}

int raise(RankState& self, mpi::Session& session, int error_class) {
  return act(self, *session.errhandler, error_class, [&](int* error_code) {
    MPI_Session handle = mpi::handle_of(session);
    auto* function = session.errhandler->function;
    reinterpret_cast<MPI_Session_errhandler_function*>(function)(&handle, error_code);
  });
}

int raise_invalid_win(RankState& self, MPI_Win handle) {
  return raise(self, self.self_comm,
               self.fail(MPI_ERR_WIN, handle == MPI_WIN_NULL ? "invalid window handle: MPI_WIN_NULL"
                                                             : "invalid window handle"));
}

int raise_invalid_session(RankState& self, MPI_Session handle) {
  return raise(self, self.self_comm,
               self.fail(MPI_ERR_SESSION, handle == MPI_SESSION_NULL
                                              ? "invalid session handle: MPI_SESSION_NULL"
                                              : "invalid session handle"));
}

int raise_null(const char* function, const char* argument) {
  RankState* running = mpi::current_rank();
  if (running == nullptr) {
    const auto again = [=] { return raise_null(function, argument); };
    if (const auto result = call_on_thread(function, nullptr, again)) return *result;
  }
  return call_any_time(running, function,
                       [&](RankState& self) { return fail_null(self, argument); });
}

void give_text(const char* text, char* to, int* length) {
  const std::size_t size = std::strlen(text);
  SORREL_ASSERT(size < INT_MAX, "a text of %zu bytes", size);
  std::memcpy(to, text, size + 1);
  *length = static_cast<int>(size);
}

}  // namespace sorrel::abi
