// Act D: cores that wait for messages compute for other ranks; drawn while it happens.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/sorrel/common/child_command.hpp"
#include "tools/sorrel/demo/act.hpp"
#include "tools/sorrel/demo/busy_picture.hpp"

namespace sorrel::tool {

namespace {

constexpr std::size_t step_count = 32;  // of tools/demo/latency.c
constexpr std::uint64_t picture_workers_max = 4;
constexpr std::uint64_t many_a_core = 16;
/// Passes of a loop for each core in each step: about 10 ms.
constexpr std::uint64_t work_a_core = 6'000'000;
constexpr const char* wire = "latency=40ms,nodes=2";
constexpr std::size_t columns = 52;
constexpr std::int64_t first_width_ns = 1'800'000'000;
constexpr std::chrono::milliseconds redraw_tick{50};
/// What counts as a gain.
constexpr double gain_min = 1.1;

/// As in tools/demo/latency.c.
struct SharedSpan {
  long long begin;
  long long end;
  int rank;
  int thread;
};

/// Memory into which the ranks of one run write when they compute.
class SpanMemory {
 public:
  explicit SpanMemory(std::uint64_t ranks)
      : count_(step_count * ranks), file_(memfd_create("sorrel-demo", MFD_CLOEXEC)) {
    const std::size_t bytes = count_ * sizeof(SharedSpan);
    if (file_ < 0 || ftruncate(file_, static_cast<off_t>(bytes)) != 0) return;
    void* at = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file_, 0);
    if (at != MAP_FAILED) spans_ = static_cast<SharedSpan*>(at);
  }

  ~SpanMemory() {
    if (spans_ != nullptr) munmap(spans_, count_ * sizeof(SharedSpan));
    if (file_ >= 0) close(file_);
  }

  SpanMemory(const SpanMemory&) = delete;
  SpanMemory& operator=(const SpanMemory&) = delete;

  [[nodiscard]] bool is_valid() const { return spans_ != nullptr; }

  [[nodiscard]] std::string path() const { return fmt::format("/proc/{}/fd/{}", getpid(), file_); }

  /// The computations so far that have ended.
  [[nodiscard]] std::vector<BusySpan> spans() const {
    std::vector<BusySpan> found;
    for (std::size_t i = 0; i < count_; ++i) {
      const SharedSpan& span = spans_[i];
      const long long end = __atomic_load_n(&span.end, __ATOMIC_ACQUIRE);
      if (end != 0) found.push_back({span.begin, end, span.rank, span.thread});
    }
    return found;
  }

 private:
  std::size_t count_;
  int file_;
  SharedSpan* spans_ = nullptr;
};

/// What has been seen of one run.
struct LatencyRun {
  std::uint64_t ranks = 0;
  std::vector<BusySpan> spans;

  [[nodiscard]] std::int64_t begin_ns() const {
    std::int64_t begin = spans.empty() ? 0 : spans.front().begin_ns;
    for (const BusySpan& span : spans)
      begin = std::min(begin, span.begin_ns);
    return begin;
  }

  [[nodiscard]] std::int64_t width_ns() const {
    std::int64_t end = 0;
    for (const BusySpan& span : spans)
      end = std::max(end, span.end_ns);
    return spans.empty() ? 0 : end - begin_ns();
  }

  [[nodiscard]] double busy_share(std::uint64_t workers) const {
    double busy = 0;
    for (const BusySpan& span : spans)
      busy += static_cast<double>(span.end_ns - span.begin_ns);
    return busy / static_cast<double>(width_ns()) / static_cast<double>(workers);
  }

  [[nodiscard]] double step_ms() const {
    return 1e-6 * static_cast<double>(width_ns()) / static_cast<double>(step_count);
  }
};

/// Draws the runs, again and again over the same lines.
class LivePicture {
 public:
  LivePicture(const DemoStage& stage, std::uint64_t workers) : stage_(stage), workers_(workers) {}

  void draw(const std::vector<LatencyRun>& runs) {
    for (const LatencyRun& run : runs)
      width_ns_ = std::max(width_ns_, run.width_ns());
    std::string text;
    if (line_count_ > 0) text = fmt::format("\033[{}A", line_count_);
    line_count_ = 0;
    for (const LatencyRun& run : runs)
      text += text_of(run);
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }

 private:
  std::string text_of(const LatencyRun& run) {
    std::vector<int> threads = threads_of(run.spans);
    threads.resize(std::max<std::size_t>(threads.size(), workers_), -1);
    const auto cells = busy_cells(run.spans, threads, run.begin_ns(),
                                  width_ns_ / static_cast<std::int64_t>(columns) + 1, columns);
    std::string text;
    for (std::size_t row = 0; row < cells.size(); ++row) {
      text += fmt::format("{}   {:>10}  core {:<2} |{}|\n", stage_.is_live ? "\033[K" : "",
                          row == 0 ? fmt::format("{} ranks", run.ranks) : "", row,
                          row_text(cells[row], stage_.has_colours));
      ++line_count_;
    }
    return text;
  }

  const DemoStage& stage_;
  const std::uint64_t workers_;
  std::int64_t width_ns_ = first_width_ns;
  std::size_t line_count_ = 0;
};

/// Adds to `runs` what it sees of a run; "" or what went wrong.
std::string watch_run(const DemoStage& stage,
                      std::uint64_t workers,
                      std::uint64_t ranks,
                      LivePicture& picture,
                      std::vector<LatencyRun>& runs) {
  const SpanMemory memory(ranks);
  if (!memory.is_valid()) return fmt::format("no memory to share: {}", std::strerror(errno));
  std::vector<std::string> words =
      stage.run({"-n", fmt::format("{}", ranks), "--workers", fmt::format("{}", workers), "--share",
                 "fixed", "--wire", wire},
                "latency");
  words.push_back(fmt::format("{}", work_a_core * workers));
  words.push_back(memory.path());
  ChildCommand child(words, {});
  runs.push_back({.ranks = ranks, .spans = {}});
  while (child.progress(redraw_tick)) {
    if (child.seconds() > static_cast<double>(act_limit.count())) return "did not end in time";
    runs.back().spans = memory.spans();
    if (stage.is_live) picture.draw(runs);
  }
  runs.back().spans = memory.spans();
  if (stage.is_live) picture.draw(runs);
  return child.has_succeeded() ? "" : child.text_of_end();
}

}  // namespace

ActResult act_latency(const DemoStage& stage) {
  const std::uint64_t workers = std::min(stage.cores, picture_workers_max);
  LivePicture picture(stage, workers);
  std::vector<LatencyRun> runs;
  for (const std::uint64_t ranks : {std::max<std::uint64_t>(workers, 2), many_a_core * workers}) {
    const std::string error = watch_run(stage, workers, ranks, picture, runs);
    if (!error.empty()) return {false, fmt::format("{} ranks: the job {}", ranks, error)};
  }
  if (!stage.is_live) picture.draw(runs);
  const double gain = runs[0].step_ms() / runs[1].step_ms();
  return {gain >= gain_min,
          fmt::format("a step takes {:.1f} ms in place of {:.1f} ms: {:.1f} times as fast, as the "
                      "cores compute for {:.0f} % of the time in place of {:.0f} %",
                      runs[1].step_ms(), runs[0].step_ms(), gain, 100 * runs[1].busy_share(workers),
                      100 * runs[0].busy_share(workers))};
}

}  // namespace sorrel::tool
