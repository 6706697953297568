#include "tools/sorrel/trace/merge.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fmt/core.h>
#include <optional>
#include <set>
#include <span>
#include <system_error>
#include <unordered_map>

#include "tools/sorrel/trace/code_places.hpp"
#include "tools/sorrel/trace/otf2_merge.hpp"
#include "tools/sorrel/trace/perfetto_fields.hpp"
#include "tools/sorrel/trace/perfetto_file.hpp"
#include "tools/sorrel/trace/process_walk.hpp"
#include "tools/sorrel/trace/thread_use.hpp"
#include "tools/sorrel/trace/trace_clock.hpp"
#include "tools/sorrel/trace/trace_part.hpp"
#include "trace/packet_kind.hpp"

namespace sorrel::tool {

namespace {

using trace::Kind;
using trace::MessageRecord;
using trace::PacketRecord;
using trace::Record;

// Numbers of tracks, apart from each other: a kind in the upper bits.
enum class TrackKind : std::uint64_t {
  process = 1,
  worker,
  ranks,
  rank,
  sent,
  packets,
  width,
  core_time,
  core_wait
};

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

/// Counts the messages of one side by their keys. All sends with one key, and all receives, are
/// those of one rank, and come in their order.
class MessageNumbers {
 public:
  /// A number that is the same for both ends of a message.
  std::uint64_t next(const MessageRecord& message) {
    return next(
        mix(mix(std::uint64_t{message.context} << 32 | static_cast<std::uint32_t>(message.tag),
                static_cast<std::uint32_t>(message.source)),
            static_cast<std::uint32_t>(message.destination)));
  }

  /// A number that is the same for both ends of a packet. Apart from messages.
  std::uint64_t next(const PacketRecord& packet) {
    constexpr std::uint64_t packet_seed = 0x7061636b;
    return next(mix(mix(packet_seed, packet.from), packet.to));
  }

 private:
  std::uint64_t next(std::uint64_t key) { return mix(key, counts_[key]++); }

  std::unordered_map<std::uint64_t, std::uint64_t> counts_;
};

/// Writes the events of one process: a visitor of walk().
class ProcessTimeline {
 public:
  ProcessTimeline(std::span<const TracePart> parts, CodePlaces& places, PerfettoFile& file)
      : parts_(parts),
        places_(places),
        file_(file),
        process_(parts.front().process()),
        use_(static_cast<std::uint32_t>(std::ranges::count_if(parts, &TracePart::is_of_worker))),
        track_(track_of(TrackKind::process, process_, 0)) {
    file_.add_process(track_, process_, fmt::format("process {}", process_));
    file_.add_track(track_of(TrackKind::ranks, process_, 0), track_, "ranks", 0);
    for (const TracePart& part : parts) {
      Worker& worker = workers_.emplace_back(Worker{
          .number = part.worker(), .track = track_of(TrackKind::worker, process_, part.worker())});
      if (!part.is_of_worker()) continue;
      file_.add_thread(worker.track, process_, part.worker(),
                       fmt::format("{}{}", perfetto::worker_prefix, part.worker()));
      file_.add_counter(track_of(TrackKind::sent, process_, part.worker()), worker.track,
                        fmt::format("worker {} sent", part.worker()), "bytes");
    }
    for (const TracePart& part : parts) {
      for (const auto& [address, rank] : part.ranks()) {
        file_.add_track(track_of_rank(rank), ranks_track_of(part, rank),
                        fmt::format("{}{}", perfetto::rank_prefix, rank), rank);
      }
    }
  }

  void begin_call(std::size_t worker,
                  std::int32_t rank,
                  std::int64_t ns,
                  const CallRecord& record) {
    PerfettoFile::Slice slice{.track = track_of_rank(rank),
                              .ns = ns,
                              .name = parts_[worker].text_of(record.call.first),
                              .place = places_.of(process_, record.call.second)};
    if (record.on_comm) {
      slice.comm = record.on_comm->first;
      if (record.on_comm->second != 0)
        slice.root = static_cast<std::int64_t>(record.on_comm->second) - 1;
    }
    file_.begin(slice);
  }

  void end_call(std::int32_t rank, std::int64_t ns) { file_.end(track_of_rank(rank), ns); }

  /// `function`: outside of MPI; else "".
  void begin_wait(std::size_t /*worker*/,
                  std::int32_t rank,
                  std::int64_t ns,
                  std::string_view function) {
    file_.begin({.track = track_of_rank(rank),
                 .ns = ns,
                 .name = function.empty() ? std::string(perfetto::wait_name)
                                          : fmt::format("{}{}", perfetto::wait_prefix, function)});
  }

  void end_wait(std::int32_t rank, std::int64_t ns) { file_.end(track_of_rank(rank), ns); }

  void run(std::size_t worker, const RunRecord& run) {
    const TrackId track = workers_[worker].track;
    file_.begin({.track = track,
                 .ns = run.begin_ns,
                 .name = fmt::format("{}{}", perfetto::rank_prefix, run.rank),
                 .category = run.is_lent ? perfetto::loan_category : std::string_view()});
    file_.end(track, run.end_ns);
  }

