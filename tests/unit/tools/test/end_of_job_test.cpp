#include "tools/sorrel/test/end_of_job.hpp"

#include <gtest/gtest.h>

namespace sorrel::tool {
namespace {

TEST(EndOfJobTest, PlacesOfADeadlockHaveTheirRanks) {
  const std::vector<Found> found = end_of_job(R"json({"version": 1, "kind": "deadlock", "status": 3,
    "waits": [{"rank": 0, "call": "MPI_Recv", "place": "main (hang.c:7)"},
              {"rank": 1, "call": "MPI_Barrier", "place": "rest (hang.c:9)"},
              {"rank": 2, "call": "MPI_Barrier", "place": "rest (hang.c:9)"},
              {"rank": 3, "call": "MPI_Barrier", "place": "?"}]})json")
                                       .findings;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_STREQ(found[0].kind->name, "deadlock");
  EXPECT_EQ(found[0].call.call, "MPI_Recv");
  EXPECT_EQ(found[0].call.place.file, "hang.c");
  EXPECT_EQ(found[0].call.place.function, "main");
  EXPECT_EQ(found[0].call.place.line, 7U);
  ASSERT_EQ(found[0].related.size(), 1U);
  EXPECT_EQ(found[0].related[0].call.ranks, (std::vector<std::int32_t>{1, 2}));
}

TEST(EndOfJobTest, ACrashIsAtTheInnermostKnownLine) {
  const std::vector<Found> found =
      end_of_job(R"json({"kind": "crash", "rank": 5, "what": "signal 11",
                              "calls": ["libc.so.6+0x12", "f (a.c:3)"]})json")
          .findings;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_STREQ(found[0].kind->name, "crash");
  EXPECT_EQ(found[0].call.place.line, 3U);
  EXPECT_EQ(found[0].call.ranks, (std::vector<std::int32_t>{5}));
  EXPECT_EQ(found[0].text, "signal 11");
}

TEST(EndOfJobTest, DamagedAndOtherReportsHaveNone) {
  for (const char* report :
       {"", R"json({"kind": "deadlock", "waits": [{"rank")json", R"json({"kind": "deadlock"})json",
        R"json({"kind": "deadlock", "waits": [{"rank": "x", "place": "m (a.c:1)"}]})json",
        R"json({"kind": "crash", "rank": null, "calls": ["f (a.c:3)"]})json",
        R"json({"kind": "killed", "calls": []})json", "[]"})
    EXPECT_TRUE(end_of_job(report).findings.empty()) << report;
}

TEST(EndOfJobTest, ADeadlockIsWhatTheReportCallsOne) {
  EXPECT_TRUE(end_of_job(R"json({"kind": "deadlock", "status": 3})json").is_deadlock);
  for (const char* report :
       {"", "[]", "3", R"json({"status": 3})json", R"json({"kind": "error", "status": 3})json",
        R"json({"kind": 3})json", R"json({"kind": "deadlock")json"})
    EXPECT_FALSE(end_of_job(report).is_deadlock) << report;
}

TEST(EndOfJobTest, FindingsAreReadAsTheyWereWritten) {
  Found found{
      .kind = &finding_kind("message-type"),
      .call = {.call = "MPI_Recv", .place = {"f", "a.c", 3}, .ranks = {0, 2}},
      .text = "differ",
      .related = {{.call = {.call = "MPI_Send", .place = {}, .ranks = {1}}, .text = "the send"}},
      .seeds = {4, 9}};
  const std::string json = json_of(std::vector<Found>{found});
  const Result<std::vector<Found>> read = findings_of(json);
  ASSERT_TRUE(read.has_value()) << read.error();
  EXPECT_EQ(json_of(*read), json);
  EXPECT_FALSE(findings_of("{}").has_value());
  EXPECT_FALSE(findings_of("").has_value());
}

}  // namespace
}  // namespace sorrel::tool
