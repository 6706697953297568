//! written_generation - the files of a generation, as the processes of a job write them.
#pragma once

#include <cstdint>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "checkpoint/generation_store.hpp"
#include "checkpoint/segment_file.hpp"

namespace sorrel::checkpoint::test {

inline constexpr std::uint32_t process_count = 2;

/// Between begin() and commit(); the first segment of each file holds the number. `key`: that of
/// the writer.
inline std::vector<FileSeal> write_files(const GenerationStore& store,
                                         std::uint64_t number,
                                         const UserKey* key) {
  std::vector<FileSeal> seals(process_count);
  for (std::uint32_t process = 0; process < process_count; ++process) {
    SegmentWriter writer;
    std::string error = writer.begin(store.path_to_write(number, process),
                                     {.generation = number,
                                      .layout = 5,
                                      .process = process,
                                      .process_count = process_count,
                                      .rank_count = 8,
                                      .page_bytes = 4096},
                                     store.place(), key);
    if (error.empty()) error = writer.add({.bytes = sizeof number}, &number);
    const std::vector<char> contents(100000 * (1 + process), static_cast<char>(number));
    if (error.empty()) error = writer.add({.bytes = contents.size()}, contents.data());
    if (error.empty()) error = writer.finish(seals[process]);
    EXPECT_EQ(error, "");
  }
  return seals;
}

inline std::vector<FileSeal> write_files(const GenerationStore& store, std::uint64_t number) {
  return write_files(store, number, store.key());
}

}  // namespace sorrel::checkpoint::test
