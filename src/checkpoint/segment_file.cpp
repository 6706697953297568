#include "checkpoint/segment_file.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "base/check.hpp"
#include "base/crc32c.hpp"
#include "os/file_owner.hpp"

namespace sorrel::checkpoint {

// Numbers are written as they are in memory.
static_assert(std::endian::native == std::endian::little);

namespace {

constexpr std::uint64_t begin_mark = 0x31504b4352524f53;     // "SORRCKP1"
constexpr std::uint64_t segment_mark = 0x31474553'52524f53;  // "SORRSEG1"
constexpr std::uint64_t end_mark = 0x31444e45'52524f53;      // "SORREND1"
constexpr std::uint32_t version = 2;

/// UserKey::code_of().
constexpr std::size_t code_bytes = 64;

struct Begin {
  std::uint64_t mark;
  std::uint32_t version;
  std::uint32_t page_bytes;
  std::uint64_t generation;
  std::uint64_t layout;
  std::uint32_t process;
  std::uint32_t process_count;
  std::uint32_t rank_count;
  std::uint32_t unused;
};

struct Head {
  std::uint64_t mark;
  std::uint32_t kind;
  std::uint32_t rank;
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint32_t protection;
  std::uint32_t unused;
};

struct End {
  std::uint64_t mark;
  std::uint64_t segment_count;
  std::uint64_t file_bytes;
  /// The code of all bytes before the end; zeros: there was no key.
  std::array<char, code_bytes> code;
  /// Check of all but contents, before this field.
  std::uint32_t check;
  std::uint32_t unused;
};

static_assert(sizeof(Begin) == 48 && sizeof(Head) == 40 && sizeof(End) == 96);

constexpr std::size_t bytes_before_check = offsetof(End, check);

std::size_t piece_count(std::uint64_t bytes) {
  return static_cast<std::size_t>((bytes + piece_bytes - 1) / piece_bytes);
}

std::string system_error(const std::string& path, int error) {
  return path + ": " + std::strerror(error);
}

}  // namespace

std::string SegmentWriter::begin(const std::string& path,
                                 const FileIdentity& identity,
                                 Place place,
                                 const UserKey* key) {
  SORREL_ASSERT(path_.empty(), "%s is begun as %s", path.c_str(), path_.c_str());
  SORREL_ASSERT(identity.process < identity.process_count, "process %u of %u", identity.process,
                identity.process_count);
  path_ = path;
  key_ = key;
  hash_.reset();
  if (key != nullptr && key->is_there()) hash_.emplace(key->hash());
  offset_ = 0;
  check_ = 0;
  segment_count_ = 0;
  const bool is_new = place == Place::folder;
  const int error = file_.open(path.c_str(), {.reads = false,
                                              .writes = true,
                                              .creates = is_new,
                                              .is_exclusive = is_new,
                                              .is_private = is_new});
  if (error != 0) return os::private_open_error(path, error);
  const Begin begin{.mark = begin_mark,
                    .version = version,
                    .page_bytes = identity.page_bytes,
                    .generation = identity.generation,
                    .layout = identity.layout,
                    .process = identity.process,
                    .process_count = identity.process_count,
                    .rank_count = identity.rank_count,
                    .unused = 0};
  return write_checked(&begin, sizeof begin);
}

std::string SegmentWriter::add(const SegmentHead& head, const void* contents) {
  SORREL_ASSERT(offset_ >= static_cast<std::int64_t>(sizeof(Begin)), "a segment at %lld",
                static_cast<long long>(offset_));
  SORREL_ASSERT(contents != nullptr || head.bytes == 0, "no contents of %llu bytes",
                static_cast<unsigned long long>(head.bytes));
  const Head written{.mark = segment_mark,
                     .kind = head.kind,
                     .rank = head.rank,
                     .address = head.address,
                     .bytes = head.bytes,
                     .protection = head.protection,
                     .unused = 0};
  const auto bytes = static_cast<std::size_t>(head.bytes);
  const auto* data = static_cast<const std::byte*>(contents);
  std::vector<std::uint32_t> checks;
  for (std::size_t done = 0; done < bytes; done += piece_bytes)
    checks.push_back(crc32c(data + done, std::min(piece_bytes, bytes - done)));
  SORREL_ASSERT(checks.size() == piece_count(head.bytes), "%zu checks of %llu bytes", checks.size(),
                static_cast<unsigned long long>(head.bytes));
  std::string error = write_checked(&written, sizeof written);
  if (error.empty()) error = write(contents, bytes);
  if (error.empty()) error = write_checked(checks.data(), checks.size() * sizeof checks.front());
  ++segment_count_;
  return error;
}

std::string SegmentWriter::finish(FileSeal& seal) {
  End end{.mark = end_mark,
          .segment_count = segment_count_,
          .file_bytes = static_cast<std::uint64_t>(offset_) + sizeof(End),
          .code = {},
          .check = 0,
          .unused = 0};
  if (hash_) {
    const std::string code = key_->code_of(hash_->finish());
    SORREL_CHECK(code.size() == end.code.size(), "a code of %zu bytes", code.size());
    std::ranges::copy(code, end.code.begin());
  }
  hash_.reset();
  end.check = crc32c(&end, bytes_before_check, check_);
  seal = {.bytes = end.file_bytes, .check = end.check};
  if (std::string error = write(&end, sizeof end); !error.empty()) return error;
  if (const int error = file_.sync(); error != 0) return system_error(path_, error);
  const int error = file_.close();
  return error == 0 ? "" : system_error(path_, error);
}

std::string SegmentWriter::write(const void* data, std::size_t bytes) {
  const os::Moved moved = file_.write(data, bytes, offset_);
  offset_ += static_cast<std::int64_t>(moved.bytes);
  if (hash_) hash_->add(data, moved.bytes);
  return moved.error == 0 ? "" : system_error(path_, moved.error);
}

std::string SegmentWriter::write_checked(const void* data, std::size_t bytes) {
  check_ = crc32c(data, bytes, check_);
  return write(data, bytes);
}

std::string SegmentReader::damaged(const char* what) const {
  return path_ + ": not a whole file of a checkpoint: " + what;
}

bool SegmentReader::read_checked(void* data, std::size_t bytes, std::int64_t offset) {
  const os::Moved moved = file_.read(data, bytes, offset);
  check_ = crc32c(data, moved.bytes, check_);
  return moved.error == 0 && moved.bytes == bytes;
}

std::string SegmentReader::open(const std::string& path, Place place) {
  path_ = path;
  segments_.clear();
  check_ = 0;
  if (const int failed = file_.open(path.c_str(), {.is_private = place == Place::folder});
      failed != 0)
    return os::private_open_error(path, failed);
  std::string error = read_all();
  if (!error.empty()) segments_.clear();
  return error;
}

std::string SegmentReader::read_all() {
  std::int64_t size = 0;
  if (const int error = file_.get_size(&size); error != 0) return system_error(path_, error);
  Begin begin{};
  if (!read_checked(&begin, sizeof begin, 0) || begin.mark != begin_mark)
    return damaged("it does not begin as one");
  if (begin.version != version) return damaged("another version of Sorrel has written it");
  identity_ = {.generation = begin.generation,
               .layout = begin.layout,
               .process = begin.process,
               .process_count = begin.process_count,
               .rank_count = begin.rank_count,
               .page_bytes = begin.page_bytes};
  End end{};
  const std::int64_t end_offset = size - static_cast<std::int64_t>(sizeof end);
  if (end_offset < static_cast<std::int64_t>(sizeof begin)) return damaged("it was cut");
  const os::Moved moved = file_.read(&end, sizeof end, end_offset);
  if (moved.bytes != sizeof end || end.mark != end_mark ||
      end.file_bytes != static_cast<std::uint64_t>(size) || end.unused != 0)
    return damaged("it was cut");
  std::int64_t offset = sizeof begin;
  while (offset < end_offset) {
    if (std::string error = read_segment(offset, end_offset); !error.empty()) return error;
  }
  if (segments_.size() != end.segment_count) return damaged("segments are missing");
  if (crc32c(&end, bytes_before_check, check_) != end.check) return damaged("a check disagrees");
  seal_ = {.bytes = end.file_bytes, .check = end.check};
  code_ = end.code[0] == '\0' ? "" : std::string(end.code.data(), end.code.size());
  return "";
}

bool SegmentReader::is_of(const UserKey& key) const {
  if (!key.is_there() || code_.empty()) return false;
  KeyedHash hash = key.hash();
  std::vector<std::byte> piece(piece_bytes);
  SORREL_ASSERT(seal_.bytes >= sizeof(Begin) + sizeof(End), "a file of %llu bytes",
                static_cast<unsigned long long>(seal_.bytes));
  auto left = static_cast<std::size_t>(seal_.bytes) - sizeof(End);
  for (std::int64_t offset = 0; left > 0;) {
    const std::size_t bytes = std::min(piece.size(), left);
    if (file_.read(piece.data(), bytes, offset).bytes != bytes) return false;
    hash.add(piece.data(), bytes);
    offset += static_cast<std::int64_t>(bytes);
    left -= bytes;
  }
  return key.code_of(hash.finish()) == code_;
}

/// The segment at `offset`, which moves behind it. `end`: that of all segments.
std::string SegmentReader::read_segment(std::int64_t& offset, std::int64_t end) {
  Head head{};
  const auto left = [&] { return static_cast<std::uint64_t>(end - offset); };
  if (left() < sizeof head || !read_checked(&head, sizeof head, offset) ||
      head.mark != segment_mark)
    return damaged("a segment does not begin as one");
  offset += static_cast<std::int64_t>(sizeof head);
  // Before anything is allocated: a damaged length is arbitrary.
  if (head.bytes > left()) return damaged("a segment is longer than the file");
  const std::size_t count = piece_count(head.bytes);
  const std::size_t check_bytes = count * sizeof(std::uint32_t);
  if (check_bytes > left() - head.bytes) return damaged("a segment is longer than the file");
  Segment segment{.head = {.kind = head.kind,
                           .rank = head.rank,
                           .address = head.address,
                           .bytes = head.bytes,
                           .protection = head.protection},
                  .offset = offset,
                  .checks = std::vector<std::uint32_t>(count)};
  offset += static_cast<std::int64_t>(head.bytes);
  if (!read_checked(segment.checks.data(), check_bytes, offset))
    return damaged("the checks of a segment cannot be read");
  offset += static_cast<std::int64_t>(check_bytes);
  segments_.push_back(std::move(segment));
  return "";
}

std::string SegmentReader::read_piece(const Segment& segment,
                                      std::size_t number,
                                      std::byte* contents) const {
  SORREL_ASSERT(number < segment.checks.size(), "piece %zu of %zu", number, segment.checks.size());
  const std::size_t done = number * piece_bytes;
  const auto bytes = std::min(piece_bytes, static_cast<std::size_t>(segment.head.bytes) - done);
  const os::Moved moved =
      file_.read(contents, bytes, segment.offset + static_cast<std::int64_t>(done));
  if (moved.error != 0) return system_error(path_, moved.error);
  if (moved.bytes != bytes || crc32c(contents, bytes) != segment.checks[number])
    return damaged("contents disagree with their check");
  return "";
}

std::string SegmentReader::read(const Segment& segment, void* contents) const {
  auto* to = static_cast<std::byte*>(contents);
  for (std::size_t i = 0; i < segment.checks.size(); ++i) {
    if (std::string error = read_piece(segment, i, to + i * piece_bytes); !error.empty())
      return error;
  }
  return "";
}

std::string SegmentReader::verify() const {
  std::vector<std::byte> piece;
  for (const Segment& segment : segments_) {
    piece.resize(std::max(piece.size(), std::min<std::size_t>(piece_bytes, segment.head.bytes)));
    for (std::size_t i = 0; i < segment.checks.size(); ++i) {
      if (std::string error = read_piece(segment, i, piece.data()); !error.empty()) return error;
    }
  }
  return "";
}

}  // namespace sorrel::checkpoint
