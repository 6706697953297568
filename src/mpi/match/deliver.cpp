#include "mpi/match/deliver.hpp"

namespace sorrel::mpi {

void move_data(Request& receive, const void* buffer, std::size_t count, const Datatype& type) {
  receive.status_bytes =
      copy(buffer, count, type, receive.buffer, receive.element_count, *receive.type);
  if (receive.status_bytes < count * type.size()) {
    receive.error = MPI_ERR_TRUNCATE;
    // The size that did not fit, for the error's text; the status holds the received size.
    receive.truncated_bytes = count * type.size();
  }
}

}  // namespace sorrel::mpi
