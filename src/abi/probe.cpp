// Probing, matched or not, and the status accessors. MPI 5.0, 3.2.5, 3.8.
#include "mpi/match/probe.hpp"

#include "abi/call.hpp"
#include "abi/check.hpp"
#include "abi/outcome.hpp"
#include "mpi/base/status.hpp"
#include "mpi/match/arrival.hpp"
#include "mpi/match/start.hpp"
#include "mpi/match/wait.hpp"

namespace sorrel::abi {

namespace {

using mpi::Message;
using mpi::Request;

int check(RankState& self, const Comm& comm, int source, int tag) {
  if (!is_tag(tag) && tag != MPI_ANY_TAG) return fail_tag(self, tag);
  if (source == MPI_PROC_NULL || source == MPI_ANY_SOURCE) return MPI_SUCCESS;
  return check_rank(self, comm, "source", source);
}

void give_status(const Message* message, MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  if (message == nullptr) {
    mpi::set_empty_status(*status, MPI_PROC_NULL);
  } else {
    mpi::set_status(*status, message->envelope.source, message->envelope.tag, message->bytes,
                    false);
  }
}

/// Searches twice, with progress in between.
Message* find(RankState& self, const Comm& comm, int source, int tag) {
  Message* message = find_message(self, comm, source, tag);
  if (message != nullptr) return message;
  make_progress(self);
  return find_message(self, comm, source, tag);
}

MPI_Message handle_of(Message* message) {
  return message == nullptr ? MPI_MESSAGE_NO_PROC : reinterpret_cast<MPI_Message>(message);
}

/// Completes a receive with the message that was set aside for it; null: from MPI_PROC_NULL.
void receive_matched(Request& request, Message* message) {
  request.is_active = true;
  if (message == nullptr) {
    complete(request);
  } else {
    deliver_and_dispose(request, *message);
  }
}

/// Calls body(self, comm, message) for the message of a handle, null for MPI_MESSAGE_NO_PROC. comm
/// is the message's communicator, whose error handler is used. A body that succeeds receives the
/// message: the handle is MPI_MESSAGE_NULL already when the body starts.
template <class Check, class Body>
[[gnu::always_inline]] inline int call_on_message(const char* function,
                                                  MPI_Message* handle,
                                                  Check&& check,
                                                  Body&& body) {
  RankState& self = enter(function);
  if (self.phase != mpi::Phase::running) [[unlikely]]
    return wrong_phase(self);
  if (handle == nullptr) [[unlikely]]
    return raise(self, self.self_comm, fail_null(self, "message"));
  Message* message = nullptr;
  if (*handle != MPI_MESSAGE_NO_PROC) {
    message = mpi::object_of<Message>(*handle);
    if (message == nullptr)
      return raise(self, self.self_comm, self.fail(MPI_ERR_REQUEST, "invalid message handle"));
  }
  Comm& comm = message == nullptr ? self.self_comm : *message->comm;
  int error = check(self);
  if (error != MPI_SUCCESS) return raise(self, comm, error);
  *handle = MPI_MESSAGE_NULL;
  error = body(self, comm, message);
  if (error != MPI_SUCCESS) error = raise(self, comm, error);
  // The message's reference, released last because the program may have freed the communicator.
  if (message != nullptr) release(comm);
  return error;
}

}  // namespace

#define SORREL_BINDINGS "abi/matched_receive_bindings.inc"
#include "abi/both_counts.hpp"

extern "C" {

int PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  return call_on(comm, "MPI_Probe", [&](RankState& self, Comm& c) {
    if (const int error = check(self, c, source, tag); error != MPI_SUCCESS) return error;
    give_status(source == MPI_PROC_NULL ? nullptr : &wait_for_message(self, c, source, tag),
                status);
    return MPI_SUCCESS;
  });
}

int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  return call_on(comm, "MPI_Iprobe", [&](RankState& self, Comm& c) {
    SORREL_NOT_NULL(flag);
    if (const int error = check(self, c, source, tag); error != MPI_SUCCESS) return error;
    const Message* message = source == MPI_PROC_NULL ? nullptr : find(self, c, source, tag);
    *flag = source == MPI_PROC_NULL || message != nullptr ? 1 : 0;
    if (*flag == 1) give_status(message, status);
    return MPI_SUCCESS;
  });
}

int PMPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  return call_on(comm, "MPI_Mprobe", [&](RankState& self, Comm& c) {
    SORREL_NOT_NULL(message);
    if (const int error = check(self, c, source, tag); error != MPI_SUCCESS) return error;
    Message* found = source == MPI_PROC_NULL ? nullptr : &wait_for_message(self, c, source, tag);
    if (found != nullptr) set_aside(self, c, *found);
    give_status(found, status);
    *message = handle_of(found);
    return MPI_SUCCESS;
  });
}

int PMPI_Improbe(
    int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  return call_on(comm, "MPI_Improbe", [&](RankState& self, Comm& c) {
    SORREL_NOT_NULL(flag);
    SORREL_NOT_NULL(message);
    if (const int error = check(self, c, source, tag); error != MPI_SUCCESS) return error;
    Message* found = source == MPI_PROC_NULL ? nullptr : find(self, c, source, tag);
    *flag = source == MPI_PROC_NULL || found != nullptr ? 1 : 0;
    if (*flag == 0) return MPI_SUCCESS;
    if (found != nullptr) set_aside(self, c, *found);
    give_status(found, status);
    *message = handle_of(found);
    return MPI_SUCCESS;
  });
}

int PMPI_Status_get_source(const MPI_Status* status, int* source) {
  if (status == nullptr) return raise_null("MPI_Status_get_source", "status");
  if (source == nullptr) return raise_null("MPI_Status_get_source", "source");
  *source = status->MPI_SOURCE;
  return MPI_SUCCESS;
}

int PMPI_Status_get_tag(const MPI_Status* status, int* tag) {
  if (status == nullptr) return raise_null("MPI_Status_get_tag", "status");
  if (tag == nullptr) return raise_null("MPI_Status_get_tag", "tag");
  *tag = status->MPI_TAG;
  return MPI_SUCCESS;
}

int PMPI_Status_get_error(const MPI_Status* status, int* err) {
  if (status == nullptr) return raise_null("MPI_Status_get_error", "status");
  if (err == nullptr) return raise_null("MPI_Status_get_error", "err");
  *err = status->MPI_ERROR;
  return MPI_SUCCESS;
}

int PMPI_Status_set_source(MPI_Status* status, int source) {
  if (status == nullptr) return raise_null("MPI_Status_set_source", "status");
  status->MPI_SOURCE = source;
  return MPI_SUCCESS;
}

int PMPI_Status_set_tag(MPI_Status* status, int tag) {
  if (status == nullptr) return raise_null("MPI_Status_set_tag", "status");
  status->MPI_TAG = tag;
  return MPI_SUCCESS;
}

int PMPI_Status_set_error(MPI_Status* status, int err) {
  if (status == nullptr) return raise_null("MPI_Status_set_error", "status");
  status->MPI_ERROR = err;
  return MPI_SUCCESS;
}

SORREL_WEAK(int, MPI_Probe, (int source, int tag, MPI_Comm comm, MPI_Status* status))
SORREL_WEAK(int, MPI_Iprobe, (int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status))
SORREL_WEAK(int,
            MPI_Mprobe,
            (int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status))
SORREL_WEAK(
    int,
    MPI_Improbe,
    (int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status))
SORREL_WEAK(int, MPI_Status_get_source, (const MPI_Status* status, int* source))
SORREL_WEAK(int, MPI_Status_get_tag, (const MPI_Status* status, int* tag))
SORREL_WEAK(int, MPI_Status_get_error, (const MPI_Status* status, int* err))
SORREL_WEAK(int, MPI_Status_set_source, (MPI_Status * status, int source))
SORREL_WEAK(int, MPI_Status_set_tag, (MPI_Status * status, int tag))
SORREL_WEAK(int, MPI_Status_set_error, (MPI_Status * status, int err))

}  // extern "C"

}  // namespace sorrel::abi
