#include "trace/tracer.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <vector>

namespace sorrel::trace {
namespace {

class TracerTest : public ::testing::Test {
 protected:
  TracerTest() {
    std::string path = (std::filesystem::temp_directory_path() / "tracer_test_XXXXXX").string();
    folder = mkdtemp(path.data());
  }

  ~TracerTest() override { std::filesystem::remove_all(folder); }

  std::vector<Record> records() const {
    std::ifstream file(folder + "/3-2.part", std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(bytes.size() % sizeof(Record), 0U);
    std::vector<Record> records(bytes.size() / sizeof(Record));
    std::memcpy(static_cast<void*>(records.data()), bytes.data(), bytes.size());
    return records;
  }

  std::string folder;
  std::atomic_flag has_reported;
};

TEST_F(TracerTest, AFileHasWhatWasAddedInAnyNumberOfChunks) {
  constexpr std::uint64_t count = 100'000;
  {
    Tracer tracer(folder, {.process = 3, .worker = 2}, has_reported);
    for (std::uint64_t i = 0; i < count; ++i)
      tracer.add({.time_and_kind = static_cast<std::uint8_t>(Kind::result), .subject = i});
  }
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

TEST_F(TracerTest, WhatATracerHasAddedIsInTheFileAtOnce) {
  Tracer tracer(folder, {.process = 3, .worker = 2}, has_reported);
  tracer.add({.time_and_kind = static_cast<std::uint8_t>(Kind::result), .subject = 17});
  const std::vector<Record> all = records();
  EXPECT_EQ(std::ranges::count(all, 17U, &Record::subject), 1);
}

TEST_F(TracerTest, TextsAreWrittenOnce) {
  static constexpr char text[] = "a text of more than thirty-two bytes, for two records";
  {
    Tracer tracer(folder, {.process = 3, .worker = 2}, has_reported);
    tracer.add_named(
        {.time_and_kind = static_cast<std::uint8_t>(Kind::call), .first = name_of(text)});
    tracer.add_named(
        {.time_and_kind = static_cast<std::uint8_t>(Kind::call), .first = name_of(text)});
  }
  std::ifstream file(folder + "/3-2.part", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const std::size_t at = bytes.find(text);
  ASSERT_NE(at, bytes.npos);
  EXPECT_EQ(at % sizeof(Record), 0U);
  EXPECT_EQ(bytes.find(text, at + 1), bytes.npos);
}

TEST_F(TracerTest, AFileThatCannotBeMadeIsReportedOnceAndNothingIsRecorded) {
  for (int i = 0; i < 2; ++i) {
    ::testing::internal::CaptureStderr();
    Tracer tracer(folder + "/absent", {.process = 3, .worker = 2}, has_reported);
    tracer.add({.time_and_kind = static_cast<std::uint8_t>(Kind::result)});
    const std::string said = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(said.find("sorrel: the trace ends here") != said.npos, i == 0) << said;
  }
}

}  // namespace
}  // namespace sorrel::trace
