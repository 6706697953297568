#include "tools/sorrel/report/job_trace.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <fmt/core.h>
#include <map>
#include <optional>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unordered_map>
#include <utility>

#include "base/check.hpp"
#include "tools/sorrel/report/proto_fields.hpp"
#include "tools/sorrel/trace/perfetto_fields.hpp"

namespace sorrel::tool {

using namespace perfetto;

namespace {

/// The bytes of a file.
class MappedFile {
 public:
  /// Returns errno, 0 if the file can be read.
  int open(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return errno;
    struct stat status{};
    int error = fstat(descriptor, &status) == 0 ? 0 : errno;
    if (error == 0 && S_ISDIR(status.st_mode)) error = EISDIR;
    if (error == 0 && status.st_size > 0) {
      const auto size = static_cast<std::size_t>(status.st_size);
      void* memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
      if (memory == MAP_FAILED) {
        error = errno;
      } else {
        bytes_ = {static_cast<const char*>(memory), size};
      }
    }
    ::close(descriptor);
    return error;
  }

  MappedFile() = default;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  ~MappedFile() {
    if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
  }

  [[nodiscard]] std::string_view bytes() const { return bytes_; }

 private:
  std::string_view bytes_;
};

/// The number behind `prefix`, if `name` is that.
std::optional<std::int32_t> number_after(std::string_view prefix, std::string_view name) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size() || number < 0) return std::nullopt;
  return number;
}

enum class TrackKind : std::uint8_t { worker, rank };

/// What a process has had of threads and cores, as counters of the trace tell it.
struct ProcessCounters {
  ThreadUse use;
  /// Threads granted, since the last event.
  std::optional<std::int64_t> width;
  std::int64_t width_since_ns = 0;

  void set_width(std::int64_t ns, std::int64_t now) {
    if (width) use.granted_ns += (ns - width_since_ns) * *width;
    width = now;
    width_since_ns = ns;
  }
};

struct CounterTrack {
  std::uint64_t process = 0;  ///< its track
  std::string name;
};

struct OpenSlice {
  std::int64_t begin_ns = 0;
  std::uint64_t name = 0;
  bool is_wait = false;
  bool is_lent = false;
  std::optional<WorkKind> work{};
  std::uint32_t site = 0;  ///< of work
};

struct Track {
  TrackKind kind = TrackKind::worker;
  std::uint32_t index = 0;
  std::vector<OpenSlice> open{};
  /// For a rank: calls that are open, one within the other.
  std::uint32_t call_depth = 0;
  /// The begin of the next span of work.
  std::int64_t work_since_ns = 0;
};

/// Thirty years: times can be added.
constexpr std::int64_t ns_max = 1'000'000'000'000'000'000;

/// One end of a message.
struct FlowEnd {
  std::uint64_t flow = 0;
  std::int64_t ns = 0;
  std::uint64_t bytes = 0;
  std::uint32_t rank = 0;
};

struct Event {
  std::uint64_t type = 0;
  std::uint64_t track = 0;
  std::uint64_t name = 0;
  std::uint64_t place = 0;
  std::uint64_t category = 0;
  std::uint64_t comm = no_index;
  std::int64_t root = -1;
  std::uint64_t bytes = 0;
  std::int64_t counted = 0;
  std::optional<std::uint64_t> flow_begin;
  std::optional<std::uint64_t> flow_end;
};

void read_annotation(std::string_view message, Event& event) {
  ProtoFields fields(message);
  std::string_view name;
  std::uint64_t value = 0;
  while (fields.next()) {
    if (fields.number == annotation_field::name) {
      name = fields.bytes;
    } else {
      value = fields.value;
    }
  }
  if (name == comm_name) event.comm = value;
  if (name == root_name) event.root = static_cast<std::int64_t>(value);
  if (name == bytes_name) event.bytes = value;
}

std::optional<Event> read_event(std::string_view message) {
  Event event;
  ProtoFields fields(message);
  while (fields.next()) {
    switch (fields.number) {
      case event_field::type:
        event.type = fields.value;
        break;
      case event_field::track:
        event.track = fields.value;
        break;
      case event_field::name:
        event.name = fields.value;
        break;
      case event_field::place:
        event.place = fields.value;
        break;
      case event_field::category:
        event.category = fields.value;
        break;
      case event_field::annotation:
        read_annotation(fields.bytes, event);
        break;
      case event_field::counter_value:
        event.counted = static_cast<std::int64_t>(fields.value);
        break;
      case event_field::flow_begin:
        event.flow_begin = fields.value;
        break;
      case event_field::flow_end:
        event.flow_end = fields.value;
        break;
      default:
        break;
    }
  }
  return fields.is_damaged() ? std::nullopt : std::optional(event);
}

