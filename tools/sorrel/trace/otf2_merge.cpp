#include "tools/sorrel/trace/otf2_merge.hpp"

#include <filesystem>
#include <fmt/core.h>
#include <system_error>
#include <vector>

#if SORREL_HAS_OTF2
#include <algorithm>
#include <cstdarg>
#include <map>
#include <optional>
#include <otf2/otf2.h>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "tools/sorrel/trace/code_places.hpp"
#include "tools/sorrel/trace/process_walk.hpp"
#include "tools/sorrel/trace/trace_clock.hpp"
#include "tools/sorrel/trace/trace_part.hpp"
#endif

namespace sorrel::tool {

namespace fs = std::filesystem;

namespace {

/// Name of an archive's files, as Score-P names them.
constexpr const char* archive_name = "traces";

[[maybe_unused]] fs::path anchor_of(const std::string& path) {
  return fs::path(path) / (std::string(archive_name) + ".otf2");
}

}  // namespace

bool is_otf2_name(std::string_view name) {
  return name.ends_with(".otf2");
}

std::string otf2_refusal(const std::string& path) {
#if SORREL_HAS_OTF2
  std::error_code error;
  if (!fs::exists(path, error)) return "";
  const bool is_free = fs::is_directory(path, error) &&
                       (fs::is_empty(path, error) || fs::exists(anchor_of(path), error));
  return is_free ? "" : fmt::format("{} exists and is no OTF2 archive", path);
#else
  return fmt::format(
      "{}: OTF2 is not supported, because libotf2 was not installed when sorrel was built", path);
#endif
}

void remove_archive(const std::string& path) {
  std::error_code error;
  for (const char* suffix : {".otf2", ".def"})
    fs::remove(fs::path(path) / (std::string(archive_name) + suffix), error);
  const fs::path locations = fs::path(path) / archive_name;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(locations, error))
    if (entry.path().extension() == ".evt" || entry.path().extension() == ".def")
      files.push_back(entry.path());
  for (const fs::path& file : files)
    fs::remove(file, error);
  fs::remove(locations, error);
}

#if SORREL_HAS_OTF2

namespace {

using trace::Kind;
using trace::MessageRecord;
using trace::Record;

constexpr std::uint64_t ns_per_second = 1'000'000'000;
constexpr OTF2_CommRef all_ranks = 0;

OTF2_FlushType flush_always(void* /*user*/,
                            OTF2_FileType /*type*/,
                            OTF2_LocationRef /*location*/,
                            void* /*caller*/,
                            bool /*is_last*/) {
  return OTF2_FLUSH;
}

/// An archive that is written. The first error is kept; after it nothing more is written.
class Archive {
 public:
  explicit Archive(const std::string& path) {
    OTF2_Error_RegisterCallback(keep_error, this);
    archive_ = OTF2_Archive_Open(path.c_str(), archive_name, OTF2_FILEMODE_WRITE,
                                 OTF2_CHUNK_SIZE_MIN, OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT,
                                 OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (archive_ == nullptr) {
      error_ = "the archive cannot be created";
      return;
    }
    static constexpr OTF2_FlushCallbacks callbacks{.otf2_pre_flush = flush_always,
                                                   .otf2_post_flush = nullptr};
    check(OTF2_Archive_SetFlushCallbacks(archive_, &callbacks, nullptr));
    check(OTF2_Archive_SetSerialCollectiveCallbacks(archive_));
    check(OTF2_Archive_OpenEvtFiles(archive_));
  }

  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;

  ~Archive() { (void)close(); }

  [[nodiscard]] OTF2_EvtWriter* events_of(std::int32_t rank) {
    return is_good() ? OTF2_Archive_GetEvtWriter(archive_, static_cast<OTF2_LocationRef>(rank))
                     : nullptr;
  }

  void finish_events(OTF2_EvtWriter* writer) {
    if (is_good()) check(OTF2_Archive_CloseEvtWriter(archive_, writer));
  }

  /// After the events: the writer of definitions; null after an error.
  [[nodiscard]] OTF2_GlobalDefWriter* definitions(std::span<const std::int32_t> ranks) {
    if (!is_good()) return nullptr;
    check(OTF2_Archive_CloseEvtFiles(archive_));
    // Readers expect a file of local definitions for each location.
    check(OTF2_Archive_OpenDefFiles(archive_));
    for (const std::int32_t rank : ranks) {
      OTF2_DefWriter* writer =
          OTF2_Archive_GetDefWriter(archive_, static_cast<OTF2_LocationRef>(rank));
      check(OTF2_Archive_CloseDefWriter(archive_, writer));
    }
    check(OTF2_Archive_CloseDefFiles(archive_));
    return is_good() ? OTF2_Archive_GetGlobalDefWriter(archive_) : nullptr;
  }

  void check(OTF2_ErrorCode error) {
    // Warnings are negative.
    if (error > OTF2_SUCCESS && is_good()) error_ = OTF2_Error_GetDescription(error);
  }

  [[nodiscard]] bool is_good() const { return error_.empty(); }

  /// "": all has been written.
  [[nodiscard]] std::string close() {
    // After an error the library may crash in it: this process ends soon.
    if (archive_ != nullptr && is_good())
      check(OTF2_Archive_Close(std::exchange(archive_, nullptr)));
    return error_;
  }

 private:
  /// The library would print it. It returns success where the end of a file of events could not be
  /// written, so this is the only sign of that.
  static OTF2_ErrorCode keep_error(void* archive,
                                   const char* /*file*/,
                                   std::uint64_t /*line*/,
                                   const char* /*function*/,
                                   OTF2_ErrorCode error,
                                   const char* /*format*/,
                                   va_list /*arguments*/) {
    static_cast<Archive*>(archive)->check(error);
    return error;
  }

  OTF2_Archive* archive_ = nullptr;
  std::string error_;
};

/// What a slice of a rank is.
struct Region {
  std::string name;
  OTF2_RegionRole role;
  OTF2_Paradigm paradigm;
  const CodePlace* place;

