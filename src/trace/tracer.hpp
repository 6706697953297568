//! Tracer - writes the events of one worker, or of the process, into a file: `sorrel run --trace`.
//!
//! One thread only, the worker's or the governor's. A record becomes a few bytes in a mapped
//! buffer; a full buffer is written into the file. If that fails, or the file has reached its
//! limit, the tracer stops, and says so once. What it has written stays readable, however the
//! process ends.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "os/log_file.hpp"
#include "trace/record.hpp"
#include "trace/record_code.hpp"

namespace sorrel::trace {

/// The value of `first` in a file's first record.
inline constexpr std::uint64_t file_format = 0x45434152544c5253;  // "SRLTRACE", little-endian
inline constexpr std::uint64_t file_version = 4;

/// In place of a worker: the events of the process as a whole.
inline constexpr std::uint32_t no_worker = 0xffffffff;

struct Origin {
  std::uint32_t process = 0;
  std::uint32_t worker = 0;
};

/// The most bytes of all files of a job of so many workers together; a file may have 16 MiB.
inline constexpr std::uint64_t job_bytes_max = std::uint64_t{2} << 30;

[[nodiscard]] constexpr std::uint64_t part_bytes_max(std::uint64_t worker_count) {
  constexpr std::uint64_t least = std::uint64_t{16} << 20;
  return std::max(job_bytes_max / worker_count, least);
}

class Tracer {
 public:
  static constexpr std::size_t buffer_bytes = std::size_t{256} << 10;

  /// Creates `folder`/PROCESS-WORKER.part, or `folder`/PROCESS-governor.part for no_worker, and a
  /// file of the same name that ends with .rest, for the buffer. If that fails, it has stopped.
  /// `bytes_max`: the limit of the file. `has_reported`: of the process, which
  /// reports the first end of its tracers.
  Tracer(const std::string& folder,
         Origin origin,
         std::uint64_t bytes_max,
         std::atomic_flag& has_reported);
  ~Tracer();
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  void add(const Record& record);

  /// A record whose `first` is the address of a constant text, which the file gets, too.
  void add_named(const Record& record) {
    const std::uint64_t address = record.first;
    std::uint64_t& slot = known_texts_[(address >> 3 ^ address >> 14) % known_texts_.size()];
    if (slot != address) [[unlikely]] {
      slot = address;
      add_text(address, reinterpret_cast<const char*>(address));
    }
    add(record);
  }

  /// A record whose `first` is the hash of a text, which the file gets, too.
  void add_hashed(const Record& record, std::string_view text) {
    add_hashed_text(record.first, text);
    add(record);
  }

  /// The text with this hash, for the records that follow.
  void add_hashed_text(std::uint64_t hash, std::string_view text) {
    std::uint64_t& slot = known_texts_[hash % known_texts_.size()];
    if (slot == hash) [[likely]]
      return;
    slot = hash;
    add_text(hash, text);
  }

  /// Text that others refer to by `name`.
  void add_text(std::uint64_t name, std::string_view text);

  /// The files from which this process has code, and where; again when that has changed.
  void add_code();

 private:
  /// Whether the buffer has space for this many bytes, perhaps from now on.
  bool has_space(std::size_t bytes);
  bool empty_buffer();

  /// The bytes before `next_` are part of the file from now on.
  void set_filled() { file_.set_filled(static_cast<std::size_t>(next_ - file_.buffer())); }

  void add_clock();
  void stop(const char* reason);
  void stop_at_limit();

  std::atomic_flag& has_reported_;
  os::LogFile file_;
  const std::string path_;
  std::byte* next_ = nullptr;
  std::byte* end_ = nullptr;
  RecordEncoder encoder_;
  bool has_stopped_ = false;
  /// Texts that the file has, by a hash of their addresses; one that is displaced is written again.
  std::array<std::uint64_t, 1024> known_texts_{};
  const std::uint64_t bytes_max_;
};

}  // namespace sorrel::trace