class Reader {
 public:
  /// False: the bytes are not a packet.
  bool add_packet(std::string_view packet) {
    ProtoFields fields(packet);
    std::int64_t ns = 0;
    std::string_view event;
    while (fields.next()) {
      switch (fields.number) {
        case packet_field::timestamp:
          ns = static_cast<std::int64_t>(fields.value);
          break;
        case packet_field::definitions:
          if (!add_definitions(fields.bytes)) return false;
          break;
        case packet_field::descriptor:
          if (!add_descriptor(fields.bytes)) return false;
          break;
        case packet_field::event:
          event = fields.bytes;
          break;
        default:
          break;
      }
    }
    if (fields.is_damaged() || ns < 0 || ns > ns_max) return false;
    return event.empty() || add_event(ns, event);
  }

  [[nodiscard]] bool has_ranks() const { return !job_.ranks.empty() && !job_.workers.empty(); }

  JobTrace finish() && {
    for (auto& [id, track] : tracks_)
      while (!track.open.empty())
        end_slice(track, job_.end_ns);
    SORREL_ASSERT(
        std::ranges::all_of(tracks_, [](const auto& each) { return each.second.call_depth == 0; }),
        "a call has not ended");
    sum_use();
    sort_ranks();
    link_runs();
    link_messages();
    return std::move(job_);
  }

 private:
  struct Name {
    std::string text;
    std::optional<std::int32_t> rank;
    bool is_idle = false;
    bool is_away = false;
    bool is_wait = false;
  };

  struct Category {
    std::optional<WorkKind> work;
    bool is_loan = false;
  };

  static bool read_definition(std::string_view message,
                              std::uint64_t& number,
                              std::string_view& text) {
    ProtoFields fields(message);
    while (fields.next()) {
      if (fields.number == name_field::number) number = fields.value;
      if (fields.number == name_field::name) text = fields.bytes;
    }
    return !fields.is_damaged();
  }

  bool add_name(std::string_view message) {
    std::uint64_t number = 0;
    std::string_view text;
    if (!read_definition(message, number, text)) return false;
    names_[number] = {.text = std::string(text),
                      .rank = number_after(rank_prefix, text),
                      .is_idle = text == idle_name,
                      .is_away = text == away_name,
                      .is_wait = text == wait_name || text.starts_with(wait_prefix)};
    return true;
  }

  bool add_category(std::string_view message) {
    std::uint64_t number = 0;
    std::string_view text;
    if (!read_definition(message, number, text)) return false;
    categories_[number] = {.work = text == loop_category     ? std::optional(WorkKind::loop)
                                   : text == task_category   ? std::optional(WorkKind::task)
                                   : text == openmp_category ? std::optional(WorkKind::openmp)
                                                             : std::nullopt,
                           .is_loan = text == loan_category};
    return true;
  }

  bool add_place(std::string_view message) {
    ProtoFields fields(message);
    std::uint64_t number = 0;
    CodePlace place;
    while (fields.next()) {
      if (fields.number == place_field::number) number = fields.value;
      if (fields.number == place_field::file) place.file = fields.bytes;
      if (fields.number == place_field::function) place.function = fields.bytes;
      if (fields.number == place_field::line) place.line = fields.value;
    }
    places_[number] = std::move(place);
    return !fields.is_damaged();
  }

  bool add_definitions(std::string_view message) {
    ProtoFields fields(message);
    while (fields.next()) {
      if (fields.number == definition_field::event_name && !add_name(fields.bytes)) return false;
      if (fields.number == definition_field::category && !add_category(fields.bytes)) return false;
      if (fields.number == definition_field::place && !add_place(fields.bytes)) return false;
    }
    return !fields.is_damaged();
  }

  bool add_descriptor(std::string_view message) {
    ProtoFields fields(message);
    std::uint64_t track = 0;
    std::uint64_t parent = 0;
    std::string_view name;
    std::string_view process;
    std::string_view thread;
    bool is_counter = false;
    while (fields.next()) {
      if (fields.number == descriptor_field::counter) is_counter = true;
      if (fields.number == descriptor_field::track) track = fields.value;
      if (fields.number == descriptor_field::parent) parent = fields.value;
      if (fields.number == descriptor_field::name) name = fields.bytes;
      if (fields.number == descriptor_field::process) process = fields.bytes;
      if (fields.number == descriptor_field::thread) thread = fields.bytes;
    }
    if (fields.is_damaged()) return false;
    if (!process.empty()) {
      ++job_.process_count;
      last_process_ = track;
      processes_[track];
    } else if (is_counter) {
      counters_[track] = {.process = parent, .name = std::string(name)};
    } else if (!thread.empty()) {
      add_worker(track, thread);
    } else if (const auto node = number_after(node_prefix, name)) {
      nodes_[track] = static_cast<std::uint32_t>(*node);
    } else if (const auto number = number_after(rank_prefix, name)) {
      add_rank(track, parent, *number);
    }
    return true;
  }

