#include "runtime/moves/packed_rank.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/check.hpp"
#include "base/hash.hpp"
#include "base/invariants.hpp"

namespace sorrel::runtime {

namespace {

void add_ranges(std::span<const os::MemoryRange> ranges, ByteWriter& to) {
  to.add_block({reinterpret_cast<const char*>(ranges.data()), ranges.size_bytes()});
}

std::vector<os::MemoryRange> take_ranges(ByteCursor& from) {
  const std::string_view block = from.take_block();
  std::vector<os::MemoryRange> ranges(block.size() / sizeof(os::MemoryRange));
  if (!ranges.empty())
    std::memcpy(ranges.data(), block.data(), ranges.size() * sizeof(os::MemoryRange));
  return ranges;
}

}  // namespace

void PackedRank::check_invariants() const {
  SORREL_CHECK(number >= 0, "rank %d", number);
  std::vector<os::MemoryRange> sorted = memory;
  std::ranges::sort(sorted, {}, &os::MemoryRange::begin);
  std::uintptr_t end = 0;
  for (const os::MemoryRange& piece : sorted) {
    if (piece.begin == piece.end) continue;
    SORREL_CHECK(piece.begin < piece.end && piece.begin >= end,
                 "rank %d: a piece from 0x%zx to 0x%zx, behind 0x%zx", number, piece.begin,
                 piece.end, end);
    end = piece.end;
  }
}

void add(const PackedRank& packed, ByteWriter& to) {
  SORREL_ASSERT_INVARIANTS(packed);
  to.add(packed.number);
  to.add(packed.load);
  to.add_block(packed.record);
  add_ranges(packed.memory, to);
  add_ranges(packed.checked, to);
  to.add(packed.check);
}

std::optional<PackedRank> take_packed_rank(ByteCursor& from) {
  PackedRank packed{.number = from.take<std::int32_t>(),
                    .load = from.take<double>(),
                    .record = std::string(from.take_block()),
                    .memory = take_ranges(from),
                    .checked = take_ranges(from),
                    .check = from.take<std::uint64_t>()};
  if (!from.is_good()) return std::nullopt;
  SORREL_ASSERT_INVARIANTS(packed);
  return packed;
}

std::uint64_t check_of(std::span<const os::MemoryRange> ranges) {
  std::uint64_t check = 0;
  for (const os::MemoryRange& range : ranges) {
    const std::string_view bytes(reinterpret_cast<const char*>(range.begin),
                                 range.end - range.begin);
    check = hash_of(bytes, check);
  }
  return check;
}

}  // namespace sorrel::runtime