  auto operator<=>(const Region&) const = default;
};

/// Writes the events of all ranks: a visitor of walk(), process by process.
class Otf2Timeline {
 public:
  Otf2Timeline(const std::vector<TracePart>& parts, CodePlaces& places, Archive& archive)
      : places_(places), archive_(archive) {
    for (const TracePart& part : parts)
      for (const auto& [address, rank] : part.ranks())
        ranks_[rank].node = {part.process(), part.node_of(rank)};
    std::uint32_t index = 0;
    for (auto& [number, rank] : ranks_) {
      rank.index = index++;
      rank.writer = archive.events_of(number);
    }
    find_senders(parts);
  }

  /// Before walk().
  void begin_process(std::span<const TracePart> parts) { parts_ = parts; }

  void begin_call(std::size_t worker,
                  std::int32_t rank,
                  std::int64_t ns,
                  const CallRecord& record) {
    const TracePart& part = parts_[worker];
    enter(rank, ns,
          {.name = std::string(part.text_of(record.call.first)),
           .role = OTF2_REGION_ROLE_FUNCTION,
           .paradigm = OTF2_PARADIGM_MPI,
           .place = places_.of(part.process(), record.call.second)});
  }

  void end_call(std::int32_t rank, std::int64_t ns) { leave(rank, ns); }

  void begin_wait(std::size_t, std::int32_t rank, std::int64_t ns, std::string_view) {
    enter(rank, ns,
          {.name = "waits",
           .role = OTF2_REGION_ROLE_ARTIFICIAL,
           .paradigm = OTF2_PARADIGM_MEASUREMENT_SYSTEM,
           .place = nullptr});
  }

  void end_wait(std::int32_t rank, std::int64_t ns) { leave(rank, ns); }

  void begin_work(std::size_t worker,
                  std::optional<std::int32_t> rank,
                  std::int64_t ns,
                  const Record& record) {
    // Workers are no locations.
    if (!rank) return;
    const TracePart& part = parts_[worker];
    const auto code_place = [&] { return places_.of(part.process(), record.first + 1); };
    switch (record.kind()) {
      case Kind::task:
        return enter(*rank, ns,
                     {.name = std::string(part.text_of(record.first)),
                      .role = OTF2_REGION_ROLE_TASK,
                      .paradigm = OTF2_PARADIGM_USER,
                      .place = nullptr});
      case Kind::chunk:
        return enter(*rank, ns,
                     {.name = "chunk",
                      .role = OTF2_REGION_ROLE_LOOP,
                      .paradigm = OTF2_PARADIGM_USER,
                      .place = nullptr});
      case Kind::region:
        return enter(*rank, ns,
                     {.name = "parallel region",
                      .role = OTF2_REGION_ROLE_PARALLEL,
                      .paradigm = OTF2_PARADIGM_OPENMP,
                      .place = code_place()});
      default:
        return enter(*rank, ns,
                     {.name = "loop",
                      .role = OTF2_REGION_ROLE_LOOP,
                      .paradigm = OTF2_PARADIGM_USER,
                      .place = code_place()});
    }
  }

  void end_work(std::int32_t rank, std::int64_t ns) { leave(rank, ns); }

  void end_help(std::size_t, std::int64_t) {}