  void idle(std::size_t worker,
            std::int64_t begin_ns,
            std::optional<std::int64_t> asleep_ns,
            std::int64_t end_ns) {
    const TrackId track = workers_[worker].track;
    file_.begin({.track = track, .ns = begin_ns, .name = perfetto::idle_name});
    if (asleep_ns) {
      file_.begin({.track = track, .ns = *asleep_ns, .name = "sleeps"});
      file_.end(track, end_ns);
    }
    file_.end(track, end_ns);
  }

  void message(std::size_t worker, const MessageRecord& message, Kind kind, std::int64_t ns) {
    const bool is_send = kind == Kind::send;
    file_.add({.track = track_of_rank(message.rank),
               .ns = ns,
               .flow_end = is_send ? PerfettoFile::FlowEnd::begin : PerfettoFile::FlowEnd::end,
               .flow = (is_send ? sends_ : receives_).next(message),
               .peer = is_send ? message.destination : -1,
               .tag = message.tag,
               .bytes = message.bytes});
    if (!is_send) return;
    Worker& sender = workers_[worker];
    sender.sent_bytes += message.bytes;
    // A counter is no list of messages.
    constexpr std::int64_t count_every_ns = 50'000;
    if (ns >= sender.counted_ns + count_every_ns) count(sender, ns);
  }

  void packet(std::size_t worker, const PacketRecord& packet, Kind kind, std::int64_t ns) {
    const bool is_send = kind == Kind::packet_sent;
    const std::uint64_t peer = is_send ? packet.to : packet.from;
    const std::array<PerfettoFile::Annotation, 3> annotations = {
        {{is_send ? "to process" : "from process", static_cast<std::int64_t>(peer >> 32)},
         {is_send ? "to worker" : "from worker", static_cast<std::uint32_t>(peer)},
         {perfetto::bytes_name, static_cast<std::int64_t>(packet.bytes)}}};
    const bool is_known = packet.packet_kind < trace::packet_kind_names.size();
    file_.add_instant(
        {.track = packets_track_of(workers_[worker]),
         .ns = ns,
         .name = is_known ? trace::packet_kind_names[packet.packet_kind] : "packet",
         .category = perfetto::packet_category,
         .annotations = annotations,
         .flow_end = is_send ? PerfettoFile::FlowEnd::begin : PerfettoFile::FlowEnd::end,
         .flow = (is_send ? sends_ : receives_).next(packet)});
  }

  /// A loop, a part of one, a task, or a region of OpenMP; `rank`: nothing if the worker helps.
  void begin_work(std::size_t worker,
                  std::optional<std::int32_t> rank,
                  std::int64_t ns,
                  const Record& record) {
    PerfettoFile::Slice slice{
        .track = rank ? track_of_rank(*rank) : workers_[worker].track, .ns = ns, .name = {}};
    const auto second = static_cast<std::int64_t>(record.second);
    std::array<PerfettoFile::Annotation, 2> annotations{};
    std::size_t annotation_count = 1;
    std::string name;
    switch (record.kind()) {
      case Kind::chunk:
        name = "chunk";
        slice.category = perfetto::loop_category;
        annotations = {{{"first", static_cast<std::int64_t>(record.first)}, {"end", second}}};
        annotation_count = 2;
        break;
      case Kind::task: {
        const auto task = trace::TaskRecord::of(record.second);
        name = parts_[worker].text_of(record.first);
        slice.category = perfetto::task_category;
        annotations = {{{"step", task.step}, {"index", task.index}}};
        annotation_count = 2;
        break;
      }
      case Kind::region:
        name = name_of_code("OpenMP", record.first, slice);
        slice.category = perfetto::openmp_category;
        annotations[0] = {"threads", second};
        break;
      default:
        name = name_of_code("loop", record.first, slice);
        slice.category = perfetto::loop_category;
        annotations[0] = {"iterations", second};
        break;
    }
    slice.name = name;
    slice.annotations = std::span(annotations).first(annotation_count);
    file_.begin(slice);
  }

  void end_work(std::int32_t rank, std::int64_t ns) { file_.end(track_of_rank(rank), ns); }

  void end_help(std::size_t worker, std::int64_t ns) { file_.end(workers_[worker].track, ns); }

  void move(std::int32_t rank, std::int64_t ns, std::uint64_t worker) {
    const std::array<PerfettoFile::Annotation, 1> annotations = {
        {{"worker", static_cast<std::int64_t>(worker)}}};
    file_.add_instant({.track = track_of_rank(rank),
                       .ns = ns,
                       .name = "moves",
                       .category = perfetto::move_category,
                       .annotations = annotations});
  }

  /// A decision of the governor.
  void width(std::int64_t ns, std::uint64_t before, std::uint64_t now) {
    const TrackId track = track_of(TrackKind::width, process_, 0);
    if (!has_width_) {
      has_width_ = true;
      file_.add_counter(track, track_, perfetto::width_name, "threads");
      file_.count(track, 0, static_cast<std::int64_t>(before));
    }
    file_.count(track, ns, static_cast<std::int64_t>(now));
  }

