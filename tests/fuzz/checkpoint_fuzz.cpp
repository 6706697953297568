// Files of checkpoints: what was written is read again, and any damage is found out. The input is a
// number of segments, their lengths, and damage: places and what changes there. It is also read as
// the text of a manifest.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <unistd.h>
#include <vector>

#include "checkpoint/generations.hpp"
#include "checkpoint/segment_file.hpp"
#include "fuzz/harness.hpp"

using sorrel::fuzz::require;
using namespace sorrel::checkpoint;

extern "C" const char* const sorrel_fuzz_tokens[];
const char* const sorrel_fuzz_tokens[] = {"sorrel checkpoint 2\n",
                                          "writer ",
                                          "generation ",
                                          "code ",
                                          "processes ",
                                          "check ",
                                          "18446744073709551615",
                                          "-1",
                                          "\n",
                                          "\xff\xff\xff\xff",
                                          nullptr};

namespace {

/// Takes numbers from the input; zeros behind its end.
class Input {
 public:
  explicit Input(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  std::uint32_t next() {
    if (bytes_.empty()) return 0;
    const std::uint32_t value = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return value;
  }

  std::uint32_t next_long() {
    const std::uint32_t high = next();
    return high << 8 | next();
  }

  [[nodiscard]] bool is_empty() const { return bytes_.empty(); }

 private:
  std::span<const std::uint8_t> bytes_;
};

const std::string& path() {
  static const std::string made = "/tmp/sorrel-fuzz-checkpoint." + std::to_string(getpid());
  return made;
}

std::vector<std::vector<char>> write_file(Input& input, FileSeal& seal) {
  std::remove(path().c_str());
  SegmentWriter writer;
  require(writer.begin(path(), {.generation = 1, .process_count = 1}).empty(), "a file is created");
  std::vector<std::vector<char>> written(input.next() % 8);
  for (auto& contents : written) {
    contents.assign(input.next_long(), static_cast<char>(input.next()));
    require(writer.add({.kind = 1, .bytes = contents.size()}, contents.data()).empty(),
            "a segment is written");
  }
  require(writer.finish(seal).empty(), "a file is finished");
  return written;
}

void check_whole(const std::vector<std::vector<char>>& written, const FileSeal& seal) {
  SegmentReader reader;
  require(reader.open(path()).empty() && reader.verify().empty(), "a whole file is accepted");
  require(reader.seal() == seal && reader.segments().size() == written.size(),
          "a file is what was written");
  for (std::size_t i = 0; i < written.size(); ++i) {
    std::vector<char> contents(written[i].size());
    require(reader.read(reader.segments()[i], contents.data()).empty() && contents == written[i],
            "contents are what was written");
  }
}

void damage(Input& input) {
  std::ifstream file(path(), std::ios::binary);
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::vector<char> whole = bytes;
  while (!input.is_empty() && !bytes.empty()) {
    const std::uint32_t place = input.next_long();
    const std::uint32_t change = input.next();
    // From the end, where lengths and counts are, or from the begin.
    const std::size_t at =
        place % 2 == 0 ? place % bytes.size() : bytes.size() - 1 - place % bytes.size();
    if (change == 0) {
      bytes.resize(at);
    } else {
      bytes[at] = static_cast<char>(static_cast<std::uint32_t>(bytes[at]) ^ change);
    }
  }
  if (bytes == whole) return;
  std::ofstream(path(), std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  SegmentReader reader;
  std::string error = reader.open(path());
  if (error.empty()) error = reader.verify();
  require(!error.empty(), "damage is found out");
  require(error.find('\n') == std::string::npos, "an error is one line");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(sorrel::fuzz::text_of(data, size));
  if (const auto manifest = decode_manifest(text))
    require(encode_manifest(*manifest) == text, "an accepted manifest is one that is written");
  Input input({data, size});
  FileSeal seal;
  const auto written = write_file(input, seal);
  check_whole(written, seal);
  damage(input);
  std::remove(path().c_str());
  return 0;
}
