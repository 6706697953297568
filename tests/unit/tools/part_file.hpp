//! PartFile - a part of a trace that no job has written.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

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
    const std::uint64_t time = ns << Record::kind_bits | static_cast<std::uint8_t>(kind);
    records_.push_back(
        {.time_and_kind = time, .subject = subject, .first = first, .second = second});
  }

  void add_text(std::uint64_t name, const std::string& text) {
    add(0, Kind::text, name, text.size());
    Record bytes;
    std::memcpy(static_cast<void*>(&bytes), text.data(), text.size());
    records_.push_back(bytes);
  }

  void add_message(std::uint64_t ns, Kind kind, const MessageRecord& message) {
    Record record = message.as(kind);
    record.time_and_kind = ns << Record::kind_bits | static_cast<std::uint8_t>(kind);
    records_.push_back(record);
  }

  void write(const std::filesystem::path& folder, std::size_t bytes_less = 0) const {
    std::ofstream file(
        folder /
            ("0-" + (worker_ == trace::no_worker ? "governor" : std::to_string(worker_)) + ".part"),
        std::ios::binary);
    file.write(reinterpret_cast<const char*>(records_.data()),
               static_cast<std::streamsize>(records_.size() * sizeof(Record) - bytes_less));
  }

 private:
  std::uint64_t worker_;
  std::vector<Record> records_;
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
