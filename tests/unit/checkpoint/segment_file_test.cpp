#include "checkpoint/segment_file.hpp"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <vector>

#include "base/prng.hpp"
#include "unit/base/temporary_folder.hpp"

namespace sorrel::checkpoint {
namespace {

namespace fs = std::filesystem;

std::uint64_t test_seed() {
  const char* given = std::getenv("SORREL_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : 1;
}

using Bytes = std::vector<char>;

Bytes bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void set_bytes(const std::string& path, const Bytes& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// What is wrong with a file; empty: nothing.
std::string error_of(const std::string& path) {
  SegmentReader reader;
  std::string error = reader.open(path);
  return error.empty() ? reader.verify() : error;
}

constexpr FileIdentity identity{.generation = 7,
                                .layout = 0x123456789abcdef0,
                                .process = 3,
                                .process_count = 4,
                                .rank_count = 64,
                                .page_bytes = 4096};

class SegmentFileTest : public testing::Test {
 protected:
  /// Segments of these lengths, with contents that follow from the seed.
  FileSeal write(const std::vector<std::size_t>& lengths) {
    Prng random(test_seed());
    SegmentWriter writer;
    EXPECT_EQ(writer.begin(path_, identity), "");
    for (const std::size_t length : lengths) {
      Bytes contents(length);
      for (char& byte : contents)
        byte = static_cast<char>(random.below(256));
      const SegmentHead head{.kind = static_cast<std::uint32_t>(written_.size()),
                             .rank = 5,
                             .address = 4096 * written_.size(),
                             .bytes = length,
                             .protection = 3};
      EXPECT_EQ(writer.add(head, contents.data()), "");
      written_.emplace_back(head, std::move(contents));
    }
    FileSeal seal;
    EXPECT_EQ(writer.finish(seal), "");
    return seal;
  }

  const TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
  const std::string path_ = folder_ + "/file";
  std::vector<std::pair<SegmentHead, Bytes>> written_;
};

TEST_F(SegmentFileTest, WhatWasWrittenIsRead) {
  const FileSeal seal =
      write({0, 1, 4096, piece_bytes - 1, piece_bytes, piece_bytes + 1, 3 * piece_bytes + 5});
  SegmentReader reader;
  ASSERT_EQ(reader.open(path_), "");
  EXPECT_EQ(reader.identity(), identity);
  EXPECT_EQ(reader.seal(), seal);
  EXPECT_EQ(fs::file_size(path_), seal.bytes);
  ASSERT_EQ(reader.segments().size(), written_.size());
  for (std::size_t i = 0; i < written_.size(); ++i) {
    const SegmentReader::Segment& segment = reader.segments()[i];
    EXPECT_EQ(segment.head, written_[i].first);
    Bytes contents(written_[i].second.size());
    ASSERT_EQ(reader.read(segment, contents.data()), "");
    EXPECT_EQ(contents, written_[i].second) << i;
  }
  EXPECT_EQ(reader.verify(), "");
}

TEST_F(SegmentFileTest, AFileThatExistsIsNotOverwritten) {
  write({10});
  SegmentWriter second;
  EXPECT_NE(second.begin(path_, identity), "");
  EXPECT_EQ(error_of(path_), "");
}

TEST_F(SegmentFileTest, AFileThatWasNotFinishedIsFoundOut) {
  SegmentWriter writer;
  ASSERT_EQ(writer.begin(path_, identity), "");
  ASSERT_EQ(writer.add({.bytes = 4}, "abcd"), "");
  EXPECT_NE(error_of(path_), "");
}

TEST_F(SegmentFileTest, AFileCutAnywhereIsFoundOut) {
  write({0, 30, 500});
  const Bytes whole = bytes_of(path_);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    set_bytes(path_, Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)));
    EXPECT_NE(error_of(path_), "") << length;
  }
  Bytes longer = whole;
  longer.push_back(0);
  set_bytes(path_, longer);
  EXPECT_NE(error_of(path_), "");
}

TEST_F(SegmentFileTest, AChangedBitInAnyByteIsFoundOut) {
  const FileSeal seal = write({0, 30, 200});
  const Bytes whole = bytes_of(path_);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    Bytes changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 1 << i % 8);
    set_bytes(path_, changed);
    SegmentReader reader;
    const std::string error = reader.open(path_);
    // The number of the last field alone is that of the manifest.
    EXPECT_TRUE(!error.empty() || !reader.verify().empty() || reader.seal() != seal) << i;
  }
}

TEST_F(SegmentFileTest, ABlockOfZerosIsFoundOut) {
  write({10000, 2 * piece_bytes, 10000});
  const Bytes whole = bytes_of(path_);
  constexpr std::size_t block = 512;
  Prng random(test_seed());
  for (int i = 0; i < 30; ++i) {
    Bytes changed = whole;
    const std::size_t begin = random.below(whole.size() / block) * block;
    std::memset(changed.data() + begin, 0, block);
    set_bytes(path_, changed);
    EXPECT_NE(error_of(path_), "") << begin;
  }
}

/// Damaged files of every kind are read without harm: the address sanitizer watches this test.
TEST_F(SegmentFileTest, RandomDamageIsFoundOut) {
  write({0, 30, 700, 5000});
  const Bytes whole = bytes_of(path_);
  Prng random(test_seed());
  for (int round = 0; round < 500; ++round) {
    Bytes changed = whole;
    const std::uint64_t changes = 1 + random.below(4);
    for (std::uint64_t i = 0; i < changes; ++i) {
      const std::size_t at = random.below(changed.size());
      switch (random.below(4)) {
        case 0:
          changed[at] = static_cast<char>(random.below(256));
          break;
        case 1: {
          // A length or a count.
          const std::uint64_t value = ~std::uint64_t{0} >> random.below(64);
          std::memcpy(changed.data() + at, &value, std::min(sizeof value, changed.size() - at));
          break;
        }
        case 2:
          changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(at));
          break;
        default:
          changed.insert(changed.begin() + static_cast<std::ptrdiff_t>(at),
                         static_cast<char>(random.below(256)));
      }
      if (changed.empty()) break;
    }
    if (changed == whole) continue;
    set_bytes(path_, changed);
    EXPECT_NE(error_of(path_), "") << "seed " << test_seed() << " round " << round;
  }
}

TEST_F(SegmentFileTest, AFolderAndAMissingFileAreErrors) {
  EXPECT_NE(error_of(path_), "");
  EXPECT_NE(error_of(folder_), "");
}

}  // namespace
}  // namespace sorrel::checkpoint
