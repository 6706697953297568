#include "mpi/match/probe.hpp"

#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

Message* find_message(RankState& self, const Comm& comm, int source, int tag) {
  return static_cast<Message*>(
      self.unexpected.find_for({.context = comm.shared->context(), .source = source, .tag = tag}));
}

Message& wait_for_message(RankState& self, const Comm& comm, int source, int tag) {
  for (;;) {
    if (Message* message = find_message(self, comm, source, tag)) return *message;
    const RankWait wait(self, WaitRecord::Kind::probe, &comm, {.peer = source, .tag = tag});
    self.probers.push(self.worker->running());
    self.worker->suspend();
  }
}

void set_aside(RankState& self, Comm& comm, Message& message) {
  SORREL_ASSERT(message.envelope.context == comm.shared->context());
  self.unexpected.remove(message);
  ++self.set_aside_count;
  retain(comm);
  message.comm = &comm;
}

}  // namespace sorrel::mpi
