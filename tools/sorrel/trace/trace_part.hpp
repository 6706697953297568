//! TracePart - what one worker, or the governor, has recorded: a file that src/trace/tracer.hpp has
//! written.
//!
//! Checks everything, because a job may have been killed while it wrote, and any file may lie in
//! the folder. What follows the first damaged record is left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sorrel/result.hpp>

#include "tools/sorrel/trace/part_bytes.hpp"
#include "trace/record.hpp"
#include "trace/record_code.hpp"
#include "trace/tracer.hpp"

namespace sorrel::tool {

/// Code of a file: addresses [begin, end) are the bytes of the file from `offset` on.
struct TracedCode {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t offset;
  std::string_view path;
};

/// One moment on three clocks.
struct TracedClock {
  std::uint64_t cycles;  ///< modulo 2^56
  std::int64_t monotonic_ns;
  std::int64_t wall_ns;
};

class TracePart {
 public:
  /// The error is the rest of a sentence that begins with the file's name.
  [[nodiscard]] static Result<TracePart> open(const std::string& path);

  [[nodiscard]] std::uint32_t process() const { return process_; }

  [[nodiscard]] std::uint32_t worker() const { return worker_; }

  /// Whether a worker has written it, not the governor.
  [[nodiscard]] bool is_of_worker() const { return worker_ != trace::no_worker; }

  /// Names the machine until it is started again.
  [[nodiscard]] std::string_view machine() const;

  /// In the order of time; at least one.
  [[nodiscard]] const std::vector<TracedClock>& clocks() const { return clocks_; }

  [[nodiscard]] const std::vector<TracedCode>& code() const { return code_; }

  /// The ranks that the worker had at first, or that were spawned there, by the addresses of their
  /// states.
  [[nodiscard]] const std::map<std::uint64_t, std::int32_t>& ranks() const { return ranks_; }

  /// The process of a rank, or its simulated node: several of them share a process.
  [[nodiscard]] std::uint32_t node_of(std::int32_t rank) const;

  /// The text at an address; "" if the file does not have it.
  [[nodiscard]] std::string_view text_of(std::uint64_t name) const;

  /// Reads all records one after the other.
  class Records {
   public:
    explicit Records(std::span<const std::byte> bytes) : rest_(bytes) {}

    /// `text`: that of a text record. False at the end, or if the record is damaged.
    bool next(trace::Record& record, std::string_view& text);

   private:
    std::span<const std::byte> rest_;
    trace::RecordDecoder decoder_;
  };

  /// Reads the events one after the other, in the order of time.
  class Events {
   public:
    explicit Events(const TracePart& part) : records_(part.bytes_.bytes()) {}

    /// False at the end.
    bool next(trace::Record& record) {
      std::string_view text;
      while (records_.next(record, text))
        if (record.kind() < trace::Kind::begin) return true;
      return false;
    }

   private:
    Records records_;
  };

 private:
  explicit TracePart(PartBytes bytes) : bytes_(std::move(bytes)) {}

  [[nodiscard]] bool read_definitions();

  PartBytes bytes_;
  std::uint32_t process_ = 0;
  std::uint32_t worker_ = 0;
  std::vector<TracedClock> clocks_;
  std::vector<TracedCode> code_;
  std::map<std::uint64_t, std::int32_t> ranks_;
  std::map<std::int32_t, std::uint32_t> nodes_;
  std::map<std::uint64_t, std::string_view> texts_;
};

/// The parts in a folder, by process and worker; at least one. Adds one line to `warnings` for each
/// file that is left out.
[[nodiscard]] Result<std::vector<TracePart>> open_trace(const std::string& folder,
                                                        std::vector<std::string>& warnings);

/// The parts that workers have written.
[[nodiscard]] std::size_t worker_count_of(const std::vector<TracePart>& parts);

}  // namespace sorrel::tool
