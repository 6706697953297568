#include "tools/sorrel/trace/perfetto_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

#include "base/check.hpp"
#include "os/write_all.hpp"
#include "tools/sorrel/trace/perfetto_fields.hpp"

namespace sorrel::tool {

using namespace perfetto;

namespace {

// All packets are of one sequence, whose first packet clears what readers know.
constexpr std::uint64_t sequence = 1;
constexpr std::uint64_t state_cleared = 1, needs_state = 2;
constexpr std::uint64_t explicit_order = 3;

constexpr std::size_t pending_bytes_max = std::size_t{64} << 10;

// Perfetto's own threads have small numbers; a thread whose number is its process's is the main
// one.
constexpr std::uint32_t first_thread = 1'000'000;

template <class Value>
void annotate(ProtoMessage& event, std::string_view name, std::uint32_t kind, Value value) {
  event.message(event_field::annotation, ProtoMessage()
                                             .text(annotation_field::name, name)
                                             .number(kind, static_cast<std::uint64_t>(value)));
}

}  // namespace

PerfettoFile::PerfettoFile(const std::string& path)
    : descriptor_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) error_ = errno;
}

PerfettoFile::~PerfettoFile() {
  (void)close();
}

int PerfettoFile::close() {
  if (descriptor_ < 0) return error_;
  flush();
  if (::close(descriptor_) != 0 && error_ == 0) error_ = errno;
  descriptor_ = -1;
  return error_;
}

void PerfettoFile::write(const ProtoMessage& packet) {
  if (error_ != 0) return;
  pending_.message(file_field::packet, packet);
  if (pending_.bytes().size() >= pending_bytes_max) flush();
}

void PerfettoFile::flush() {
  if (error_ != 0) return;
  SORREL_ASSERT(descriptor_ >= 0, "the file is closed");
  const auto bytes = static_cast<std::int64_t>(pending_.bytes().size());
  error_ = os::write_all(descriptor_, pending_.bytes());
  pending_ = {};
  if (error_ == 0) {
    written_bytes_ += bytes;
  } else {
    // Readers refuse a part of a packet. A pipe cannot be cut.
    (void)!::ftruncate(descriptor_, written_bytes_);
  }
}

void PerfettoFile::write_descriptor(const ProtoMessage& descriptor) {
  write(ProtoMessage()
            .number(packet_field::sequence, sequence)
            .message(packet_field::descriptor, descriptor));
}

void PerfettoFile::write_event(std::int64_t ns, const ProtoMessage& event) {
  SORREL_ASSERT(ns >= 0, "an event at %lld ns", static_cast<long long>(ns));
  ProtoMessage packet;
  packet.number(packet_field::timestamp, static_cast<std::uint64_t>(ns))
      .number(packet_field::sequence, sequence)
      .number(packet_field::sequence_flags, is_first_ ? state_cleared | needs_state : needs_state);
  if (!definitions_.bytes().empty()) packet.message(packet_field::definitions, definitions_);
  packet.message(packet_field::event, event);
  write(packet);
  definitions_ = {};
  is_first_ = false;
}

void PerfettoFile::add_process(TrackId track, std::uint32_t process, std::string_view name) {
  write_descriptor(ProtoMessage()
                       .number(descriptor_field::track, track)
                       .message(descriptor_field::process,
                                ProtoMessage()
                                    .number(process_field::number, first_process + process)
                                    .text(process_field::name, name)));
}

void PerfettoFile::add_thread(TrackId track,
                              std::uint32_t process,
                              std::uint32_t thread,
                              std::string_view name) {
  write_descriptor(ProtoMessage()
                       .number(descriptor_field::track, track)
                       .message(descriptor_field::thread,
                                ProtoMessage()
                                    .number(thread_field::process, first_process + process)
                                    .number(thread_field::number, first_thread + thread)
                                    .text(thread_field::name, name)));
}

void PerfettoFile::add_track(TrackId track,
                             TrackId parent,
                             std::string_view name,
                             std::int32_t order) {
  write_descriptor(ProtoMessage()
                       .number(descriptor_field::track, track)
                       .text(descriptor_field::name, name)
                       .number(descriptor_field::parent, parent)
                       .number(descriptor_field::ordering, explicit_order)
                       .number(descriptor_field::order, static_cast<std::uint64_t>(order)));
}

