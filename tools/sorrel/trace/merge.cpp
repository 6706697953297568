#include "tools/sorrel/trace/merge.hpp"

#include <cstring>
#include <fmt/core.h>
#include <optional>
#include <set>
#include <unordered_map>

#include "tools/sorrel/trace/code_places.hpp"
#include "tools/sorrel/trace/perfetto_fields.hpp"
#include "tools/sorrel/trace/perfetto_file.hpp"
#include "tools/sorrel/trace/trace_clock.hpp"
#include "tools/sorrel/trace/trace_part.hpp"
#include "tools/sorrel/trace/worker_walk.hpp"

namespace sorrel::tool {

namespace {

using trace::Kind;
using trace::MessageRecord;

// Numbers of tracks, apart from each other: a kind in the upper bits.
enum class TrackKind : std::uint64_t { process = 1, worker, ranks, rank, sent };

TrackId track_of(TrackKind kind, std::uint32_t process, std::uint32_t number) {
  constexpr int kind_shift = 60;
  constexpr int process_shift = 32;
  return static_cast<std::uint64_t>(kind) << kind_shift | std::uint64_t{process} << process_shift |
         number;
}

/// Mixes the words of a key into a number that identifies a message (splitmix64).
std::uint64_t mix(std::uint64_t seed, std::uint64_t word) {
  std::uint64_t mixed = seed + word + 0x9e3779b97f4a7c15;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
  return mixed ^ mixed >> 31;
}

/// Counts the messages of one side by their keys. All sends with one key, and all receives, are in
/// the file of one worker, in their order.
class MessageNumbers {
 public:
  /// The same for both ends of a message.
  std::uint64_t next(const MessageRecord& message) {
    const std::uint64_t key =
        mix(mix(std::uint64_t{message.context} << 32 | static_cast<std::uint32_t>(message.tag),
                static_cast<std::uint32_t>(message.source)),
            static_cast<std::uint32_t>(message.destination));
    return mix(key, counts_[key]++);
  }

 private:
  std::unordered_map<std::uint64_t, std::uint64_t> counts_;
};

/// Writes the events of one worker: a visitor of walk().
class WorkerTimeline {
 public:
  /// `nodes`: the simulated nodes that have a track.
  WorkerTimeline(const TracePart& part,
                 CodePlaces& places,
                 PerfettoFile& file,
                 std::set<TrackId>& nodes)
      : part_(part),
        places_(places),
        file_(file),
        nodes_(nodes),
        worker_track_(track_of(TrackKind::worker, part.process(), part.worker())),
        sent_track_(track_of(TrackKind::sent, part.process(), part.worker())) {
    file_.add_thread(worker_track_, part.process(), part.worker(),
                     fmt::format("{}{}", perfetto::worker_prefix, part.worker()));
    file_.add_counter(sent_track_, worker_track_, fmt::format("worker {} sent", part.worker()),
                      "bytes");
    for (const auto& [address, rank] : part.ranks()) {
      file_.add_track(track_of_rank(rank), ranks_track_of(rank),
                      fmt::format("{}{}", perfetto::rank_prefix, rank), rank);
    }
  }

  void begin_call(std::int32_t rank, std::int64_t ns, const CallRecord& record) {
    PerfettoFile::Slice slice{.track = track_of_rank(rank),
                              .ns = ns,
                              .name = part_.text_of(record.call.first),
                              .place = places_.of(part_.process(), record.call.second)};
    if (record.on_comm) {
      slice.comm = record.on_comm->first;
      if (record.on_comm->second != 0)
        slice.root = static_cast<std::int64_t>(record.on_comm->second) - 1;
    }
    file_.begin(slice);
  }

  void end_call(std::int32_t rank, std::int64_t ns) { file_.end(track_of_rank(rank), ns); }

  /// `function`: outside of MPI; else "".
  void begin_wait(std::int32_t rank, std::int64_t ns, std::string_view function) {
    file_.begin({.track = track_of_rank(rank),
                 .ns = ns,
                 .name = function.empty() ? std::string(perfetto::wait_name)
                                          : fmt::format("{}{}", perfetto::wait_prefix, function)});
  }

  void end_wait(std::int32_t rank, std::int64_t ns) { file_.end(track_of_rank(rank), ns); }

