#include "launch/job_spec.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <gtest/gtest.h>
#include <limits>

namespace sorrel::launch {
namespace {

template <class Number>
constexpr Number most = std::numeric_limits<Number>::max();

std::string all_bytes() {
  std::string text;
  for (int byte = 1; byte < 256; ++byte)
    text += static_cast<char>(byte);
  return text;
}

/// Every field differs from its zero value and from its default.
JobSpec full_spec() {
  return {.rank_count = 64,
          .worker_count = 3,
          .process_count = 5,
          .parts = {{2, 1, 1}, {62, 4, 3}},
          .own_process = 4,
          .process_mode = true,
          .has_comm_worker = true,
          .cpus = {0, 2, 5},
          .is_unbound = true,
          .stack_bytes = 65536,
          .has_rank_labels = true,
          .is_verbose = true,
          .balance = Balance::automatic,
          .seed = 17,
          .wire = WireSpec{.node_count = 4,
                           .latency_ns = 20'000,
                           .jitter_ns = 500,
                           .bytes_per_second = 1.5e9,
                           .seed = 6},
          .eager_bytes_max = 9,
          .shared_libraries = {"liba.so.1", "/folder/libb.so"},
          .private_libraries = {"libc++.so.1", "libd.so"},
          .memory_descriptor = 11,
          .launcher = 12,
          .wrapper = {.name = "env",
                      .program = "/bin/program",
                      .command = "/bin/sorrel",
                      .library_path = "/a:/b",
                      .claims_descriptor = 13},
          .host_mpi = {.name = "mpich",
                       .plugin = "/lib/libsorrel-host-mpich.so",
                       .library = "/lib/libmpi_abi.so.1",
                       .status_descriptor = 14,
                       .daemon = 15,
                       .must_abort = true},
          .trace_folder = "/t/a trace.parts",
          .check_folder = "/t/a check",
          .report_file = "/t/a report",
          .checkpoint_folder = "/t/saved",
          .checkpoint_lock = 6,
          .checkpoint_key = "/t/key",
          .checkpoint_files = {7, 8, 9, 10},
          .restart_generation = 16,
          .restart_note_descriptor = 17,
          .old_library_path = "/c",
          .preloaded = "/d"};
}

void expect_round_trip(const JobSpec& spec) {
  const std::string text = encode(spec);
  const auto decoded = decode(text);
  ASSERT_TRUE(decoded) << text;
  EXPECT_TRUE(*decoded == spec) << text << " became " << encode(*decoded);
}

TEST(JobSpec, EveryFieldMakesTheRoundTrip) {
  expect_round_trip({});
  expect_round_trip(full_spec());
  EXPECT_TRUE(
      encode(full_spec())
          .starts_with(
              "ranks=64:workers=3:processes=5:parts=2/1/1,62/4/3:process=4:process_mode=1:"));
}

TEST(JobSpec, ZeroIsNotTheDefault) {
  JobSpec spec = full_spec();
  spec.rank_count = 0;
  spec.worker_count = 0;
  spec.process_count = 0;
  spec.seed = 0;
  spec.eager_bytes_max = 0;
  spec.memory_descriptor = 0;
  spec.wire = WireSpec{.node_count = 0};
  expect_round_trip(spec);
}

TEST(JobSpec, ExtremeNumbersMakeTheRoundTrip) {
  JobSpec spec = full_spec();
  spec.rank_count = most<std::int32_t>;
  spec.worker_count = most<std::uint32_t>;
  spec.cpus = {most<int>, std::numeric_limits<int>::min(), 0};
  spec.stack_bytes = most<std::size_t>;
  spec.seed = most<std::uint64_t>;
  spec.memory_descriptor = -1;
  for (const double rate : {1.0 / 3, 1e15, 5e-324, most<double>, HUGE_VAL}) {
    spec.wire = WireSpec{most<std::uint32_t>, most<std::int64_t>, -1, rate, most<std::uint64_t>};
    expect_round_trip(spec);
  }
}

TEST(JobSpec, StringsMayHoldAnyByte) {
  JobSpec spec = full_spec();
  for (const std::string& text : {std::string(), all_bytes(), std::string("%"), std::string("%3a"),
                                  std::string("a=b:c,d"), std::string(100'000, ':')}) {
    spec.wrapper.name = text;
    spec.preloaded = text;
    spec.shared_libraries = {text, "", text};
    expect_round_trip(spec);
    spec.shared_libraries = {text};
    expect_round_trip(spec);
    for (const char letter : encode(spec))
      ASSERT_TRUE(letter > ' ' && letter < 127);
  }
}

TEST(JobSpec, ADamagedTextIsAnError) {
  const std::string text = encode(full_spec());
  for (std::size_t i = 0; i < text.size(); ++i) {
    EXPECT_FALSE(decode(text.substr(0, i)));
    EXPECT_FALSE(decode(text.substr(i + 1)));
    for (const char letter : {'0', '9', ':', ',', '=', '%', 'x', '\n'}) {
      std::string changed = text;
      changed[i] = letter;
      EXPECT_EQ(decode(changed).has_value(), changed == text) << changed;
      EXPECT_FALSE(decode(text.substr(0, i) + letter + text.substr(i))) << i << letter;
    }
  }
  EXPECT_FALSE(decode(text + text));
}

/// With the seal that encode() would write.
std::string sealed(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char letter : text)
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(hash));
  return text + "seal=" + digits.data();
}

TEST(JobSpec, ASealDoesNotMakeAnUnknownTextValid) {
  EXPECT_TRUE(decode(sealed("")));
  EXPECT_TRUE(decode(sealed("ranks=2:workers=4:")));
  for (const char* text : {"x",
                           ":",
                           "ranks=2",
                           "ranks:",
                           "ranks=:",
                           "ranks=x:",
                           "ranks=2x:",
                           "ranks= 2:",
                           "ranks=+2:",
                           "ranks=02:",
                           "ranks=0:",
                           "ranks=2147483648:",
                           "workers=-1:",
                           "workers=4294967296:",
                           "stack=18446744073709551616:",
                           "other=2:",
                           "ranks=2:other=2:workers=4:",
                           "ranks=2:ranks=2:",
                           "workers=4:ranks=2:",
                           "label=0:",
                           "label=2:",
                           "label=:",
                           "cpus=1,:",
                           "cpus=1,x:",
                           "wire=2:",
                           "wire=2,0,0,0,1,1:",
                           "wire=2,0,0,x,1:",
                           "wrapper=%:",
                           "wrapper=%4:",
                           "wrapper=%41:",
                           "wrapper=%2C:",
                           "wrapper=a b:",
                           "wrapper=:"})
    EXPECT_FALSE(decode(sealed(text))) << text;
  for (const char* text : {"", "seal=", "ranks=2", "ranks=2:", "ranks=2:seal=0123456789abcdef"})
    EXPECT_FALSE(decode(text)) << text;
}

}  // namespace
}  // namespace sorrel::launch
