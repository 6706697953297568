#include "tools/sorrel/report/job_trace.hpp"

#include <gtest/gtest.h>
#include <string>

#include "tools/sorrel/trace/perfetto_file.hpp"
#include "unit/base/temporary_folder.hpp"

namespace sorrel::tool {
namespace {

/// A damaged file, or one that another program has written.
TEST(JobTraceTest, TwoTracksOfARankAreOneRank) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/two.trace";
  PerfettoFile file(path);
  file.add_process(1, 0, "process 0");
  file.add_track(2, 1, "ranks", 0);
  file.add_thread(3, 0, 0, "worker 0");
  for (const TrackId track : {10, 11})
    file.add_track(track, 2, "rank 0", 0);
  for (const TrackId track : {10, 11}) {
    const auto ns = static_cast<std::int64_t>(track) * 100;
    file.begin({.track = track, .ns = ns, .name = "MPI_Barrier"});
    file.end(track, ns + 50);
  }
  ASSERT_EQ(file.close(), 0);
  const Result<JobTrace> job = read_job_trace(path);
  ASSERT_TRUE(job.has_value()) << job.error();
  ASSERT_EQ(job->ranks.size(), 1U);
  ASSERT_EQ(job->ranks.front().calls.size(), 2U);
  EXPECT_EQ(job->ranks.front().calls.back().time.end, 1150);
}

}  // namespace
}  // namespace sorrel::tool
