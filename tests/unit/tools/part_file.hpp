//! PartFile - a part of a trace that no job has written.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "trace/record_code.hpp"
#include "trace/tracer.hpp"

namespace sorrel::tool {

using trace::Kind;
using trace::MessageRecord;
using trace::Record;

inline constexpr std::uint64_t ms = 1'000'000;
inline constexpr std::uint64_t rank_0 = 0x1000;
inline constexpr std::uint64_t rank_1 = 0x2000;
inline constexpr std::uint64_t receive_name = 0x3000;
inline constexpr std::uint64_t send_name = 0x3100;

/// A file of one worker, whose cycle counter counts nanoseconds. Its job begins at `wall_ns`.
class PartFile {
 public:
  explicit PartFile(std::uint64_t worker = 0, std::uint64_t wall_ns = 0) : worker_(worker) {
    add(0, Kind::begin, worker, trace::file_format, trace::file_version);
    add(0, Kind::clock, 0, wall_ns);
    add_text(receive_name, "MPI_Recv");
    add_text(send_name, "MPI_Send");
  }

  void add(std::uint64_t ns,
           Kind kind,
           std::uint64_t subject = 0,
           std::uint64_t first = 0,
           std::uint64_t second = 0) {
    add({.time_and_kind = word_of(ns, kind), .subject = subject, .first = first, .second = second});
  }

  void add_text(std::uint64_t name, const std::string& text) {
    add(0, Kind::text, name, text.size());
    bytes_ += text;
  }

  void add_message(std::uint64_t ns, Kind kind, const MessageRecord& message) {
    Record record = message.as(kind);
    record.time_and_kind = word_of(ns, kind);
    add(record);
  }

  void write(const std::filesystem::path& folder, std::size_t bytes_less = 0) const {
    std::ofstream file(
        folder /
            ("0-" + (worker_ == trace::no_worker ? "governor" : std::to_string(worker_)) + ".part"),
        std::ios::binary);
    file.write(bytes_.data(), static_cast<std::streamsize>(bytes_.size() - bytes_less));
  }

 private:
  static std::uint64_t word_of(std::uint64_t ns, Kind kind) {
    return ns << Record::kind_bits | static_cast<std::uint8_t>(kind);
  }

  void add(const Record& record) {
    std::array<std::byte, trace::record_bytes_max> code;
    const std::byte* end = encoder_.encode(record, code.data());
    bytes_.append(reinterpret_cast<const char*>(code.data()),
                  static_cast<std::size_t>(end - code.data()));
  }

  std::uint64_t worker_;
  trace::RecordEncoder encoder_;
  std::string bytes_;
};

/// Rank 0 calls on worker 0 at 1 ms and waits from 2 ms on; it moves at 3 ms, and runs on worker 1
/// from 4 ms on. Its call returns at 5 ms, and it ends at 7 ms.
struct RankThatMoves {
  RankThatMoves() : first(0), second(1) {
    first.add(0, Kind::rank, rank_0, 0);
    first.add(1 * ms, Kind::call, rank_0, receive_name);
    first.add(2 * ms, Kind::wait_then_idle, rank_0, receive_name);
    first.add(3 * ms, Kind::move, rank_0, 1);
    first.add(20 * ms, Kind::clock, 20 * ms, 20 * ms);
    second.add(0, Kind::rank, rank_1, 1);
    second.add(1 * ms, Kind::wait_then_idle, rank_1, receive_name);
    second.add(4 * ms, Kind::wake, rank_0, receive_name);
    second.add(5 * ms, Kind::result, rank_0);
    second.add(7 * ms, Kind::end_then_idle, rank_0, receive_name);
    second.add(20 * ms, Kind::clock, 20 * ms, 20 * ms);
  }

  void write(const std::filesystem::path& folder) const {
    first.write(folder);
    second.write(folder);
  }

  PartFile first;
  PartFile second;
};

}  // namespace sorrel::tool
