// Cost of messages between ranks of one processor, of one node, and of different nodes. Two ranks
// exchange, as neighbours do; the processor's share is the slowdown of their computing.
#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "grid/measure/probes.hpp"

namespace sorrel::grid {
namespace {

constexpr int small_bytes = 8;
constexpr int announced_bytes_min = 1 << 10;
constexpr int face_bytes = 64 << 10;
constexpr int large_bytes = 512 << 10;

/// One of a pair of ranks that exchange messages, or a rank without partner.
class Exchanger {
 public:
  Exchanger(const ProbeContext& context, int partner)
      : context_(context), partner_(partner), out_(large_bytes), in_(large_bytes) {}

  [[nodiscard]] bool is_active() const { return partner_ >= 0; }

  /// Seconds of one exchange of `bytes` each way, for the slowest pair.
  [[nodiscard]] double exchange_s(int bytes) {
    const int count = bytes > small_bytes ? 20 : 500;
    return timed(5, count, [&] { exchange(bytes); });
  }

  /// Seconds by which an exchange lengthens computing: the smaller of two measurements, with polls
  /// in between and without any poll before the end. The first includes the cost of the polls; the
  /// second includes data that needs polls to progress.
  [[nodiscard]] double busy_s(int bytes) {
    const double exchange_s = this->exchange_s(bytes);
    const int chunks = chunks_of(4 * exchange_s);
    const double alone_s = timed(7, 20, [&] { compute(chunks); });
    const double together_s = timed(7, 20, [&] {
      start(bytes);
      compute_and_test(chunks);
      finish();
    });
    const double unseen_s = timed(7, 20, [&] {
      start(bytes);
      compute(chunks);
      finish();
    });
    return std::clamp(std::min(together_s, unseen_s) - alone_s, 0.0, exchange_s);
  }

  /// Share of the exchange that has completed after computing without a call of MPI.
  [[nodiscard]] double progress_share(int bytes, double busy_s) {
    const double exchange_s = this->exchange_s(bytes);
    const int chunks = chunks_of(2 * exchange_s);
    const double alone_s = timed(7, 20, [&] { compute(chunks); });
    const double together_s = timed(7, 20, [&] {
      start(bytes);
      compute(chunks);
      finish();
    });
    const double flight_s = std::max(exchange_s - busy_s, 1e-12);
    return std::clamp(1 - (together_s - alone_s - busy_s) / flight_s, 0.0, 1.0);
  }

  /// Seconds of an exchange of data of a type; `before` sweeps the caches.
  [[nodiscard]] double exchange_of_type_s(MPI_Datatype type,
                                          std::byte* data,
                                          std::byte* ghosts,
                                          int count,
                                          const std::function<void()>& before) {
    double seconds = 1e9;
    for (int i = 0; i < 12; ++i) {
      if (is_active()) before();
      MPI_Barrier(context_.comm);
      // Makes both ranks run when the clock starts.
      if (is_active()) exchange(small_bytes);
      const double begin = MPI_Wtime();
      if (is_active()) {
        MPI_Irecv(ghosts, count, type, partner_, 1, context_.comm, &requests_[0]);
        MPI_Isend(data, count, type, partner_, 1, context_.comm, &requests_[1]);
        finish();
      }
      if (i > 0) seconds = std::min(seconds, MPI_Wtime() - begin);
    }
    return slowest(seconds);
  }

 private:
  void start(int bytes) {
    MPI_Irecv(in_.data(), bytes, MPI_BYTE, partner_, 0, context_.comm, &requests_[0]);
    MPI_Isend(out_.data(), bytes, MPI_BYTE, partner_, 0, context_.comm, &requests_[1]);
  }

  void finish() { MPI_Waitall(2, requests_, MPI_STATUSES_IGNORE); }

  void exchange(int bytes) {
    start(bytes);
    finish();
  }

  // About a microsecond of computing per chunk.
  void compute(int chunks) {
    for (int i = 0; i < chunks * 256; ++i)
      value_ = value_ * 0.999 + 0.5;
    // Prevents the compiler from removing the loop, whose result is unused.
    asm volatile("" : "+x"(value_));
  }

  void compute_and_test(int chunks) {
    int is_done = 0;
    for (int i = 0; i < chunks; ++i) {
      compute(1);
      if (is_done == 0) MPI_Testall(2, requests_, &is_done, MPI_STATUSES_IGNORE);
    }
  }

