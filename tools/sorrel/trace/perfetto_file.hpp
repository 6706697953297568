//! PerfettoFile - writes tracks, slices, flows and counters in the format of Perfetto
//! (protos/perfetto/trace/perfetto_trace.proto of that project).
//!
//! Packets need not be in the order of time, except those of one track that begin and end slices.
//! After an error, as a full disk, nothing more is written, and the file ends with a whole packet.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "tools/sorrel/trace/code_places.hpp"
#include "tools/sorrel/trace/proto_message.hpp"

namespace sorrel::tool {

/// The number of a track; not 0.
using TrackId = std::uint64_t;

class PerfettoFile {
 public:
  /// Creates or overwrites the file.
  explicit PerfettoFile(const std::string& path);
  ~PerfettoFile();
  PerfettoFile(const PerfettoFile&) = delete;
  PerfettoFile& operator=(const PerfettoFile&) = delete;

  void add_process(TrackId track, std::uint32_t process, std::string_view name);
  /// A thread of a process.
  void add_thread(TrackId track,
                  std::uint32_t process,
                  std::uint32_t thread,
                  std::string_view name);
  /// Tracks below another one are in the order of `order`.
  void add_track(TrackId track, TrackId parent, std::string_view name, std::int32_t order);
  void add_counter(TrackId track, TrackId parent, std::string_view name, std::string_view unit);

  /// A number that readers show with an event.
  struct Annotation {
    std::string_view name;
    std::int64_t value;
  };

  struct Slice {
    TrackId track;
    std::int64_t ns;
    std::string_view name;
    const CodePlace* place = nullptr;
    std::optional<std::uint64_t> comm = std::nullopt;  ///< context of the communicator of a call
    std::optional<std::int64_t> root = std::nullopt;   ///< rank of the job
    std::string_view category = {};
    std::span<const Annotation> annotations = {};
  };

  void begin(const Slice& slice);
  void end(TrackId track, std::int64_t ns);
  void count(TrackId track, std::int64_t ns, std::int64_t value);

  enum class FlowEnd { begin, end };

  struct Message {
    TrackId track;
    std::int64_t ns;
    FlowEnd flow_end;
    std::uint64_t flow;
    std::int32_t peer;  ///< -1: not known
    std::int32_t tag;
    std::uint64_t bytes;
  };

  /// One end of a message.
  void add(const Message& message);

  struct Instant {
    TrackId track;
    std::int64_t ns;
    std::string_view name;
    std::string_view category;
    std::span<const Annotation> annotations;
    std::optional<FlowEnd> flow_end = std::nullopt;
    std::uint64_t flow = 0;
  };

  void add_instant(const Instant& instant);

  /// errno; 0: what has been added until now is written, or will be.
  [[nodiscard]] int error() const { return error_; }

  /// errno; 0: all has been written.
  [[nodiscard]] int close();

  /// Whether there is something in the file; after close().
  [[nodiscard]] bool has_packets() const { return written_bytes_ != 0; }

 private:
  void write_descriptor(const ProtoMessage& descriptor);
  void write_event(std::int64_t ns, const ProtoMessage& event);
  std::uint64_t number_in(std::unordered_map<std::string, std::uint64_t>& table,
                          std::uint32_t field,
                          std::string_view text);
  std::uint64_t name_number(std::string_view name);
  std::uint64_t category_number(std::string_view category);
  std::uint64_t place_number(const CodePlace& place);
  void write(const ProtoMessage& packet);
  void flush();

  int descriptor_;
  int error_ = 0;
  /// Whole packets that follow those in the file.
  ProtoMessage pending_;
  std::int64_t written_bytes_ = 0;
  /// Texts that packets refer to by number, and those that the next packet defines.
  std::unordered_map<std::string, std::uint64_t> names_;
  std::unordered_map<std::string, std::uint64_t> categories_;
  std::unordered_map<const CodePlace*, std::uint64_t> places_;
  ProtoMessage definitions_;
  bool is_first_ = true;
};

}  // namespace sorrel::tool
