#include "mpi/match/traced_message.hpp"

#include "mpi/match/observer.hpp"
#include "mpi/match/request.hpp"
#include "trace/arrival.hpp"

namespace sorrel::mpi {

void trace_send(const RankState& self,
                const Comm& comm,
                std::int32_t destination,
                std::int32_t tag,
                std::size_t bytes) {
  const trace::MessageRecord message{.context = comm.shared->context(),
                                     .tag = tag,
                                     .source = comm.rank,
                                     .rank = self.world_rank,
                                     .destination = comm.shared->group()->world_rank(destination),
                                     .bytes = bytes};
  self.worker->tracer()->add(message.as(trace::Kind::send));
}

void trace_receive(const Request& receive, const Envelope& envelope, std::size_t bytes) {
  const RankState& self = *receive.owner;
  if (Observer* observer = observer_of(self); observer != nullptr)
    observer->on_receive(receive, envelope, bytes);
  const trace::MessageRecord message{.context = envelope.context,
                                     .tag = envelope.tag,
                                     .source = envelope.source,
                                     .rank = self.world_rank,
                                     .destination = self.world_rank,
                                     .bytes = bytes};
  self.worker->tracer()->add(trace::record_of_arrival(message, trace::Kind::receive));
}

}  // namespace sorrel::mpi
