#include "checkpoint/written_files.hpp"

#include <cstddef>
#include <cstring>
#include <span>

#include "base/byte_cursor.hpp"
#include "os/disk_file.hpp"

namespace sorrel::checkpoint {

void add(const WrittenFile& file, ByteWriter& to) {
  to.add_block(file.path);
  to.add(file.bytes);
}

std::vector<WrittenFile> written_files_in(const std::string& record) {
  ByteCursor from(std::as_bytes(std::span(record)));
  std::vector<WrittenFile> files;
  while (!from.at_end()) {
    WrittenFile file{.path = std::string(from.take_block()), .bytes = from.take<std::int64_t>()};
    if (from.is_good()) files.push_back(std::move(file));
  }
  return files;
}

CutFiles cut_files(const std::vector<WrittenFile>& files) {
  CutFiles cut;
  for (const WrittenFile& wanted : files) {
    os::DiskFile file;
    std::int64_t bytes = 0;
    // What is not there ends the restart with a line of the rank that needs it.
    if (file.open(wanted.path.c_str(), {.reads = false, .writes = true}) != 0 ||
        file.get_size(&bytes) != 0 || bytes <= wanted.bytes)
      continue;
    if (const int error = file.set_size(wanted.bytes); error != 0) {
      cut.error = wanted.path + ": " + std::strerror(error);
      return cut;
    }
    if (cut.count++ == 0) cut.path = wanted.path;
  }
  return cut;
}

}  // namespace sorrel::checkpoint
