//! JobFile - a trace of a job that never ran: tests write what its ranks have done.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fmt/core.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/sorrel/report/job_trace.hpp"
#include "tools/sorrel/trace/perfetto_fields.hpp"
#include "tools/sorrel/trace/perfetto_file.hpp"

namespace sorrel::tool {

constexpr std::int64_t us = 1000;
constexpr std::int64_t ms = 1000 * us;

class JobFile {
 public:
  /// Rank r is on worker `workers[r]`.
  JobFile(const std::filesystem::path& path, const std::vector<std::uint32_t>& workers)
      : path_(path.string()), file_(path_) {
    constexpr std::uint32_t process = 0;
    file_.add_process(1, process, "process 0");
    file_.add_track(2, 1, "ranks", 0);
    for (std::uint32_t w = 0; w <= workers.back(); ++w)
      file_.add_thread(worker_track(w), process, w, fmt::format("worker {}", w));
    for (std::uint32_t r = 0; r < workers.size(); ++r)
      file_.add_track(rank_track(r), 2, fmt::format("rank {}", r), static_cast<std::int32_t>(r));
  }

  /// On a worker: the rank runs, or with no rank, the worker is idle.
  void run(std::uint32_t worker, std::optional<std::uint32_t> rank, Interval time) {
    const std::string name = rank ? fmt::format("rank {}", *rank) : "idle";
    slice(worker_track(worker), name, time);
  }

  struct CallText {
    const char* function;
    Interval time;
    std::optional<Interval> wait = std::nullopt;
    std::uint64_t line = 1;
    std::optional<std::uint64_t> comm = std::nullopt;
    std::optional<std::int64_t> root = std::nullopt;
  };

  void call(std::uint32_t rank, const CallText& text) {
    const CodePlace& place = places_[text.line];
    file_.begin({.track = rank_track(rank),
                 .ns = text.time.begin,
                 .name = text.function,
                 .place = &place,
                 .comm = text.comm,
                 .root = text.root});
    if (text.wait) slice(rank_track(rank), "waits", *text.wait);
    file_.end(rank_track(rank), text.time.end);
  }

  /// Sent at the begin of `time`, and received at its end.
  void message(std::uint32_t from, std::uint32_t to, Interval time, std::uint64_t bytes) {
    const std::uint64_t flow = 1000 + flow_++;
    const auto add = [&](std::uint32_t rank, std::int64_t ns, PerfettoFile::FlowEnd end) {
      file_.add({.track = rank_track(rank),
                 .ns = ns,
                 .flow_end = end,
                 .flow = flow,
                 .peer = -1,
                 .tag = 0,
                 .bytes = bytes});
    };
    add(from, time.begin, PerfettoFile::FlowEnd::begin);
    add(to, time.end, PerfettoFile::FlowEnd::end);
  }

  [[nodiscard]] Result<JobTrace> read() {
    if (file_.close() != 0) return Error{"the test cannot write its file"};
    return read_job_trace(path_);
  }

 private:
  static TrackId worker_track(std::uint32_t worker) { return 100 + worker; }

  static TrackId rank_track(std::uint32_t rank) { return 10'000 + rank; }

  void slice(TrackId track, const std::string& name, Interval time) {
    file_.begin({.track = track, .ns = time.begin, .name = name});
    file_.end(track, time.end);
  }

  struct Places {
    Places() {
      for (std::uint64_t line = 0; line < 100; ++line)
        places.push_back({.function = "solve", .file = "heat.c", .line = line});
    }

    const CodePlace& operator[](std::uint64_t line) const { return places[line]; }

    std::vector<CodePlace> places;
  };

  std::string path_;
  PerfettoFile file_;
  Places places_;
  std::uint64_t flow_ = 0;
};

}  // namespace sorrel::tool
