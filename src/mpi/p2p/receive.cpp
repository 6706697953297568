#include "mpi/p2p/receive.hpp"

namespace sorrel::mpi {

bool cancel_receive(Request& request) {
  if (request.completion.is_done() || !request.message.is_linked()) return false;
  request.owner->posted.remove(request.message);
  request.is_cancelled = true;
  complete(request);
  return true;
}

}  // namespace sorrel::mpi
