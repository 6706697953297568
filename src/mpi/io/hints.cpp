#include "mpi/io/hints.hpp"

#include <charconv>
#include <string>

namespace sorrel::mpi {

namespace {

constexpr std::size_t buffer_bytes_min = 4096;
constexpr std::size_t buffer_bytes_max = std::size_t{1} << 30;

using Buffering = FileHints::Buffering;

void take_buffering(const Info& info, const char* key, Buffering* to) {
  const std::string* value = info.find(key);
  if (value == nullptr) return;
  if (*value == "enable" || *value == "true") *to = Buffering::always;
  if (*value == "disable" || *value == "false") *to = Buffering::never;
  if (*value == "automatic") *to = Buffering::automatic;
}

/// A positive number, or 0.
std::size_t number_in(const Info& info, const char* key) {
  const std::string* value = info.find(key);
  if (value == nullptr) return 0;
  std::size_t number = 0;
  const char* end = value->data() + value->size();
  const auto parsed = std::from_chars(value->data(), end, number);
  return parsed.ec == std::errc{} && parsed.ptr == end ? number : 0;
}

const char* name_of(Buffering buffering) {
  if (buffering == Buffering::automatic) return "automatic";
  return buffering == Buffering::always ? "enable" : "disable";
}

}  // namespace

FileHints FileHints::from(const Info& info) {
  FileHints hints;
  take_buffering(info, "collective_buffering", &hints.read_buffering);
  hints.write_buffering = hints.read_buffering;
  take_buffering(info, "romio_cb_read", &hints.read_buffering);
  take_buffering(info, "romio_cb_write", &hints.write_buffering);
  const std::size_t count = number_in(info, "cb_nodes");
  if (count <= INT32_MAX) hints.aggregator_count_max = static_cast<std::int32_t>(count);
  const std::size_t bytes = number_in(info, "cb_buffer_size");
  if (bytes >= buffer_bytes_min && bytes <= buffer_bytes_max) hints.buffer_bytes = bytes;
  return hints;
}

void FileHints::describe(Info& info, ErrorDetail& detail) const {
  (void)info.set("cb_buffer_size", std::to_string(buffer_bytes).c_str(), detail);
  if (aggregator_count_max != 0)
    (void)info.set("cb_nodes", std::to_string(aggregator_count_max).c_str(), detail);
  if (read_buffering == write_buffering && read_buffering != Buffering::automatic) {
    (void)info.set("collective_buffering", read_buffering == Buffering::always ? "true" : "false",
                   detail);
  }
  (void)info.set("romio_cb_read", name_of(read_buffering), detail);
  (void)info.set("romio_cb_write", name_of(write_buffering), detail);
}

}  // namespace sorrel::mpi
