#include "mpi/match/send_receive.hpp"

#include <cstdlib>
#include <memory>

#include "mpi/datatype/copy.hpp"
#include "mpi/match/start.hpp"
#include "mpi/match/wait.hpp"

namespace sorrel::mpi {

namespace {

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

/// Memory of malloc, as requests that own their buffer free it.
using Copy = std::unique_ptr<void, Free>;

/// A packed copy of the buffer that a receive will overwrite.
int copy_packed(RankState& self, const ReceiveArguments& arguments, Copy* copy) {
  const std::size_t size = arguments.count * arguments.type.size();
  copy->reset(std::malloc(size + 1));
  if (*copy == nullptr)
    return self.fail(MPI_ERR_NO_MEM, "not enough memory for a copy of %zu bytes", size);
  pack(arguments.buffer, arguments.count, arguments.type, copy->get());
  return MPI_SUCCESS;
}

SendArguments send_of(const Copy& copy,
                      const ReceiveArguments& arguments,
                      const ReplacedData& replaced) {
  return {.buffer = copy.get(),
          .count = arguments.count * arguments.type.size(),
          .type = *datatype_from_handle(MPI_BYTE),
          .destination = replaced.destination,
          .tag = replaced.tag};
}

}  // namespace

void send_receive(RankState& self,
                  Comm& comm,
                  const SendArguments& send_arguments,
                  const ReceiveArguments& receive_arguments,
                  Request& receive) {
  describe_receive(receive, self, comm, receive_arguments);
  if (receive_arguments.source != MPI_PROC_NULL) start_receive(receive);
  if (send_arguments.destination != MPI_PROC_NULL)
    send(self, comm, send_arguments, SendMode::standard);
  if (receive_arguments.source != MPI_PROC_NULL) wait_for(receive);
}

int start_send_receive(RankState& self,
                       Comm& comm,
                       const SendArguments& send_arguments,
                       const ReceiveArguments& receive_arguments,
                       MPI_Request* handle) {
  Request& receive = make_receive(self, comm, receive_arguments);
  Request& send = make_send(self, comm, send_arguments, SendMode::standard);
  *handle = handle_of(receive);
  return start_pair(receive, send);
}

int replace(RankState& self,
            Comm& comm,
            const ReplacedData& replaced,
            const ReceiveArguments& arguments,
            Request& receive) {
  Copy copy;
  if (const int error = copy_packed(self, arguments, &copy); error != MPI_SUCCESS) return error;
  send_receive(self, comm, send_of(copy, arguments, replaced), arguments, receive);
  return MPI_SUCCESS;
}

int start_replace(RankState& self,
                  Comm& comm,
                  const ReplacedData& replaced,
                  const ReceiveArguments& arguments,
                  MPI_Request* handle) {
  Copy copy;
  if (const int error = copy_packed(self, arguments, &copy); error != MPI_SUCCESS) return error;
  Request& receive = make_receive(self, comm, arguments);
  Request& send = make_send(self, comm, send_of(copy, arguments, replaced), SendMode::standard);
  (void)copy.release();
  send.duties.owns_buffer = true;
  send.buffered_charge = 0;
  *handle = handle_of(receive);
  return start_pair(receive, send);
}

}  // namespace sorrel::mpi
