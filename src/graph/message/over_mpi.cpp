#include <limits>
#include <vector>

#include <sorrel/graph/over_mpi.hpp>

#include "base/check.hpp"

namespace sorrel::graph {

namespace {

class OverMpi final : public Messenger {
 public:
  explicit OverMpi(MPI_Comm comm) { MPI_Comm_dup(comm, &comm_); }

  ~OverMpi() override {
    int is_finalized = 0;
    MPI_Finalized(&is_finalized);
    if (is_finalized != 0) return;
    forget_channels();
    MPI_Comm_free(&comm_);
  }

  OverMpi(const OverMpi&) = delete;
  OverMpi& operator=(const OverMpi&) = delete;

  int add(Direction direction, const Message& message, int lane) override {
    SORREL_CHECK(message.bytes.size() <= std::numeric_limits<int>::max(), "a message of %zu bytes",
                 message.bytes.size());
    const auto count = static_cast<int>(message.bytes.size());
    // Even and odd steps have tags of their own: a message of one is never taken for the other's.
    const int tag = 2 * message.tag + lane;
    MPI_Request request = MPI_REQUEST_NULL;
    if (direction == Direction::send) {
      MPI_Send_init(message.bytes.data(), count, MPI_BYTE, message.peer, tag, comm_, &request);
    } else {
      MPI_Recv_init(message.bytes.data(), count, MPI_BYTE, message.peer, tag, comm_, &request);
    }
    requests_.push_back(request);
    directions_.push_back(direction);
    return static_cast<int>(requests_.size()) - 1;
  }

  void start(int channel) override { MPI_Start(&requests_[static_cast<std::size_t>(channel)]); }

  int poll(std::span<int> ended) override {
    int count = 0;
    MPI_Testsome(request_count(), requests_.data(), &count, ended.data(), MPI_STATUSES_IGNORE);
    return count == MPI_UNDEFINED ? 0 : count;
  }

  int wait(std::span<int> ended) override {
    int count = 0;
    MPI_Waitsome(request_count(), requests_.data(), &count, ended.data(), MPI_STATUSES_IGNORE);
    return count == MPI_UNDEFINED ? 0 : count;
  }

  void clear() override { forget_channels(); }

 private:
  [[nodiscard]] int request_count() const { return static_cast<int>(requests_.size()); }

  /// Receives that are under way are taken back; sends end by themselves.
  void forget_channels() {
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      int is_done = 0;
      MPI_Request_get_status(requests_[i], &is_done, MPI_STATUS_IGNORE);
      if (is_done == 0 && directions_[i] == Direction::receive) {
        MPI_Cancel(&requests_[i]);
        MPI_Wait(&requests_[i], MPI_STATUS_IGNORE);
      }
      MPI_Request_free(&requests_[i]);
    }
    requests_.clear();
    directions_.clear();
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  std::vector<MPI_Request> requests_;
  std::vector<Direction> directions_;
};

}  // namespace

std::unique_ptr<Messenger> over_mpi(MPI_Comm comm) {
  return std::make_unique<OverMpi>(comm);
}

}  // namespace sorrel::graph