  void add_worker(std::uint64_t id, std::string_view thread) {
    ProtoFields fields(thread);
    std::string_view name;
    std::uint64_t process = 0;
    while (fields.next()) {
      if (fields.number == thread_field::name) name = fields.bytes;
      if (fields.number == thread_field::process) process = fields.value;
    }
    const auto number = number_after(worker_prefix, name);
    if (!number) return;
    const auto index = static_cast<std::uint32_t>(job_.workers.size());
    if (!tracks_.try_emplace(id, Track{.kind = TrackKind::worker, .index = index}).second) return;
    ++processes_[last_process_].use.worker_count;
    job_.workers.push_back({.process = static_cast<std::uint32_t>(process) - first_process,
                            .number = static_cast<std::uint32_t>(*number)});
  }

  void add_rank(std::uint64_t id, std::uint64_t parent, std::int32_t number) {
    if (tracks_.contains(id)) return;
    const auto [known, is_new] =
        rank_index_.try_emplace(number, static_cast<std::uint32_t>(job_.ranks.size()));
    tracks_[id] = {.kind = TrackKind::rank, .index = known->second};
    if (!is_new) return;
    // Tracks of ranks follow those of the process and of the worker.
    const std::uint32_t process = job_.workers.empty() ? 0 : job_.workers.back().process;
    const auto node = nodes_.find(parent);
    job_.ranks.push_back({.number = number,
                          .process = process,
                          .node = node == nodes_.end() ? process : node->second});
    SORREL_ASSERT(rank_index_.size() == job_.ranks.size(), "%zu numbers of %zu ranks",
                  rank_index_.size(), job_.ranks.size());
  }

  bool add_event(std::int64_t ns, std::string_view message) {
    const std::optional<Event> event = read_event(message);
    if (!event) return false;
    ++job_.event_count;
    job_.end_ns = std::max(job_.end_ns, ns);
    if (event->type == counter) add_count(ns, *event);
    const auto found = tracks_.find(event->track);
    if (found == tracks_.end()) return true;
    Track& track = found->second;
    if (event->type == slice_begin) {
      begin_slice(track, ns, *event);
    } else if (event->type == slice_end) {
      if (!track.open.empty()) end_slice(track, ns);
    } else if (event->type == instant && track.kind == TrackKind::rank) {
      const FlowEnd end{.ns = ns, .bytes = event->bytes, .rank = track.index};
      if (event->flow_begin) (sends_.emplace_back(end)).flow = *event->flow_begin;
      if (event->flow_end) (receives_.emplace_back(end)).flow = *event->flow_end;
    }
    return true;
  }

  void add_count(std::int64_t ns, const Event& event) {
    const auto found = counters_.find(event.track);
    if (found == counters_.end()) return;
    const auto process = processes_.find(found->second.process);
    if (process == processes_.end()) return;
    ThreadUse& use = process->second.use;
    const std::string& name = found->second.name;
    if (name == width_name) process->second.set_width(ns, event.counted);
    if (name != core_time_name && name != core_wait_name) return;
    use.is_accounted = true;
    (name == core_time_name ? use.core_ns : use.core_wait_ns) = event.counted;
  }

  void sum_use() {
    for (auto& [track, process] : processes_) {
      if (!process.width) process.set_width(0, process.use.worker_count);
      process.set_width(job_.end_ns, 0);
      process.use.elapsed_ns = job_.end_ns;
      job_.use.add(process.use);
    }
    for (const TracedWorker& worker : job_.workers)
      job_.use.away_ns += worker.away_ns;
  }

