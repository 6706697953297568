// Attaching, detaching and flushing the buffers of buffered sends. MPI 5.0, 3.6.
#include "abi/call.hpp"
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
template <class Count>
int detach(RankState& self, BufferedSends& sends, void* address, Count* size) {
  std::size_t bytes = 0;
  const int error = detach_buffer(self, sends, static_cast<void**>(address), &bytes);
  *size = static_cast<Count>(bytes);
  return error;
}

int start_flush_for(RankState& self, Comm& comm, BufferedSends& sends, MPI_Request* handle) {
  *handle = handle_of(mpi::start_flush(self, comm, sends));
  return MPI_SUCCESS;
}

}  // namespace

#define SORREL_BINDINGS "abi/buffers_bindings.inc"
#include "abi/both_counts.hpp"

extern "C" {

int PMPI_Buffer_flush(void) {
  return call("MPI_Buffer_flush", [&](RankState& self) {
    flush_buffer(self, buffered_sends_of(self));
    return MPI_SUCCESS;
  });
}

int PMPI_Buffer_iflush(MPI_Request* request) {
  return call("MPI_Buffer_iflush", [&](RankState& self) {
    SORREL_NOT_NULL(request);
    return start_flush_for(self, self.self_comm, buffered_sends_of(self), request);
  });
}

int PMPI_Comm_flush_buffer(MPI_Comm comm) {
  return call_on(comm, "MPI_Comm_flush_buffer", [&](RankState& self, Comm& c) {
    flush_buffer(self, mpi::buffered_sends_of(c));
    return MPI_SUCCESS;
  });
}

int PMPI_Comm_iflush_buffer(MPI_Comm comm, MPI_Request* request) {
  return call_on(comm, "MPI_Comm_iflush_buffer", [&](RankState& self, Comm& c) {
    SORREL_NOT_NULL(request);
    return start_flush_for(self, c, mpi::buffered_sends_of(c), request);
  });
}

SORREL_WEAK(int, MPI_Buffer_flush, (void))
SORREL_WEAK(int, MPI_Buffer_iflush, (MPI_Request * request))
SORREL_WEAK(int, MPI_Comm_flush_buffer, (MPI_Comm comm))
SORREL_WEAK(int, MPI_Comm_iflush_buffer, (MPI_Comm comm, MPI_Request* request))

}  // extern "C"

}  // namespace sorrel::abi