  void message(std::size_t, const MessageRecord& message, Kind kind, std::int64_t ns) {
    const bool is_send = kind == Kind::send;
    const auto sender = senders_.find({message.context, message.source});
    const auto peer = is_send                    ? ranks_.find(message.destination)
                      : sender == senders_.end() ? ranks_.end()
                                                 : ranks_.find(sender->second);
    // Its part of the trace is missing.
    if (peer == ranks_.end() || !archive_.is_good()) return;
    Rank& rank = ranks_[message.rank];
    const OTF2_TimeStamp time = time_of(rank, ns);
    const auto tag = static_cast<std::uint32_t>(message.tag);
    archive_.check((is_send ? OTF2_EvtWriter_MpiSend : OTF2_EvtWriter_MpiRecv)(
        rank.writer, nullptr, time, peer->second.index, all_ranks, tag, message.bytes));
  }

  void run(std::size_t, const RunRecord&) {}

  void idle(std::size_t, std::int64_t, std::optional<std::int64_t>, std::int64_t) {}

  void packet(std::size_t, const trace::PacketRecord&, Kind, std::int64_t) {}

  void move(std::int32_t, std::int64_t, std::uint64_t) {}

  void width(std::int64_t, std::uint64_t, std::uint64_t) {}

  void thread(std::size_t, std::int64_t, const trace::ThreadRecord&) {}

  void spend(std::size_t, std::optional<std::int32_t>, WorkerState, const SpentTime&) {}

  [[nodiscard]] bool has_ended() const { return !archive_.is_good(); }

  void finish(std::size_t, std::int64_t ns) { end_ns_ = std::max(end_ns_, ns); }

  /// After all processes.
  void define() {
    std::vector<std::int32_t> numbers;
    for (auto& [number, rank] : ranks_) {
      if (archive_.is_good())
        archive_.check(OTF2_EvtWriter_GetNumberOfEvents(rank.writer, &rank.event_count));
      archive_.finish_events(rank.writer);
      numbers.push_back(number);
    }
    writer_ = archive_.definitions(numbers);
    if (writer_ == nullptr) return;
    const auto trace_ns = static_cast<std::uint64_t>(end_ns_) + 1;
    archive_.check(OTF2_GlobalDefWriter_WriteClockProperties(writer_, ns_per_second, 0, trace_ns,
                                                             OTF2_UNDEFINED_TIMESTAMP));
    (void)string_of("");
    define_regions();
    define_ranks();
  }

 private:
  struct Rank {
    std::pair<std::uint32_t, std::uint32_t> node;  ///< process, simulated node
    std::uint32_t index = 0;                       ///< in the communicator of all ranks
    OTF2_EvtWriter* writer = nullptr;
    std::uint64_t last_ns = 0;
    std::uint64_t event_count = 0;
    std::vector<OTF2_RegionRef> open;
  };

  /// Finds, in the communicators that the messages have named, the rank of the job.
  void find_senders(const std::vector<TracePart>& parts) {
    for (const TracePart& part : parts) {
      Record record;
      for (TracePart::Events events(part); events.next(record);) {
        if (record.kind() != Kind::send) continue;
        const auto message = MessageRecord::of(record);
        senders_[{message.context, message.source}] = message.rank;
      }
    }
  }

  /// Times of a location ascend.
  static OTF2_TimeStamp time_of(Rank& rank, std::int64_t ns) {
    rank.last_ns = std::max(rank.last_ns, static_cast<std::uint64_t>(ns));
    return rank.last_ns;
  }

  void enter(std::int32_t number, std::int64_t ns, Region region) {
    Rank& rank = ranks_[number];
    const auto found =
        regions_.try_emplace(std::move(region), static_cast<OTF2_RegionRef>(regions_.size())).first;
    rank.open.push_back(found->second);
    if (archive_.is_good())
      archive_.check(OTF2_EvtWriter_Enter(rank.writer, nullptr, time_of(rank, ns), found->second));
  }

  void leave(std::int32_t number, std::int64_t ns) {
    Rank& rank = ranks_[number];
    const OTF2_RegionRef region = rank.open.back();
    rank.open.pop_back();
    if (archive_.is_good())
      archive_.check(OTF2_EvtWriter_Leave(rank.writer, nullptr, time_of(rank, ns), region));
  }

  OTF2_StringRef string_of(const std::string& text) {
    const auto [found, is_new] =
        strings_.try_emplace(text, static_cast<OTF2_StringRef>(strings_.size()));
    if (is_new)
      archive_.check(OTF2_GlobalDefWriter_WriteString(writer_, found->second, text.c_str()));
    return found->second;
  }

