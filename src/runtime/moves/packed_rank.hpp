//! PackedRank - a rank on its way to another process: its record, and which of its memory goes with
//! it. Pure but for check_of().
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/byte_cursor.hpp"
#include "base/byte_writer.hpp"
#include "os/touched_pages.hpp"

namespace sorrel::runtime {

struct PackedRank {
  std::int32_t number = 0;
  double load = 0;
  /// record_of() (checkpoint/rank_record.hpp).
  std::string record;
  /// At the same addresses in both processes.
  std::vector<os::MemoryRange> memory;
  /// All that must be equal in both: `checked`, and what check_of() gives for it in the sender;
  /// none: it is not checked.
  std::vector<os::MemoryRange> checked;
  std::uint64_t check = 0;

  /// Its memory is pieces, some of them empty, none of which has a byte of another one.
  void check_invariants() const;
};

void add(const PackedRank& packed, ByteWriter& to);

/// The next one. Nothing: the bytes are damaged.
[[nodiscard]] std::optional<PackedRank> take_packed_rank(ByteCursor& from);

/// A hash of this process's memory, also where it has not been touched.
[[nodiscard]] std::uint64_t check_of(std::span<const os::MemoryRange> ranges);

}  // namespace sorrel::runtime