  void begin_slice(Track& track, std::int64_t ns, const Event& event) {
    const Category category = event.category == 0 ? Category() : categories_[event.category];
    if (category.work) {
      begin_work(track, ns, event, *category.work);
      return;
    }
    const bool is_wait = names_[event.name].is_wait;
    track.open.push_back(
        {.begin_ns = ns, .name = event.name, .is_wait = is_wait, .is_lent = category.is_loan});
    if (track.kind != TrackKind::rank) return;
    SORREL_ASSERT(track.index < job_.ranks.size(), "rank %u of %zu", track.index,
                  job_.ranks.size());
    TracedRank& rank = job_.ranks[track.index];
    SORREL_ASSERT(track.call_depth == 0 || !rank.calls.empty(), "%u calls are open",
                  track.call_depth);
    if (is_wait) {
      rank.waits.push_back({.time = {ns, ns},
                            .call = track.call_depth > 0
                                        ? static_cast<std::uint32_t>(rank.calls.size() - 1)
                                        : no_index});
    } else if (track.call_depth++ == 0) {
      rank.calls.push_back({.time = {ns, ns},
                            .site = site_of(event),
                            .comm = static_cast<std::uint32_t>(event.comm),
                            .root = static_cast<std::int32_t>(event.root)});
    }
  }

  void begin_work(Track& track, std::int64_t ns, const Event& event, WorkKind kind) {
    add_work_span(track, ns);
    const OpenSlice* outer = innermost_work(track);
    // A part of a loop is named by the loop, if that is known.
    const bool is_part =
        event.place == 0 && kind == WorkKind::loop && outer != nullptr && outer->work == kind;
    track.open.push_back({.begin_ns = ns,
                          .name = event.name,
                          .work = kind,
                          .site = is_part ? outer->site : site_of(event)});
  }

  static const OpenSlice* innermost_work(const Track& track) {
    const auto found =
        std::ranges::find_if(track.open.rbegin(), track.open.rend(),
                             [](const OpenSlice& each) { return each.work.has_value(); });
    return found == track.open.rend() ? nullptr : &*found;
  }

  /// What has run since the last begin or end of work.
  void add_work_span(Track& track, std::int64_t ns) {
    const OpenSlice* work = innermost_work(track);
    if (work != nullptr && ns > track.work_since_ns) {
      auto& spans = track.kind == TrackKind::rank ? job_.ranks[track.index].work
                                                  : job_.workers[track.index].help;
      spans.push_back({.time = {track.work_since_ns, ns}, .kind = *work->work, .site = work->site});
    }
    track.work_since_ns = std::max(track.work_since_ns, ns);
  }

  void end_slice(Track& track, std::int64_t ns) {
    SORREL_ASSERT(!track.open.empty(), "no slice is open");
    ns = std::max(ns, track.open.back().begin_ns);
    if (track.open.back().work) add_work_span(track, ns);
    const OpenSlice slice = track.open.back();
    track.open.pop_back();
    if (slice.work) return;
    if (track.kind == TrackKind::rank) {
      TracedRank& rank = job_.ranks[track.index];
      SORREL_ASSERT(slice.is_wait ? !rank.waits.empty() : track.call_depth > 0,
                    "a slice ends that has not begun");
      if (slice.is_wait) {
        rank.waits.back().time.end = ns;
      } else if (--track.call_depth == 0) {
        rank.calls.back().time.end = ns;
      }
      return;
    }
    SORREL_ASSERT(track.index < job_.workers.size(), "worker %u of %zu", track.index,
                  job_.workers.size());
    TracedWorker& worker = job_.workers[track.index];
    const Name& name = names_[slice.name];
    if (name.is_idle || name.is_away) {
      worker.idle.push_back({slice.begin_ns, ns});
      if (name.is_away) worker.away_ns += ns - slice.begin_ns;
    } else if (name.rank) {
      const auto found = rank_index_.find(*name.rank);
      if (found != rank_index_.end())
        worker.runs.push_back(
            {.time = {slice.begin_ns, ns}, .rank = found->second, .is_lent = slice.is_lent});
    }
  }

  std::uint32_t site_of(const Event& event) {
    const auto [found, is_new] = sites_.try_emplace({event.name, event.place},
                                                    static_cast<std::uint32_t>(job_.sites.size()));
    if (is_new)
      job_.sites.push_back({.function = names_[event.name].text, .place = places_[event.place]});
    SORREL_ASSERT(found->second < job_.sites.size(), "site %u of %zu", found->second,
                  job_.sites.size());
    return found->second;
  }

  /// By number.
  void sort_ranks() {
    std::vector<TracedRank> sorted;
    std::vector<std::uint32_t> new_index(job_.ranks.size());
    for (const auto& [number, index] : rank_index_) {
      new_index[index] = static_cast<std::uint32_t>(sorted.size());
      sorted.push_back(std::move(job_.ranks[index]));
    }
    SORREL_ASSERT(sorted.size() == new_index.size(), "%zu ranks of %zu", sorted.size(),
                  new_index.size());
    job_.ranks = std::move(sorted);
    for (TracedWorker& worker : job_.workers)
      for (Run& run : worker.runs)
        run.rank = new_index[run.rank];
    for (auto* ends : {&sends_, &receives_})
      for (FlowEnd& end : *ends)
        end.rank = new_index[end.rank];
  }

