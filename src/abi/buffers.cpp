// Attaching, detaching and flushing the buffers of buffered sends. MPI 5.0, 3.6.
#include "abi/body.hpp"
#include "abi/check.hpp"
#include "mpi/match/buffered.hpp"

namespace sorrel::abi {

namespace {

using mpi::BufferedSends;

int attach(RankState& self, BufferedSends& sends, void* buffer, MPI_Count size) {
  if (size < 0) return fail_count(self, size);
  return attach_buffer(self, sends, buffer, static_cast<std::size_t>(size));
}

/// `address` points to the program's pointer to the buffer.
int detach(RankState& self, BufferedSends& sends, void* address, mpi::IntegerPointer size) {
  std::size_t bytes = 0;
  const int error = detach_buffer(self, sends, static_cast<void**>(address), &bytes);
  size.set(static_cast<std::int64_t>(bytes));
  return error;
}

int start_flush_for(RankState& self, Comm& comm, BufferedSends& sends, MPI_Request* handle) {
  *handle = handle_of(mpi::start_flush(self, comm, sends));
  return MPI_SUCCESS;
}

}  // namespace

namespace body {

int Buffer_attach(RankState& self, void* buffer, MPI_Count size) {
  return attach(self, buffered_sends_of(self), buffer, size);
}

int Buffer_detach(RankState& self, void* buffer_addr, mpi::IntegerPointer size) {
  return detach(self, buffered_sends_of(self), buffer_addr, size);
}

int Comm_attach_buffer(RankState& self, Comm& comm, void* buffer, MPI_Count size) {
  return attach(self, mpi::buffered_sends_of(comm), buffer, size);
}

int Comm_detach_buffer(RankState& self, Comm& comm, void* buffer_addr, mpi::IntegerPointer size) {
  return detach(self, mpi::buffered_sends_of(comm), buffer_addr, size);
}

int Session_attach_buffer(RankState& self, mpi::Session& session, void* buffer, MPI_Count size) {
  return attach(self, *session.sends, buffer, size);
}

int Session_detach_buffer(RankState& self,
                          mpi::Session& session,
                          void* buffer_addr,
                          mpi::IntegerPointer size) {
  return detach(self, *session.sends, buffer_addr, size);
}

int Session_flush_buffer(RankState& self, mpi::Session& session) {
  flush_buffer(self, *session.sends);
  return MPI_SUCCESS;
}

int Session_iflush_buffer(RankState& self, mpi::Session& session, MPI_Request* request) {
  return start_flush_for(self, self.self_comm, *session.sends, request);
}

int Buffer_flush(RankState& self) {
  flush_buffer(self, buffered_sends_of(self));
  return MPI_SUCCESS;
}

int Buffer_iflush(RankState& self, MPI_Request* request) {
  return start_flush_for(self, self.self_comm, buffered_sends_of(self), request);
}

int Comm_flush_buffer(RankState& self, Comm& comm) {
  flush_buffer(self, mpi::buffered_sends_of(comm));
  return MPI_SUCCESS;
}

int Comm_iflush_buffer(RankState& self, Comm& comm, MPI_Request* request) {
  return start_flush_for(self, comm, mpi::buffered_sends_of(comm), request);
}

}  // namespace body

}  // namespace sorrel::abi
