//! WrittenFiles - the files that ranks had open for writing when their job was saved, and their
//! lengths. What was written behind that since is not part of the checkpoint.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/byte_writer.hpp"

namespace sorrel::checkpoint {

struct WrittenFile {
  std::string path;
  std::int64_t bytes = 0;
  bool operator==(const WrittenFile&) const = default;
};

void add(const WrittenFile& file, ByteWriter& to);

/// All that were added; a record that was cut has fewer. Pure.
[[nodiscard]] std::vector<WrittenFile> written_files_in(const std::string& record);

struct CutFiles {
  std::size_t count = 0;
  /// The first of them.
  std::string path;
  /// "": all that are longer have been cut.
  std::string error;
};

/// Cuts files that are longer now. Those that are absent or shorter stay as they are.
[[nodiscard]] CutFiles cut_files(const std::vector<WrittenFile>& files);

}  // namespace sorrel::checkpoint