  void link_runs() {
    for (std::uint32_t w = 0; w < job_.workers.size(); ++w) {
      const std::vector<Run>& runs = job_.workers[w].runs;
      for (std::uint32_t r = 0; r < runs.size(); ++r)
        job_.ranks[runs[r].rank].runs.push_back({.worker = w, .run = r});
    }
    for (TracedRank& rank : job_.ranks) {
      const auto begin_of = [&](const RunPlace& place) { return job_.run_at(place).time.begin; };
      if (!std::ranges::is_sorted(rank.runs, {}, begin_of))
        std::ranges::stable_sort(rank.runs, {}, begin_of);
      rank.home = home_of(rank);
    }
  }

  [[nodiscard]] std::uint32_t home_of(const TracedRank& rank) const {
    std::map<std::uint32_t, std::int64_t> times;
    for (const RunPlace& place : rank.runs) {
      const Run& run = job_.run_at(place);
      if (!run.is_lent) times[place.worker] += run.time.ns();
    }
    const auto longest =
        std::ranges::max_element(times, {}, [](const auto& each) { return each.second; });
    return longest == times.end() ? 0 : longest->first;
  }

  void link_messages() {
    std::ranges::sort(receives_, {}, &FlowEnd::flow);
    std::ranges::stable_sort(sends_, {}, &FlowEnd::ns);
    job_.messages.reserve(sends_.size());
    for (const FlowEnd& send : sends_) {
      const auto index = static_cast<std::uint32_t>(job_.messages.size());
      const auto receive = std::ranges::lower_bound(receives_, send.flow, {}, &FlowEnd::flow);
      const bool is_received = receive != receives_.end() && receive->flow == send.flow;
      job_.messages.push_back({.source = send.rank,
                               .destination = is_received ? receive->rank : no_index,
                               .send_ns = send.ns,
                               .receive_ns = is_received ? receive->ns : send.ns,
                               .bytes = send.bytes});
      job_.ranks[send.rank].sent.push_back(index);
      if (is_received) job_.ranks[receive->rank].received.push_back(index);
    }
    SORREL_ASSERT(job_.messages.size() == sends_.size(), "%zu messages of %zu sends",
                  job_.messages.size(), sends_.size());
    for (TracedRank& rank : job_.ranks)
      std::ranges::stable_sort(
          rank.received, {}, [&](std::uint32_t index) { return job_.messages[index].receive_ns; });
  }

  JobTrace job_;
  std::unordered_map<std::uint64_t, Track> tracks_;
  /// Processes by their tracks.
  std::map<std::uint64_t, ProcessCounters> processes_;
  std::uint64_t last_process_ = 0;
  std::unordered_map<std::uint64_t, CounterTrack> counters_;
  /// Simulated nodes, by their tracks.
  std::unordered_map<std::uint64_t, std::uint32_t> nodes_;
  std::unordered_map<std::uint64_t, Name> names_;
  std::unordered_map<std::uint64_t, Category> categories_;
  std::unordered_map<std::uint64_t, CodePlace> places_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> sites_;
  std::map<std::int32_t, std::uint32_t> rank_index_;
  std::vector<FlowEnd> sends_;
  std::vector<FlowEnd> receives_;
};

}  // namespace

Result<JobTrace> read_job_trace(const std::string& path) {
  MappedFile file;
  if (const int error = file.open(path); error != 0)
    return Error{fmt::format("{} cannot be read: {}", path, std::strerror(error))};
  if (file.bytes().empty()) return Error{path + " is empty"};
  Reader reader;
  ProtoFields packets(file.bytes());
  bool is_trace = true;
  while (is_trace && packets.next())
    is_trace = packets.number == file_field::packet && reader.add_packet(packets.bytes);
  // What is cut off has begun well.
  if (is_trace && packets.is_damaged() && reader.has_ranks()) {
    return Error{fmt::format(
        "{} is cut off; write it again by `sorrel run --trace` or `sorrel trace`", path)};
  }
  if (!is_trace || packets.is_damaged() || !reader.has_ranks())
    return Error{path + " is not a trace of `sorrel run --trace`"};
  return std::move(reader).finish();
}

}  // namespace sorrel::tool
