#include "tools/sorrel/checkpoint/cut_written_files.hpp"

#include <fmt/core.h>
#include <vector>

#include "checkpoint/written_files.hpp"
#include "runtime/checkpoint/saved_state.hpp"
#include "tools/sorrel/common/diagnostic.hpp"

namespace sorrel::tool {

namespace {

/// Of all processes. Returns an error, or "".
std::string read_written_files(const checkpoint::GenerationStore& store,
                               std::uint64_t generation,
                               std::vector<checkpoint::WrittenFile>& files) {
  for (std::uint32_t process = 0, count = 1; process < count; ++process) {
    checkpoint::SegmentReader reader;
    std::string error = reader.open(store.path_of(generation, process));
    for (const auto& segment : reader.segments()) {
      if (segment.head.kind != static_cast<std::uint32_t>(runtime::SegmentKind::files)) continue;
      std::string record(segment.head.bytes, '\0');
      if (error.empty()) error = reader.read(segment, record.data());
      for (auto& file : checkpoint::written_files_in(record))
        files.push_back(std::move(file));
    }
    if (!error.empty()) return error;
    count = reader.identity().process_count;
  }
  return "";
}

}  // namespace

std::string cut_written_files(const checkpoint::GenerationStore& store, std::uint64_t generation) {
  std::vector<checkpoint::WrittenFile> files;
  if (std::string error = read_written_files(store, generation, files); !error.empty())
    return error;
  const checkpoint::CutFiles cut = checkpoint::cut_files(files);
  if (cut.count != 0) {
    print_diagnostic(fmt::format("note: {} again as long as at the checkpoint: {}{}",
                                 cut.count == 1 ? "a file is" : "files are", cut.path,
                                 cut.count == 1 ? "" : fmt::format(" and {} more", cut.count - 1)));
  }
  return cut.error;
}

}  // namespace sorrel::tool
