#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

#include <sorrel/graph/over_mpi.hpp>

#include "base/check.hpp"

namespace sorrel::graph {

namespace {

/// For each rank of `comm`, whether it is on this machine. Collective.
std::vector<bool> ranks_of_machine(MPI_Comm comm) {
  int rank = 0;
  int count = 0;
  int near_count = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &count);
  MPI_Comm machine = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &machine);
  MPI_Comm_size(machine, &near_count);
  std::vector<int> ranks(static_cast<std::size_t>(near_count));
  MPI_Allgather(&rank, 1, MPI_INT, ranks.data(), 1, MPI_INT, machine);
  MPI_Comm_free(&machine);
  std::vector<bool> is_near(static_cast<std::size_t>(count));
  for (const int near : ranks)
    is_near[static_cast<std::size_t>(near)] = true;
  return is_near;
}

class OverMpi final : public Messenger {
 public:
  OverMpi(MPI_Comm comm, const OverMpiOptions& options) : is_near_(ranks_of_machine(comm)) {
    if (!options.is_read_late) {
      MPI_Comm_dup(comm, &comm_);
      return;
    }
    MPI_Info hints = MPI_INFO_NULL;
    MPI_Info_create(&hints);
    MPI_Info_set(hints, "sorrel_read_late", "true");
    MPI_Comm_dup_with_info(comm, hints, &comm_);
    MPI_Info_free(&hints);
  }

  ~OverMpi() override {
    int is_finalized = 0;
    MPI_Finalized(&is_finalized);
    if (is_finalized != 0) return;
    forget_channels();
    MPI_Comm_free(&comm_);
  }

  OverMpi(const OverMpi&) = delete;
  OverMpi& operator=(const OverMpi&) = delete;

  [[nodiscard]] int peer_count() const override { return static_cast<int>(is_near_.size()); }

  [[nodiscard]] int rank() const override {
    int rank = 0;
    MPI_Comm_rank(comm_, &rank);
    return rank;
  }

  int add(Direction direction, const Message& message, int parity) override {
    SORREL_CHECK(message.bytes.size() <= std::numeric_limits<int>::max(), "a message of %zu bytes",
                 message.bytes.size());
    const bool is_one_run = std::ranges::all_of(
        message.repeats, [](const Message::Repeat& repeat) { return repeat.count == 1; });
    const int count = is_one_run ? static_cast<int>(message.bytes.size()) : 1;
    MPI_Datatype type = is_one_run ? MPI_BYTE : type_of(message);
    // Even and odd steps have tags of their own, so their messages cannot be mistaken.
    const int tag = 2 * message.tag + parity;
    MPI_Request request = MPI_REQUEST_NULL;
    if (direction == Direction::send) {
      MPI_Send_init(message.bytes.data(), count, type, message.peer, tag, comm_, &request);
    } else {
      MPI_Recv_init(message.bytes.data(), count, type, message.peer, tag, comm_, &request);
    }
    // MPI copies what the request needs of the datatype.
    if (!is_one_run) MPI_Type_free(&type);
    requests_.push_back(request);
    directions_.push_back(direction);
    return static_cast<int>(requests_.size()) - 1;
  }

  [[nodiscard]] bool is_near(int peer) const override {
    return is_near_[static_cast<std::size_t>(peer)];
  }

  void start(int channel) override { start_in(awaited_, channel); }

  void start_unawaited(int channel) override { start_in(unawaited_, channel); }

  int poll(std::span<int> ended) override {
    int count = 0;
    Started& started = next_started();
    MPI_Testsome(started.count(), started.requests.data(), &count, ended.data(),
                 MPI_STATUSES_IGNORE);
    return take_ended(started, count, ended);
  }

  int wait(std::span<int> ended) override {
    int count = 0;
    Started& started = next_started();
    MPI_Waitsome(started.count(), started.requests.data(), &count, ended.data(),
                 MPI_STATUSES_IGNORE);
    return take_ended(started, count, ended);
  }

  void clear() override { forget_channels(); }

 private:
  /// Requests in progress and their channels: a poll tests these alone.
  struct Started {
    std::vector<MPI_Request> requests;
    std::vector<int> channels;

    [[nodiscard]] int count() const { return static_cast<int>(requests.size()); }
  };

  /// The messages that are tested now. Unawaited sends are often many, and wait for slow receivers.
  Started& next_started() { return awaited_.requests.empty() ? unawaited_ : awaited_; }

  void start_in(Started& started, int channel) {
    MPI_Request& request = requests_[static_cast<std::size_t>(channel)];
    MPI_Start(&request);
    started.requests.push_back(request);
    started.channels.push_back(channel);
  }

  /// Turns places among the started requests into channels, and removes these requests.
  static int take_ended(Started& started, int count, std::span<int> ended) {
    if (count == MPI_UNDEFINED) return 0;
    const std::span<int> places = ended.first(static_cast<std::size_t>(count));
    // From the last place down, so that the request that fills a place is one that has not ended.
    std::sort(places.begin(), places.end(), std::greater<>());
    for (int& place : places) {
      const auto at = static_cast<std::size_t>(place);
      place = started.channels[at];
      started.channels[at] = started.channels.back();
      started.requests[at] = started.requests.back();
      started.channels.pop_back();
      started.requests.pop_back();
    }
    return count;
  }

  /// Cancels receives in progress; sends complete by themselves.
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
    awaited_ = {};
    unawaited_ = {};
  }

  static MPI_Datatype type_of(const Message& message) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(static_cast<int>(message.bytes.size()), MPI_BYTE, &type);
    for (const Message::Repeat& repeat : message.repeats) {
      MPI_Datatype once = type;
      MPI_Type_create_hvector(static_cast<int>(repeat.count), 1, repeat.stride_bytes, once, &type);
      MPI_Type_free(&once);
    }
    MPI_Type_commit(&type);
    return type;
  }

  std::vector<bool> is_near_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::vector<MPI_Request> requests_;
  std::vector<Direction> directions_;
  Started awaited_;
  Started unawaited_;
};

}  // namespace

std::unique_ptr<Messenger> over_mpi(MPI_Comm comm, const OverMpiOptions& options) {
  return std::make_unique<OverMpi>(comm, options);
}

TilingOptions tiling_over(MPI_Comm comm, TilingOptions options) {
  MPI_Comm_rank(comm, &options.rank);
  const std::vector<bool> is_near = ranks_of_machine(comm);
  for (Index& count : options.ranks)
    count = std::max<Index>(count, 1);
  // Position of a rank in the grid and its neighbours, numbered as in AnyTiling.
  Key strides{};
  Index stride = 1;
  for (std::size_t d = strides.size(); d-- > 0; stride *= options.ranks[d])
    strides[d] = stride;
  std::array<int, dimension_count_max> is_far{};
  for (std::size_t d = 0; d < strides.size(); ++d) {
    const Index place = options.rank / strides[d] % options.ranks[d];
    for (const Index by : {Index{-1}, Index{1}}) {
      const bool is_across = place + by < 0 || place + by >= options.ranks[d];
      if (is_across && !options.is_periodic[d]) continue;
      const Index there = (place + by + options.ranks[d]) % options.ranks[d];
      if (!is_near[static_cast<std::size_t>(options.rank + (there - place) * strides[d])])
        is_far[d] = 1;
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, is_far.data(), static_cast<int>(is_far.size()), MPI_INT, MPI_MAX,
                comm);
  for (std::size_t d = 0; d < is_far.size(); ++d)
    options.is_near[d] = is_far[d] == 0;
  return options;
}

}  // namespace sorrel::graph
