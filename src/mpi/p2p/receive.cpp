#include "mpi/p2p/receive.hpp"

#include "mpi/p2p/deliver.hpp"
#include "mpi/rank_state.hpp"

namespace sorrel::mpi {

void describe_receive(Request& request,
                      RankState& self,
                      Comm& comm,
                      const ReceiveArguments& arguments) {
  request.kind = Request::Kind::receive;
  request.owner = &self;
  request.comm = &comm;
  request.buffer = arguments.buffer;
  request.element_count = arguments.count;
  request.type = &arguments.type;
  request.peer = arguments.source;
  request.tag = arguments.tag;
}

void start_receive(Request& request) {
  RankState& self = *request.owner;
  const Envelope wanted{
      .context = request.comm->shared->context(), .source = request.peer, .tag = request.tag};
  if (MatchEntry* entry = self.unexpected.take_for(wanted)) {
    deliver_and_dispose(request, static_cast<Message&>(*entry));
    return;
  }
  request.message.envelope = wanted;
  request.message.request = &request;
  self.posted.add(request.message);
}

void start_matched_receive(Request& request, Message& message) {
  deliver_and_dispose(request, message);
}

bool cancel_receive(Request& request) {
  if (request.completion.is_done() || !request.message.is_linked()) return false;
  request.owner->posted.remove(request.message);
  request.is_cancelled = true;
  complete(request);
  return true;
}

}  // namespace sorrel::mpi
