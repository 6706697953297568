// Probing, matched or not, and the status accessors. MPI 5.0, 3.2.5, 3.8.
#include "mpi/match/probe.hpp"

#include "abi/body.hpp"
#include "abi/p2p_arguments.hpp"
#include "mpi/base/status.hpp"
#include "mpi/match/arrival.hpp"
#include "mpi/match/idle_call.hpp"
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

/// Sets *message to the message of a handle, null for MPI_MESSAGE_NO_PROC, and *comm to its
/// communicator, whose error handler takes the errors of the call.
int check_handle(
    RankState& self, FailedComm& failed, MPI_Message handle, Message** message, Comm** comm) {
  *message = nullptr;
  *comm = &self.self_comm;
  if (handle != MPI_MESSAGE_NO_PROC) {
    *message = mpi::object_of<Message>(handle);
    if (*message == nullptr) return self.fail(MPI_ERR_REQUEST, "invalid message handle");
    *comm = (*message)->comm;
  }
  failed.add(**comm);
  return MPI_SUCCESS;
}

mpi::ReceiveArguments matched_arguments(const UserBuffer& user, mpi::Datatype& type) {
  return {user.buffer, static_cast<std::size_t>(user.count), type, MPI_PROC_NULL, MPI_ANY_TAG};
}

/// Completes a receive with the message that was set aside for it; null: from MPI_PROC_NULL.
void receive_matched(Request& request, Message* message, MPI_Message* handle) {
  *handle = MPI_MESSAGE_NULL;
  activate(request);
  if (message == nullptr) {
    complete(request);
    return;
  }
  Comm& comm = *message->comm;
  --request.owner->set_aside_count;
  deliver_and_dispose(request, *message);
  // The message's reference. FailedComm has another until the call ends.
  release(comm);
}

/// The checked arguments of a receive of a matched message.
struct Matched {
  Message* message = nullptr;
  Comm* comm = nullptr;
  mpi::Datatype* type = nullptr;
};

int check_matched(RankState& self,
                  FailedComm& failed,
                  const UserBuffer& user,
                  MPI_Message handle,
                  Matched& matched) {
  const int error = check_handle(self, failed, handle, &matched.message, &matched.comm);
  return error != MPI_SUCCESS ? error : check_buffer(self, user, &matched.type);
}

}  // namespace

namespace body {

int Probe(RankState& self, Comm& comm, int source, int tag, MPI_Status* status) {
  if (const int error = check(self, comm, source, tag); error != MPI_SUCCESS) return error;
  give_status(source == MPI_PROC_NULL ? nullptr : &wait_for_message(self, comm, source, tag),
              status);
  return MPI_SUCCESS;
}

int Iprobe(RankState& self, Comm& comm, int source, int tag, const mpi::TestResult& result) {
  if (const int error = check(self, comm, source, tag); error != MPI_SUCCESS) return error;
  const Message* message = source == MPI_PROC_NULL ? nullptr : find(self, comm, source, tag);
  *result.flag = source == MPI_PROC_NULL || message != nullptr ? 1 : 0;
  if (*result.flag == 1) {
    note_idle_call(self);
    give_status(message, result.status);
  }
  return MPI_SUCCESS;
}

int Mprobe(
    RankState& self, Comm& comm, int source, int tag, MPI_Message* message, MPI_Status* status) {
  if (const int error = check(self, comm, source, tag); error != MPI_SUCCESS) return error;
  Message* found = source == MPI_PROC_NULL ? nullptr : &wait_for_message(self, comm, source, tag);
  if (found != nullptr) set_aside(self, comm, *found);
  give_status(found, status);
  *message = handle_of(found);
  return MPI_SUCCESS;
}

int Improbe(RankState& self,
            Comm& comm,
            int source,
            int tag,
            int* flag,
            MPI_Message* message,
            MPI_Status* status) {
  if (const int error = check(self, comm, source, tag); error != MPI_SUCCESS) return error;
  Message* found = source == MPI_PROC_NULL ? nullptr : find(self, comm, source, tag);
  *flag = source == MPI_PROC_NULL || found != nullptr ? 1 : 0;
  if (*flag == 0) return MPI_SUCCESS;
  if (found != nullptr) set_aside(self, comm, *found);
  give_status(found, status);
  *message = handle_of(found);
  return MPI_SUCCESS;
}

int Mrecv(RankState& self,
          FailedComm& failed,
          const UserBuffer& user,
          MPI_Message* message,
          MPI_Status* status) {
  Matched matched;
  if (const int error = check_matched(self, failed, user, *message, matched); error != MPI_SUCCESS)
    return error;
  Request request;
  describe_receive(request, self, *matched.comm, matched_arguments(user, *matched.type));
  receive_matched(request, matched.message, message);
  wait_for(request);
  return give_result(self, request, status);
}

int Imrecv(RankState& self,
           FailedComm& failed,
           const UserBuffer& user,
           MPI_Message* message,
           MPI_Request* request) {
  Matched matched;
  if (const int error = check_matched(self, failed, user, *message, matched); error != MPI_SUCCESS)
    return error;
  Request& made = make_receive(self, *matched.comm, matched_arguments(user, *matched.type));
  *request = mpi::handle_of(made);
  receive_matched(made, matched.message, message);
  return MPI_SUCCESS;
}

int Status_get_source(const MPI_Status* status, int* source) {
  *source = status->MPI_SOURCE;
  return MPI_SUCCESS;
}

int Status_get_tag(const MPI_Status* status, int* tag) {
  *tag = status->MPI_TAG;
  return MPI_SUCCESS;
}

int Status_get_error(const MPI_Status* status, int* error) {
  *error = status->MPI_ERROR;
  return MPI_SUCCESS;
}

int Status_set_source(MPI_Status* status, int source) {
  status->MPI_SOURCE = source;
  return MPI_SUCCESS;
}

int Status_set_tag(MPI_Status* status, int tag) {
  status->MPI_TAG = tag;
  return MPI_SUCCESS;
}

int Status_set_error(MPI_Status* status, int error) {
  status->MPI_ERROR = error;
  return MPI_SUCCESS;
}

}  // namespace body

}  // namespace sorrel::abi
