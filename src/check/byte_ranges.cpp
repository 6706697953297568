#include "check/byte_ranges.hpp"

#include <algorithm>
#include <array>

#include "base/check.hpp"
#include "base/hash.hpp"
#include "os/peer_memory.hpp"
#include "os/process_number.hpp"

namespace sorrel::check {

namespace {

constexpr std::size_t range_count_max = 4096;
/// Larger buffers are hashed in samples.
constexpr std::uint64_t hashed_bytes_max = std::uint64_t{1} << 20;
constexpr std::uintptr_t sample_bytes = 64;
/// Their distance is at least a page. However large a buffer is, each range has so many at most: a
/// message of few bytes must not cost a pass over the buffer that it is received in.
constexpr std::uintptr_t sample_step_min = 4096;
constexpr std::uint64_t sample_count_max = 1024;

/// The hash of pieces of memory, which are read by the system: the program may have unmapped them.
class PieceHash {
 public:
  void add(std::uintptr_t begin, std::size_t bytes) {
    SORREL_ASSERT(bytes <= copy_.size(), "a piece of %zu bytes", bytes);
    if (count_ == pieces_.size() || bytes_ + bytes > copy_.size()) flush();
    pieces_[count_++] = {.begin = begin, .end = begin + bytes};
    bytes_ += bytes;
  }

  /// Nothing if some of the memory is gone.
  [[nodiscard]] std::optional<std::uint64_t> result() {
    flush();
    return is_readable_ ? std::optional(hash_) : std::nullopt;
  }

 private:
  void flush() {
    is_readable_ = is_readable_ && (count_ == 0 || os::read_peer_pieces(process_, copy_.data(),
                                                                        {pieces_.data(), count_}));
    hash_ = hash_of({copy_.data(), bytes_}, hash_);
    count_ = bytes_ = 0;
  }

  const int process_ = os::process_number();
  std::array<os::MemoryRange, os::piece_count_max> pieces_{};
  std::size_t count_ = 0;
  std::array<char, sample_bytes * os::piece_count_max> copy_{};
  std::size_t bytes_ = 0;
  std::uint64_t hash_ = hash_of("");
  bool is_readable_ = true;
};

}  // namespace

void ByteRanges::add(const void* buffer, std::uint64_t count, const mpi::Datatype& type) {
  if (count == 0 || type.size() == 0) return;
  const auto begin =
      reinterpret_cast<std::uintptr_t>(buffer) + static_cast<std::uintptr_t>(type.offset());
  if (type.is_dense())
    return add_range({begin, begin + count * static_cast<std::uintptr_t>(type.extent())});
  for (std::uint64_t i = 0; i < count && ranges_.size() < range_count_max; ++i)
    add_layout(*type.layout(), begin + i * static_cast<std::uintptr_t>(type.extent()));
}

void ByteRanges::add_range(ByteRange range) {
  SORREL_ASSERT(range.begin <= range.end, "0x%zx to 0x%zx", range.begin, range.end);
  if (!ranges_.empty() && ranges_.back().end == range.begin) {
    ranges_.back().end = range.end;
  } else if (ranges_.size() < range_count_max) {
    ranges_.push_back(range);
  } else {
    return;
  }
  bytes_ += range.end - range.begin;
}

void ByteRanges::add_layout(const mpi::Layout& layout, std::uintptr_t at) {
  const auto moved = [at](std::int64_t displacement) {
    return at + static_cast<std::uintptr_t>(displacement);
  };
  if (layout.kind == mpi::Layout::Kind::block) return add_range({at, at + layout.bytes});
  for (std::size_t i = 0; i < layout.count && ranges_.size() < range_count_max; ++i) {
    switch (layout.kind) {
      case mpi::Layout::Kind::loop:
        add_layout(*layout.child, moved(static_cast<std::int64_t>(i) * layout.stride));
        break;
      case mpi::Layout::Kind::segments: {
        const mpi::Segment* segment = layout.segments + i;
        const std::uintptr_t begin = moved(segment->displacement);
        add_range({begin, begin + (segment[1].packed - segment[0].packed)});
        break;
      }
      default:
        add_layout(*layout.branches[i].child, moved(layout.branches[i].displacement));
        break;
    }
  }
}

std::optional<std::uintptr_t> ByteRanges::overlap_with(const ByteRanges& other) const {
  const auto sorted = [](std::vector<ByteRange> ranges) {
    std::ranges::sort(ranges, {}, &ByteRange::begin);
    return ranges;
  };
  const std::vector<ByteRange> a = sorted(ranges_);
  const std::vector<ByteRange> b = sorted(other.ranges_);
  for (std::size_t i = 0, k = 0; i < a.size() && k < b.size();) {
    const std::uintptr_t begin = std::max(a[i].begin, b[k].begin);
    if (begin < std::min(a[i].end, b[k].end)) return begin;
    if (a[i].end < b[k].end) {
      ++i;
    } else {
      ++k;
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> ByteRanges::hash() const {
  SORREL_ASSERT(ranges_.size() <= range_count_max, "%zu ranges", ranges_.size());
  const bool is_sampled = bytes_ > hashed_bytes_max;
  const std::uintptr_t step = std::max(sample_step_min, bytes_ / sample_count_max);
  PieceHash hash;
  for (const ByteRange& range : ranges_) {
    for (std::uintptr_t at = range.begin; at < range.end; at += step)
      hash.add(at, std::min(range.end - at, is_sampled ? sample_bytes : step));
  }
  return hash.result();
}

}  // namespace sorrel::check