void PerfettoFile::add_counter(TrackId track,
                               TrackId parent,
                               std::string_view name,
                               std::string_view unit) {
  write_descriptor(
      ProtoMessage()
          .number(descriptor_field::track, track)
          .text(descriptor_field::name, name)
          .number(descriptor_field::parent, parent)
          .message(descriptor_field::counter, ProtoMessage().text(counter_field::unit_name, unit)));
}

/// The number of a text in one of the tables of the file; a new one is defined with the next
/// packet.
std::uint64_t PerfettoFile::number_in(std::unordered_map<std::string, std::uint64_t>& table,
                                      std::uint32_t field,
                                      std::string_view text) {
  const auto [found, is_new] = table.try_emplace(std::string(text), table.size() + 1);
  if (is_new) {
    definitions_.message(
        field,
        ProtoMessage().number(name_field::number, found->second).text(name_field::name, text));
  }
  return found->second;
}

std::uint64_t PerfettoFile::name_number(std::string_view name) {
  return number_in(names_, definition_field::event_name, name);
}

std::uint64_t PerfettoFile::category_number(std::string_view category) {
  return number_in(categories_, definition_field::category, category);
}

std::uint64_t PerfettoFile::place_number(const CodePlace& place) {
  const auto [found, is_new] = places_.try_emplace(&place, places_.size() + 1);
  if (is_new) {
    definitions_.message(definition_field::place, ProtoMessage()
                                                      .number(place_field::number, found->second)
                                                      .text(place_field::file, place.file)
                                                      .text(place_field::function, place.function)
                                                      .number(place_field::line, place.line));
  }
  return found->second;
}

void PerfettoFile::begin(const Slice& slice) {
  ProtoMessage event;
  event.number(event_field::type, slice_begin)
      .number(event_field::track, slice.track)
      .number(event_field::name, name_number(slice.name));
  if (slice.place != nullptr) event.number(event_field::place, place_number(*slice.place));
  if (!slice.category.empty()) event.number(event_field::category, category_number(slice.category));
  for (const Annotation& annotation : slice.annotations)
    annotate(event, annotation.name, annotation_field::signed_value, annotation.value);
  if (slice.comm) annotate(event, comm_name, annotation_field::unsigned_value, *slice.comm);
  if (slice.root) annotate(event, root_name, annotation_field::signed_value, *slice.root);
  write_event(slice.ns, event);
}

void PerfettoFile::end(TrackId track, std::int64_t ns) {
  write_event(
      ns, ProtoMessage().number(event_field::type, slice_end).number(event_field::track, track));
}

void PerfettoFile::count(TrackId track, std::int64_t ns, std::int64_t value) {
  write_event(ns, ProtoMessage()
                      .number(event_field::type, counter)
                      .number(event_field::track, track)
                      .number(event_field::counter_value, static_cast<std::uint64_t>(value)));
}

void PerfettoFile::add(const Message& message) {
  const bool is_send = message.flow_end == FlowEnd::begin;
  ProtoMessage event;
  event.number(event_field::type, instant)
      .number(event_field::track, message.track)
      .number(event_field::name, name_number(is_send ? "send" : "receive"));
  if (message.peer >= 0)
    annotate(event, is_send ? "to" : "from", annotation_field::signed_value, message.peer);
  annotate(event, tag_name, annotation_field::signed_value, message.tag);
  annotate(event, bytes_name, annotation_field::unsigned_value, message.bytes);
  event.fixed(is_send ? event_field::flow_begin : event_field::flow_end, message.flow);
  write_event(message.ns, event);
}

void PerfettoFile::add_instant(const Instant& instant) {
  ProtoMessage event;
  event.number(event_field::type, perfetto::instant)
      .number(event_field::track, instant.track)
      .number(event_field::name, name_number(instant.name))
      .number(event_field::category, category_number(instant.category));
  for (const Annotation& annotation : instant.annotations)
    annotate(event, annotation.name, annotation_field::signed_value, annotation.value);
  if (instant.flow_end) {
    event.fixed(
        *instant.flow_end == FlowEnd::begin ? event_field::flow_begin : event_field::flow_end,
        instant.flow);
  }
  write_event(instant.ns, event);
}

}  // namespace sorrel::tool
