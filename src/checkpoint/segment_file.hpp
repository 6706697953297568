//! SegmentFile - the part of a checkpoint that one process writes: pieces of memory and records,
//! each with checksums. README.md has the layout.
//!
//! A file is whole if its end names its length and the check of everything but the contents, and
//! each MiB of the contents agrees with its check. So a file that was cut, or of which the device
//! has lost a block, is found out. With a key, the end also has a code of all bytes before it. One
//! thread at a time; every call blocks its thread. Errors are texts for users; an empty text is
//! success.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/keyed_hash.hpp"
#include "checkpoint/user_key.hpp"
#include "os/disk_file.hpp"

namespace sorrel::checkpoint {

/// The contents have a check for each piece of this length.
inline constexpr std::size_t piece_bytes = std::size_t{1} << 20;

/// Whose file it is. All files of a checkpoint have equal values but for `process`.
struct FileIdentity {
  /// Number of the checkpoint in its job.
  std::uint64_t generation = 0;
  /// What must be equal for memory to be valid in another process: hash of files and addresses.
  std::uint64_t layout = 0;
  std::uint32_t process = 0;
  std::uint32_t process_count = 0;
  std::uint32_t rank_count = 0;
  std::uint32_t page_bytes = 0;
  bool operator==(const FileIdentity&) const = default;
};

/// A piece of a rank's memory, or a record about it.
struct SegmentHead {
  /// Meaning of the contents; the writer's numbers.
  std::uint32_t kind = 0;
  std::uint32_t rank = 0;
  /// Where the contents belong; 0 for a record.
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  /// PROT_ bits of memory.
  std::uint32_t protection = 0;
  bool operator==(const SegmentHead&) const = default;
};

/// What a file is known by in its checkpoint's manifest.
struct FileSeal {
  std::uint64_t bytes = 0;
  /// Check of everything but the contents, whose checks are part of it.
  std::uint32_t check = 0;
  bool operator==(const FileSeal&) const = default;
};

/// Where a file is. In a folder it has a name, and is a regular file that only its user may read
/// and write. In memory it has none, and exists before it is written.
enum class Place : std::uint8_t { folder, memory };

class SegmentWriter {
 public:
  /// Once. Creates the file, which must not exist; in memory it must be empty. `key`: null, or it
  /// outlives the writer.
  [[nodiscard]] std::string begin(const std::string& path,
                                  const FileIdentity& identity,
                                  Place place = Place::folder,
                                  const UserKey* key = nullptr);

  /// Writes one segment. `contents` has head.bytes bytes.
  [[nodiscard]] std::string add(const SegmentHead& head, const void* contents);

  /// Writes the end, and returns when all is on the device.
  [[nodiscard]] std::string finish(FileSeal& seal);

 private:
  [[nodiscard]] std::string write(const void* data, std::size_t bytes);
  [[nodiscard]] std::string write_checked(const void* data, std::size_t bytes);

  os::DiskFile file_;
  std::string path_;
  std::int64_t offset_ = 0;
  std::uint32_t check_ = 0;
  std::uint64_t segment_count_ = 0;
  const UserKey* key_ = nullptr;
  /// The hash of all that was written; nothing: there is no key.
  std::optional<KeyedHash> hash_;
};

class SegmentReader {
 public:
  struct Segment {
    SegmentHead head;
    std::int64_t offset;
    /// One for each piece.
    std::vector<std::uint32_t> checks;
  };

  /// Once. Reads everything but the contents. Any error leaves the reader without segments.
  [[nodiscard]] std::string open(const std::string& path, Place place = Place::folder);

  [[nodiscard]] const FileIdentity& identity() const { return identity_; }

  [[nodiscard]] const FileSeal& seal() const { return seal_; }

  [[nodiscard]] const std::vector<Segment>& segments() const { return segments_; }

  /// Reads and checks the contents of a segment. After an error `contents` is undefined.
  [[nodiscard]] std::string read(const Segment& segment, void* contents) const;

  /// Reads and checks the contents of all segments.
  [[nodiscard]] std::string verify() const;

  /// Whether a writer with this key has written all bytes, which are read again.
  [[nodiscard]] bool is_of(const UserKey& key) const;

 private:
  [[nodiscard]] std::string read_all();
  [[nodiscard]] std::string read_segment(std::int64_t& offset, std::int64_t end);
  [[nodiscard]] bool read_checked(void* data, std::size_t bytes, std::int64_t offset);
  [[nodiscard]] std::string read_piece(const Segment& segment,
                                       std::size_t number,
                                       std::byte* contents) const;
  [[nodiscard]] std::string damaged(const char* what) const;

  os::DiskFile file_;
  std::string path_;
  FileIdentity identity_;
  FileSeal seal_;
  std::uint32_t check_ = 0;
  /// The code in the end of the file; "": there is none.
  std::string code_;
  std::vector<Segment> segments_;
};

}  // namespace sorrel::checkpoint
