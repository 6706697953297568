#include "trace/tracer.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "unit/base/temporary_folder.hpp"

namespace sorrel::trace {
namespace {

class TracerTest : public ::testing::Test {
 protected:
  std::string bytes_of(const char* name) const {
    std::ifstream file(folder + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// In the file, and behind them those in the buffer.
  std::vector<Record> records() const {
    const std::string file = bytes_of("/3-2.part");
    os::LogRest rest;
    const std::size_t file_bytes =
        os::LogRest::read(folder + "/3-2.rest", rest) ? rest.begin : file.size();
    std::vector<std::byte> bytes(file_bytes);
    std::memcpy(bytes.data(), file.data(), file_bytes);
    bytes.insert(bytes.end(), rest.bytes.begin(), rest.bytes.end());
    std::vector<Record> records;
    RecordDecoder decoder;
    for (std::span<const std::byte> left = bytes; !left.empty();) {
      Record record;
      std::size_t count = decoder.decode(left, record);
      EXPECT_NE(count, 0U);
      if (count == 0) break;
      if (record.kind() == Kind::text) count += record.first;
      left = left.subspan(count);
      records.push_back(record);
    }
    return records;
  }

  const TemporaryFolder temporary;
  const std::string folder = temporary.path();
  std::atomic_flag has_reported;
};

TEST_F(TracerTest, AFileHasWhatWasAddedInAnyNumberOfBuffers) {
  constexpr std::uint64_t count = 100'000;
  {
    Tracer tracer(folder, {.process = 3, .worker = 2}, job_bytes_max, has_reported);
    for (std::uint64_t i = 0; i < count; ++i)
      tracer.add({.time_and_kind = static_cast<std::uint8_t>(Kind::result), .subject = i});
  }
  EXPECT_FALSE(std::filesystem::exists(folder + "/3-2.rest"));
  std::uint64_t next = 0;
  const std::vector<Record> all = records();
  EXPECT_EQ(all.front().kind(), Kind::begin);
  EXPECT_EQ(all.front().subject, std::uint64_t{3} << 32 | 2);
  EXPECT_EQ(all.front().first, file_format);
  EXPECT_EQ(all.back().kind(), Kind::clock);
  for (const Record& record : all) {
    EXPECT_NE(record.kind(), Kind::none);
    if (record.kind() != Kind::result) continue;
    EXPECT_EQ(record.subject, next);
    ++next;
  }
  EXPECT_EQ(next, count);
  EXPECT_FALSE(has_reported.test());
}

TEST_F(TracerTest, WhatATracerHasAddedCanBeReadAtOnce) {
  Tracer tracer(folder, {.process = 3, .worker = 2}, job_bytes_max, has_reported);
  tracer.add({.time_and_kind = static_cast<std::uint8_t>(Kind::result), .subject = 17});
  const std::vector<Record> all = records();
  EXPECT_EQ(std::ranges::count(all, 17U, &Record::subject), 1);
}

TEST_F(TracerTest, TextsAreWrittenOnce) {
  static constexpr char text[] = "the name of a call";
  {
    Tracer tracer(folder, {.process = 3, .worker = 2}, job_bytes_max, has_reported);
    tracer.add_named(
        {.time_and_kind = static_cast<std::uint8_t>(Kind::call), .first = name_of(text)});
    tracer.add_named(
        {.time_and_kind = static_cast<std::uint8_t>(Kind::call), .first = name_of(text)});
  }
  const std::string bytes = bytes_of("/3-2.part");
  const std::size_t at = bytes.find(text);
  ASSERT_NE(at, bytes.npos);
  EXPECT_EQ(bytes.find(text, at + 1), bytes.npos);
  EXPECT_FALSE(std::filesystem::exists(folder + "/3-2.rest"));
}

TEST_F(TracerTest, AFileThatCannotBeMadeIsReportedOnceAndNothingIsRecorded) {
  for (int i = 0; i < 2; ++i) {
    ::testing::internal::CaptureStderr();
    Tracer tracer(folder + "/absent", {.process = 3, .worker = 2}, job_bytes_max, has_reported);
    tracer.add({.time_and_kind = static_cast<std::uint8_t>(Kind::result)});
    const std::string said = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(said.find("sorrel: the trace ends here") != said.npos, i == 0) << said;
  }
}

TEST_F(TracerTest, AFileEndsAtItsLimitAndCanBeReadUpToThere) {
  constexpr std::uint64_t bytes_max = 2 * Tracer::buffer_bytes;
  constexpr std::uint64_t count = 1'000'000;
  ::testing::internal::CaptureStderr();
  {
    Tracer tracer(folder, {.process = 3, .worker = 2}, bytes_max, has_reported);
    for (std::uint64_t i = 0; i < count; ++i)
      tracer.add({.time_and_kind = static_cast<std::uint8_t>(Kind::result), .subject = i});
  }
  const std::string line = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(line.find("/3-2.part: it has 0 MiB, the share of a worker in the limit of 2048 MiB"),
            std::string::npos)
      << line;
  EXPECT_FALSE(std::filesystem::exists(folder + "/3-2.rest"));
  EXPECT_LE(std::filesystem::file_size(folder + "/3-2.part"), bytes_max);
  EXPECT_GT(std::filesystem::file_size(folder + "/3-2.part"), bytes_max / 4);
  const std::vector<Record> all = records();
  EXPECT_EQ(all.back().kind(), Kind::clock);
  EXPECT_LT(all.size(), count);
}

TEST_F(TracerTest, TheWorkersOfAJobShareItsLimit) {
  EXPECT_EQ(part_bytes_max(1), job_bytes_max);
  EXPECT_EQ(part_bytes_max(2), job_bytes_max / 2);
  EXPECT_EQ(part_bytes_max(1'000'000), std::uint64_t{16} << 20);
}

}  // namespace
}  // namespace sorrel::trace