  /// Counters of the process: what the kernel has given all of its workers.
  void thread(std::size_t /*worker*/, std::int64_t ns, const trace::ThreadRecord& thread) {
    use_.add_thread(thread);
    const ThreadUse use = use_.until(ns);
    if (!use.is_accounted) return;
    const TrackId core_time = track_of(TrackKind::core_time, process_, 0);
    const TrackId core_wait = track_of(TrackKind::core_wait, process_, 0);
    if (!has_use_) {
      has_use_ = true;
      file_.add_counter(core_time, track_, perfetto::core_time_name, "ns");
      file_.add_counter(core_wait, track_, perfetto::core_wait_name, "ns");
    }
    file_.count(core_time, ns, use.core_ns);
    file_.count(core_wait, ns, use.core_wait_ns);
  }

  void spend(std::size_t worker,
             std::optional<std::int32_t> /*rank*/,
             WorkerState state,
             const SpentTime& time) {
    if (state != WorkerState::away) return;
    const TrackId track = workers_[worker].track;
    file_.begin({.track = track, .ns = time.begin_ns, .name = perfetto::away_name});
    file_.end(track, time.end_ns);
  }

  [[nodiscard]] bool has_ended() const { return file_.error() != 0; }

  void finish(std::size_t worker, std::int64_t ns) {
    if (workers_[worker].sent_bytes != 0) count(workers_[worker], ns);
  }

 private:
  struct Worker {
    std::uint32_t number;
    TrackId track;
    std::uint64_t sent_bytes = 0;
    std::int64_t counted_ns = 0;
    bool has_packets = false;
  };

  [[nodiscard]] TrackId track_of_rank(std::int32_t rank) const {
    return track_of(TrackKind::rank, process_, static_cast<std::uint32_t>(rank));
  }

  /// The track of the ranks of a process, or of a simulated node in it.
  TrackId ranks_track_of(const TracePart& part, std::int32_t rank) {
    const std::uint32_t node = part.node_of(rank);
    if (node == process_) return track_of(TrackKind::ranks, process_, 0);
    const TrackId track = track_of(TrackKind::ranks, process_, 1 + node);
    if (nodes_.insert(track).second) {
      file_.add_track(track, track_, fmt::format("{}{}", perfetto::node_prefix, node),
                      static_cast<std::int32_t>(node));
    }
    return track;
  }

  /// Below the worker, as soon as it has packets.
  TrackId packets_track_of(Worker& worker) {
    const TrackId track = track_of(TrackKind::packets, process_, worker.number);
    if (!worker.has_packets) {
      worker.has_packets = true;
      file_.add_track(track, worker.track, fmt::format("worker {} packets", worker.number), 0);
    }
    return track;
  }

  /// `what` and the function at `address`, whose place the slice gets.
  std::string name_of_code(std::string_view what,
                           std::uint64_t address,
                           PerfettoFile::Slice& slice) {
    // Places are those of calls, before their return addresses.
    slice.place = places_.of(process_, address + 1);
    const bool is_known = slice.place != nullptr && !slice.place->function.empty();
    return is_known ? fmt::format("{} {}", what, slice.place->function) : std::string(what);
  }

  void count(Worker& worker, std::int64_t ns) {
    worker.counted_ns = ns;
    file_.count(track_of(TrackKind::sent, process_, worker.number), ns,
                static_cast<std::int64_t>(worker.sent_bytes));
  }

  const std::span<const TracePart> parts_;
  CodePlaces& places_;
  PerfettoFile& file_;
  const std::uint32_t process_;
  ThreadUseCount use_;
  const TrackId track_;
  std::vector<Worker> workers_;
  /// The simulated nodes that have a track.
  std::set<TrackId> nodes_;
  MessageNumbers sends_;
  MessageNumbers receives_;
  bool has_width_ = false;
  bool has_use_ = false;
};

}  // namespace

Result<MergedTrace> merge_trace(const std::string& folder, const std::string& file) {
  MergedTrace merged;
  const Result<std::vector<TracePart>> opened = open_trace(folder, merged.warnings);
  if (!opened.has_value()) return Error{opened.error()};
  const std::vector<TracePart>& parts = opened.value();
  merged.part_count = worker_count_of(parts);
  const TraceClock clock(parts);
  CodePlaces places(parts);
  PerfettoFile output(file);
  for_each_process(parts, [&](std::span<const TracePart> of_process) {
    ProcessTimeline timeline(of_process, places, output);
    merged.event_count += walk(of_process, clock, timeline);
  });
  if (const int error = output.close(); error != 0) {
    if (!output.has_packets())
      return Error{fmt::format("{} cannot be written: {}", file, std::strerror(error))};
    merged.cut_off =
        fmt::format("{} ends within its first {} events, because the rest cannot be written: {}",
                    file, merged.event_count, std::strerror(error));
  }
  return merged;
}

void remove_trace(const std::string& file) {
  std::error_code error;
  if (is_otf2_name(file)) {
    remove_archive(file);
  } else if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(file, error))) {
    return;
  }
  std::filesystem::remove(file, error);
}

}  // namespace sorrel::tool