  void run(std::int32_t rank, std::int64_t begin_ns, std::int64_t end_ns) {
    slice(fmt::format("{}{}", perfetto::rank_prefix, rank), begin_ns, end_ns);
  }

  void idle(std::int64_t begin_ns, std::optional<std::int64_t> asleep_ns, std::int64_t end_ns) {
    file_.begin({.track = worker_track_, .ns = begin_ns, .name = perfetto::idle_name});
    if (asleep_ns) slice("sleeps", *asleep_ns, end_ns);
    file_.end(worker_track_, end_ns);
  }

  void message(const MessageRecord& message, Kind kind, std::int64_t ns) {
    const bool is_send = kind == Kind::send;
    file_.add({.track = track_of_rank(message.rank),
               .ns = ns,
               .flow_end = is_send ? PerfettoFile::FlowEnd::begin : PerfettoFile::FlowEnd::end,
               .flow = (is_send ? sends_ : receives_).next(message),
               .peer = is_send ? message.destination : -1,
               .tag = message.tag,
               .bytes = message.bytes});
    if (!is_send) return;
    sent_bytes_ += message.bytes;
    // A counter is no list of messages.
    constexpr std::int64_t count_every_ns = 50'000;
    if (ns >= counted_ns_ + count_every_ns) count(ns);
  }

  void finish(std::int64_t ns) {
    if (sent_bytes_ != 0) count(ns);
  }

 private:
  [[nodiscard]] TrackId track_of_rank(std::int32_t rank) const {
    return track_of(TrackKind::rank, part_.process(), static_cast<std::uint32_t>(rank));
  }

  /// Of the ranks of a process, or of a simulated node in it.
  TrackId ranks_track_of(std::int32_t rank) {
    const std::uint32_t node = part_.node_of(rank);
    if (node == part_.process()) return track_of(TrackKind::ranks, part_.process(), 0);
    const TrackId track = track_of(TrackKind::ranks, part_.process(), 1 + node);
    if (nodes_.insert(track).second) {
      file_.add_track(track, track_of(TrackKind::process, part_.process(), 0),
                      fmt::format("{}{}", perfetto::node_prefix, node),
                      static_cast<std::int32_t>(node));
    }
    return track;
  }

  void slice(std::string_view name, std::int64_t begin_ns, std::int64_t end_ns) {
    file_.begin({.track = worker_track_, .ns = begin_ns, .name = name});
    file_.end(worker_track_, end_ns);
  }

  void count(std::int64_t ns) {
    counted_ns_ = ns;
    file_.count(sent_track_, ns, static_cast<std::int64_t>(sent_bytes_));
  }

  const TracePart& part_;
  CodePlaces& places_;
  PerfettoFile& file_;
  std::set<TrackId>& nodes_;
  const TrackId worker_track_;
  const TrackId sent_track_;
  MessageNumbers sends_;
  MessageNumbers receives_;
  std::uint64_t sent_bytes_ = 0;
  std::int64_t counted_ns_ = 0;
};

}  // namespace

Result<MergedTrace> merge_trace(const std::string& folder, const std::string& file) {
  MergedTrace merged;
  const Result<std::vector<TracePart>> opened = open_trace(folder, merged.warnings);
  if (!opened.has_value()) return Error{opened.error()};
  const std::vector<TracePart>& parts = opened.value();
  merged.part_count = parts.size();
  const TraceClock clock(parts);
  CodePlaces places(parts);
  PerfettoFile output(file);
  std::optional<std::uint32_t> process;
  std::set<TrackId> nodes;
  for (const TracePart& part : parts) {
    if (process != part.process()) {
      process = part.process();
      const TrackId track = track_of(TrackKind::process, *process, 0);
      output.add_process(track, *process, fmt::format("process {}", *process));
      output.add_track(track_of(TrackKind::ranks, *process, 0), track, "ranks", 0);
    }
    WorkerTimeline timeline(part, places, output, nodes);
    merged.event_count += walk(part, clock, timeline);
  }
  if (const int error = output.close(); error != 0)
    return Error{fmt::format("{} cannot be written: {}", file, std::strerror(error))};
  return merged;
}

}  // namespace sorrel::tool