  void define_regions() {
    // Readers want them in the order of their numbers.
    std::vector<const Region*> ordered(regions_.size());
    for (const auto& [region, number] : regions_)
      ordered[number] = &region;
    for (OTF2_RegionRef number = 0; number < ordered.size(); ++number) {
      const Region& region = *ordered[number];
      const OTF2_StringRef name = string_of(region.name);
      const bool has_place = region.place != nullptr;
      const std::string text = has_place ? text_of(region.place) : "";
      const auto line = has_place ? static_cast<std::uint32_t>(region.place->line) : 0U;
      archive_.check(OTF2_GlobalDefWriter_WriteRegion(
          writer_, number, name, name, string_of(text), region.role, region.paradigm,
          OTF2_REGION_FLAG_NONE, string_of(has_place ? region.place->file : ""), line, line));
    }
  }

  void define_ranks() {
    archive_.check(OTF2_GlobalDefWriter_WriteSystemTreeNode(
        writer_, 0, string_of("job"), string_of("job"), OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    std::map<std::pair<std::uint32_t, std::uint32_t>, OTF2_SystemTreeNodeRef> nodes;
    std::vector<std::uint64_t> members;
    std::vector<std::uint64_t> locations;
    for (const auto& [number, rank] : ranks_) {
      const auto [node, is_new] =
          nodes.try_emplace(rank.node, static_cast<OTF2_SystemTreeNodeRef>(1 + nodes.size()));
      if (is_new) {
        const bool is_simulated = rank.node.first != rank.node.second;
        archive_.check(OTF2_GlobalDefWriter_WriteSystemTreeNode(
            writer_, node->second,
            string_of(fmt::format("{} {}", is_simulated ? "simulated node" : "process",
                                  rank.node.second)),
            string_of(is_simulated ? "node" : "process"), 0));
      }
      const OTF2_StringRef name = string_of(fmt::format("rank {}", number));
      archive_.check(OTF2_GlobalDefWriter_WriteLocationGroup(
          writer_, static_cast<OTF2_LocationGroupRef>(number), name,
          OTF2_LOCATION_GROUP_TYPE_PROCESS, node->second, OTF2_UNDEFINED_LOCATION_GROUP));
      archive_.check(OTF2_GlobalDefWriter_WriteLocation(
          writer_, static_cast<OTF2_LocationRef>(number), name, OTF2_LOCATION_TYPE_CPU_THREAD,
          rank.event_count, static_cast<OTF2_LocationGroupRef>(number)));
      members.push_back(locations.size());
      locations.push_back(static_cast<std::uint64_t>(number));
    }
    const auto count = static_cast<std::uint32_t>(locations.size());
    archive_.check(OTF2_GlobalDefWriter_WriteGroup(
        writer_, 0, string_of("locations of MPI"), OTF2_GROUP_TYPE_COMM_LOCATIONS,
        OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, count, locations.data()));
    archive_.check(OTF2_GlobalDefWriter_WriteGroup(writer_, 1, string_of("all ranks"),
                                                   OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                                   OTF2_GROUP_FLAG_NONE, count, members.data()));
    archive_.check(OTF2_GlobalDefWriter_WriteComm(writer_, all_ranks, string_of("all ranks"), 1,
                                                  OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
  }

  CodePlaces& places_;
  Archive& archive_;
  OTF2_GlobalDefWriter* writer_ = nullptr;
  std::span<const TracePart> parts_;
  std::map<std::int32_t, Rank> ranks_;
  std::map<std::pair<std::uint32_t, std::int32_t>, std::int32_t> senders_;
  std::map<Region, OTF2_RegionRef> regions_;
  std::unordered_map<std::string, OTF2_StringRef> strings_;
  std::int64_t end_ns_ = 0;
};

}  // namespace

Result<MergedTrace> merge_otf2(const std::string& folder, const std::string& path) {
  if (const std::string refusal = otf2_refusal(path); !refusal.empty()) return Error{refusal};
  MergedTrace merged;
  const Result<std::vector<TracePart>> opened = open_trace(folder, merged.warnings);
  if (!opened.has_value()) return Error{opened.error()};
  const std::vector<TracePart>& parts = opened.value();
  merged.part_count = worker_count_of(parts);
  remove_archive(path);
  const TraceClock clock(parts);
  CodePlaces places(parts);
  Archive archive(path);
  Otf2Timeline timeline(parts, places, archive);
  for_each_process(parts, [&](std::span<const TracePart> of_process) {
    timeline.begin_process(of_process);
    merged.event_count += walk(of_process, clock, timeline);
  });
  timeline.define();
  if (const std::string error = archive.close(); !error.empty()) {
    // Readers refuse a part of an archive.
    remove_archive(path);
    return Error{fmt::format("{} cannot be written: {}", path, error)};
  }
  return merged;
}

#else

Result<MergedTrace> merge_otf2(const std::string& /*folder*/, const std::string& path) {
  return Error{otf2_refusal(path)};
}

#endif

}  // namespace sorrel::tool