  int chunks_of(double seconds) {
    if (chunk_s_ == 0) chunk_s_ = least_seconds(5, [&] { compute(100); }) / 100;
    return std::clamp(static_cast<int>(seconds / chunk_s_), 4, 100'000);
  }

  template <class Body>
  double timed(int repeat_count, int count, Body&& body) {
    double least = 1e9;
    for (int i = 0; i <= repeat_count; ++i) {
      MPI_Barrier(context_.comm);
      const double begin = MPI_Wtime();
      if (is_active())
        for (int j = 0; j < count; ++j)
          body();
      if (i > 0) least = std::min(least, MPI_Wtime() - begin);
    }
    return slowest(least / count);
  }

  double slowest(double seconds) {
    double mine = is_active() ? seconds : 0;
    double result = 0;
    MPI_Allreduce(&mine, &result, 1, MPI_DOUBLE, MPI_MAX, context_.comm);
    return result;
  }

  const ProbeContext& context_;
  const int partner_;
  std::vector<std::byte> out_;
  std::vector<std::byte> in_;
  MPI_Request requests_[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  double value_ = 1;
  double chunk_s_ = 0;
};

// ---- pairs of ranks
// -----------------------------------------------------------------------

// Pairs the first two ranks of each processor.
int partner_on_processor(const ProbeContext& context) {
  const int place = context.rank % context.ranks_per_processor;
  if (place > 1) return -1;
  const int partner = context.rank + (place == 0 ? 1 : -1);
  return partner < context.rank_count ? partner : -1;
}

// Pairs the first ranks of processors `distance` apart.
int partner_at(const ProbeContext& context, int distance) {
  if (!context.is_first_of_processor()) return -1;
  const int step = distance * context.ranks_per_processor;
  const bool is_low = context.rank / step % 2 == 0;
  const int partner = context.rank + (is_low ? step : -step);
  return partner < context.rank_count ? partner : -1;
}

// ---- links
// -----------------------------------------------------------------------------------------

/// Data that are streamed through, as by a sweep, so that a face of them comes from the same cache
/// or memory as in a step.
class Streamed {
 public:
  explicit Streamed(const ProbeContext& context, bool is_active)
      : data_(static_cast<std::size_t>(
            is_active ? std::clamp<std::int64_t>(context.large_set_bytes, 2 * large_bytes, 1 << 26)
                      : 2 * large_bytes)) {}

  /// Two buffers for messages of large_bytes.
  [[nodiscard]] std::byte* out() { return data_.data(); }

  [[nodiscard]] std::byte* in() { return data_.data() + large_bytes; }

  void stream() {
    for (std::size_t i = 0; i < data_.size(); i += 64)
      data_[i] = static_cast<std::byte>(static_cast<unsigned char>(data_[i]) + 1);
  }

 private:
  std::vector<std::byte> data_;
};

// One processor does both ranks' work, and nothing is in flight meanwhile. Data in memory instead
// of a cache takes no longer within a step: the update would fetch the cells and ghosts that the
// message has fetched.
Link link_on_processor(const ProbeContext& context) {
  Exchanger pair(context, partner_on_processor(context));
  Link link;
  link.name = "same processor";
  link.overhead_s = pair.exchange_s(small_bytes) / 4;
  link.overhead_s_per_byte =
      std::max(0.0, pair.exchange_s(face_bytes) - pair.exchange_s(small_bytes)) / (2 * face_bytes);
  link.progress_share = 1;
  return link;
}

// The longest eager message, among those for which doubling the size costs a latency more than the
// bytes do; 0: there is none.
std::int64_t announced_bytes(Exchanger& pair, double latency_s, double gap_s_per_byte) {
  double before_s = pair.exchange_s(announced_bytes_min);
  for (int bytes = announced_bytes_min; bytes < large_bytes / 2; bytes *= 2) {
    const double twice_s = pair.exchange_s(2 * bytes);
    if (twice_s - before_s > latency_s + bytes * gap_s_per_byte) return bytes;
    before_s = twice_s;
  }
  return 0;
}

Link link_between(const ProbeContext& context, int distance) {
  const int partner = partner_at(context, distance);
  const bool is_first_pair = context.rank == 0 || partner == 0;
  Exchanger alone(context, is_first_pair ? partner : -1);
  Exchanger all(context, partner);
  // The slope of long messages, which is independent of the cost per message.
  const auto slope_of = [](Exchanger& pair) {
    constexpr int bytes = large_bytes / 2;
    return std::max(0.0, pair.exchange_s(large_bytes) - pair.exchange_s(bytes)) / bytes;
  };
  const double small_s = alone.exchange_s(small_bytes);
  const double slope = slope_of(alone);
  const double small_busy_s = alone.busy_s(small_bytes);
  const double busy_slope =
      std::max(0.0, all.busy_s(large_bytes) - all.busy_s(large_bytes / 2)) / (large_bytes / 2);
  Link link;
  link.overhead_s = small_busy_s / 2;
  link.latency_s = std::max(0.0, small_s - small_busy_s);
  link.overhead_s_per_byte = std::min(slope, busy_slope);
  link.gap_s_per_byte = slope - link.overhead_s_per_byte;
  // A small remainder of a copy by the processor is noise, not time on the wire. So is a slope of
  // 0, which other work on the machine can cause.
  if (link.gap_s_per_byte <= 0.3 * slope) {
    link.overhead_s_per_byte =
        std::min(slope, std::max(0.0, all.exchange_s(face_bytes) - small_s) / face_bytes);
    link.gap_s_per_byte = 0;
    link.progress_share = 1;
    return link;
  }
  link.contention = std::max(1.0, (slope_of(all) - link.overhead_s_per_byte) / link.gap_s_per_byte);
  link.announced_bytes = announced_bytes(alone, link.latency_s, slope);
  // A rendezvous always waits for a poll; only eager messages may progress without one.
  const int bytes = link.announced_bytes > 0 ? static_cast<int>(link.announced_bytes) : large_bytes;
  link.progress_share = all.progress_share(bytes, all.busy_s(bytes));
  return link;
}

// Number of ranks of one machine, by its name, so that simulated nodes within a process count, too.
int node_size(const ProbeContext& context) {
  std::array<char, MPI_MAX_PROCESSOR_NAME> mine{};
  int length = 0;
  MPI_Get_processor_name(mine.data(), &length);
  std::array<char, MPI_MAX_PROCESSOR_NAME> first = mine;
  MPI_Bcast(first.data(), static_cast<int>(first.size()), MPI_CHAR, 0, context.comm);
  int size = first == mine ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &size, 1, MPI_INT, MPI_SUM, context.comm);
  return size;
}

// The links, the innermost first: ranks of a processor, of a node, all. A simulated node may be
// smaller than a processor.
void probe_links(const ProbeContext& context, Machine& machine) {
  const int ranks_per_node = node_size(context);
  const bool has_nodes = ranks_per_node < context.rank_count;
  const int inner = std::min(context.ranks_per_processor, ranks_per_node);
  if (inner > 1) {
    machine.links.push_back(link_on_processor(context));
    const bool is_node = ranks_per_node < context.ranks_per_processor;
    if (is_node) machine.links.back().name = "same node";
    machine.links.back().group_count =
        is_node ? context.rank_count / ranks_per_node : machine.processor_count;
  }
  if (ranks_per_node > context.ranks_per_processor) {
    machine.links.push_back(link_between(context, 1));
    Link& link = machine.links.back();
    link.name = "same node";
    // With more ranks on shared processors the nodes get larger; otherwise there are more nodes.
    if (has_nodes && machine.processor_count > 0)
      link.group_count = context.rank_count / ranks_per_node;
    else if (has_nodes)
      link.group_ranks = ranks_per_node;
  }
  if (has_nodes) {
    const int distance = std::max(1, ranks_per_node / context.ranks_per_processor);
    machine.links.push_back(link_between(context, distance));
    machine.links.back().name = "other node";
  }
  if (machine.links.size() == 1) machine.links.back().group_count = 0;
  for (std::size_t i = 0; i < machine.links.size(); ++i)
    for (const char* value :
         {"group_ranks", "group_count", "overhead_seconds", "overhead_seconds_per_byte",
          "latency_seconds", "gap_seconds_per_byte", "contention", "progress_share",
          "announced_bytes"})
      machine.sources.push_back(
          {.value = text_of("links[%zu].%s", i, value), .text = "measured", .is_assumed = false});
}

// ---- data that is not contiguous
// -------------------------------------------------------------------

void probe_datatypes(const ProbeContext& context, Machine& machine) {
  const int partner = context.rank_count > context.ranks_per_processor
                          ? partner_at(context, 1)
                          : partner_on_processor(context);
  Exchanger pair(context, partner);
  Streamed data(context, pair.is_active());
  std::vector<std::byte> packed(2 * large_bytes);
  const auto stream = [&] { data.stream(); };
  for (const auto& [run, stride] : {std::pair{8, 272},
                                    {8, 1040},
                                    {8, 4112},
                                    {16, 1040},
                                    {64, 1040},
                                    {256, 272},
                                    {1024, 1040},
                                    {4096, 4112}}) {
    const int count = std::min<int>(8192, large_bytes / stride);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_hvector(count, run, stride, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    const double strided_s = pair.exchange_of_type_s(type, data.out(), data.in(), 1, stream);
    MPI_Type_free(&type);
    const double plain_s = pair.exchange_of_type_s(MPI_BYTE, packed.data(),
                                                   packed.data() + large_bytes, run * count, [] {});
    const double extra_s = std::max(strided_s - plain_s, 1e-9);
    machine.datatype.rates.push_back({.run_bytes = run,
                                      .stride_bytes = stride,
                                      .set_bytes = 0,
                                      .bytes_per_second = run * count / extra_s});
  }
}

// Cost of one poll for a message that has not arrived.
double poll_s(const ProbeContext& context) {
  constexpr int count = 1000;
  MPI_Request request = MPI_REQUEST_NULL;
  int byte = 0;
  MPI_Irecv(&byte, 1, MPI_INT, context.rank, 2, context.comm, &request);
  const double seconds = least_seconds(5, [&] {
    for (int i = 0; i < count; ++i) {
      int is_done = 0;
      MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    }
  });
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return context.largest(seconds / count);
}

}  // namespace

void probe_messages(const ProbeContext& context, Machine& machine) {
  machine.poll_s = poll_s(context);
  probe_links(context, machine);
  probe_datatypes(context, machine);
}

}  // namespace sorrel::grid
