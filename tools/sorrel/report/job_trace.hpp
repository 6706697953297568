//! JobTrace - what the ranks and the workers of a job have done: read from a file that
//! `sorrel run --trace` has written.
//!
//! Times are nanoseconds since the job began. All lists are in the order of time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <sorrel/result.hpp>

#include "tools/sorrel/trace/code_places.hpp"
#include "tools/sorrel/trace/thread_use.hpp"

namespace sorrel::tool {

inline constexpr std::uint32_t no_index = 0xffffffff;

struct Interval {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  [[nodiscard]] std::int64_t ns() const { return end - begin; }
};

/// A place in the program that calls MPI: `function` of MPI at `place`.
struct CallSite {
  std::string function;
  CodePlace place;
};

/// A call of MPI. Calls that MPI itself makes are parts of it.
struct Call {
  Interval time;
  std::uint32_t site = 0;
  std::uint32_t comm = no_index;  ///< context of its communicator
  std::int32_t root = -1;         ///< rank of the job
};

/// The time from the switch away from a rank until it runs again.
struct Wait {
  Interval time;
  std::uint32_t call = no_index;  ///< index in the rank's calls; no_index: outside of MPI
};

struct Message {
  std::uint32_t source = 0;       ///< index of the rank
  std::uint32_t destination = 0;  ///< index of the rank; no_index: was not received
  std::int64_t send_ns = 0;
  std::int64_t receive_ns = 0;
  std::uint64_t bytes = 0;
};

/// A rank on a worker.
struct Run {
  Interval time;
  std::uint32_t rank = 0;  ///< index
  bool is_lent = false;    ///< The worker has borrowed it from another one.
};

enum class WorkKind : std::uint8_t { loop, task, openmp };

/// The innermost loop, task of a graph or region of OpenMP that ran. `site`: its name and place.
struct WorkSpan {
  Interval time;
  WorkKind kind = WorkKind::loop;
  std::uint32_t site = 0;
};

/// A run of a rank, as its worker has it.
struct RunPlace {
  std::uint32_t worker = 0;
  std::uint32_t run = 0;
};

struct TracedRank {
  std::int32_t number = 0;
  std::uint32_t process = 0;
  std::uint32_t node = 0;  ///< simulated node, else the process
  std::vector<Call> calls{};
  std::vector<Wait> waits{};
  std::vector<RunPlace> runs{};
  std::vector<WorkSpan> work{};
  std::uint32_t home = 0;                 ///< the worker that ran it longest, except as a loan
  std::vector<std::uint32_t> sent{};      ///< messages
  std::vector<std::uint32_t> received{};  ///< messages
};

struct TracedWorker {
  std::uint32_t process = 0;
  std::uint32_t number = 0;
  std::vector<Run> runs{};
  std::vector<Interval> idle{};  ///< also without a thread
  std::int64_t away_ns = 0;      ///< the part of it without a thread
  std::vector<WorkSpan> help{};  ///< for loops of ranks, when it had no rank to run
};

struct JobTrace {
  std::int64_t end_ns = 0;
  std::uint64_t event_count = 0;
  std::uint32_t process_count = 0;
  ThreadUse use;
  std::vector<CallSite> sites;
  std::vector<TracedRank> ranks;  ///< by number
  std::vector<TracedWorker> workers;
  std::vector<Message> messages;

  [[nodiscard]] const Run& run_at(const RunPlace& place) const {
    return workers[place.worker].runs[place.run];
  }

  /// The time from the first run of a rank to its last one.
  [[nodiscard]] Interval life_of(const TracedRank& rank) const {
    if (rank.runs.empty()) return {};
    return {run_at(rank.runs.front()).time.begin, run_at(rank.runs.back()).time.end};
  }
};

/// The error names the file, in one line.
[[nodiscard]] Result<JobTrace> read_job_trace(const std::string& path);

}  // namespace sorrel::tool
