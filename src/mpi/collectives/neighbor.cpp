#include "mpi/collectives/neighbor.hpp"

#include <vector>

#include "mpi/collectives/traffic.hpp"
#include "mpi/match/start.hpp"
#include "mpi/match/wait.hpp"

namespace sorrel::mpi {

namespace {

/// A neighbourhood collective in progress, or one that is started repeatedly: a request for each
/// edge. They belong to the operation; the user's request is complete when all are.
class NeighborOperation final : public Operation {
 public:
  NeighborOperation(const Member& member, const NeighborBlocks& blocks, const char* name)
      : name_(name), request_(make_operation_request(member.self, member.comm, *this)) {
    const std::int32_t tag = neighbor_tag(blocks.kind);
    for_each_edge(
        neighborhood_of(member.comm), blocks,
        [&](const TypedBuffer& block, std::int32_t source) {
          add(make_receive(member.self, member.comm,
                           {.buffer = block.buffer,
                            .count = block.count,
                            .type = const_cast<Datatype&>(*block.type),
                            .source = source,
                            .tag = tag}));
        },
        [&](const TypedBuffer& block, std::int32_t destination) {
          add(make_send(member.self, member.comm,
                        {.buffer = block.buffer,
                         .count = block.count,
                         .type = const_cast<Datatype&>(*block.type),
                         .destination = destination,
                         .tag = tag},
                        SendMode::standard));
        });
  }

  [[nodiscard]] Request& request() { return request_; }

  [[nodiscard]] int start() override {
    // One more, so that the operation is not complete before all have started.
    missing_count_ = parts_.size() + 1;
    failed_ = {};
    for (Request* part : parts_) {
      const int error = restart(*part);
      SORREL_ASSERT(error == MPI_SUCCESS, "only buffered sends can fail to start");
      static_cast<void>(error);
      // The caller waits for the whole, so a send that a wait could detach is detached now.
      (void)is_complete(*part);
    }
    count_one();
    return MPI_SUCCESS;
  }

  void finish_part(Request& part) override {
    deactivate(part);
    const bool is_wrong = part.error != MPI_SUCCESS || is_short(part);
    if (is_wrong && failed_.error == MPI_SUCCESS) {
      failed_ = {.error = MPI_ERR_TRUNCATE,
                 .source = part.status_source,
                 .bytes = part.error == MPI_SUCCESS ? part.status_bytes : part.truncated_bytes,
                 .room = part.element_count * part.type->size()};
    }
    count_one();
  }

  [[nodiscard]] int explain(RankState& self, int error_class) const override {
    return self.fail(error_class,
                     "the message from rank %d has %zu bytes, its block in recvbuf %zu; they must "
                     "be the same",
                     failed_.source, failed_.bytes, failed_.room);
  }

  void name(OperationName& to) const override { to.add(name_); }

  [[nodiscard]] std::optional<std::int32_t> awaited_rank() const override {
    for (const Request* part : parts_) {
      if (!part->completion.is_done()) return part->comm->shared->group()->world_rank(part->peer);
    }
    return std::nullopt;
  }

  void end() override {
    for (Request* part : parts_)
      recycle(*part);
    delete this;
  }

 private:
  /// The first message that did not fill its block.
  struct Failure {
    int error = MPI_SUCCESS;
    std::int32_t source = 0;
    std::size_t bytes = 0;
    std::size_t room = 0;
  };

  ~NeighborOperation() = default;

  void add(Request& part) {
    make_persistent(part);
    part.duties.is_part = true;
    part.main_part = &request_;
    parts_.push_back(&part);
  }

  void count_one() {
    SORREL_ASSERT(missing_count_ != 0, "more parts are complete than were started");
    if (--missing_count_ != 0) return;
    request_.error = failed_.error;
    complete(request_);
  }

  const char* const name_;
  Request& request_;
  std::vector<Request*> parts_;
  std::size_t missing_count_ = 0;
  Failure failed_;
};

}  // namespace

const Neighborhood& neighborhood_of(Comm& comm) {
  SORREL_ASSERT(comm.topology != nullptr);
  if (comm.neighborhood == nullptr)
    comm.neighborhood.reset(new Neighborhood(comm.topology->neighborhood_of(comm.rank)));
  return *comm.neighborhood;
}

int exchange_with_neighbors(const Member& member, const NeighborBlocks& blocks) {
  Traffic traffic(member, neighbor_tag(blocks.kind));
  for_each_edge(
      neighborhood_of(member.comm), blocks,
      [&](const TypedBuffer& block, std::int32_t source) { traffic.receive(block, source); },
      [&](const TypedBuffer& block, std::int32_t destination) {
        traffic.send(block, destination);
      });
  return traffic.finish();
}

Request& make_neighbor_request(const Member& member,
                               const NeighborBlocks& blocks,
                               Request::Life life,
                               const char* name) {
  // Owned by its request.
  auto* operation = new NeighborOperation(member, blocks, name);
  operation->request().life = life;
  return operation->request();
}

}  // namespace sorrel::mpi
