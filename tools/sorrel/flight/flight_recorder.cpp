#include "tools/sorrel/flight/flight_recorder.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <fmt/core.h>
#include <mutex>
#include <optional>
#include <string_view>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

#include "base/check.hpp"
#include "os/clock.hpp"
#include "os/cpu_set.hpp"
#include "os/write_all.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/common/output_files.hpp"
#include "tools/sorrel/flight/core_use.hpp"
#include "tools/sorrel/flight/flight_page.hpp"
#include "tools/sorrel/flight/wait_samples.hpp"
#include "tools/sorrel/machine/other_work.hpp"
#include "tools/sorrel/view/job_page.hpp"

namespace sorrel::tool {

namespace {

/// A screen has room for them, with what else is said.
constexpr std::size_t row_count_max = 16;
/// Ranks on a page.
constexpr std::size_t page_rank_count_max = 20'000;
/// Two looks, if the job answers at once.
constexpr std::int64_t look_distance_ns = 100'000'000;
constexpr int reader_patience_ms = 1000;

double child_seconds() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds_of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

std::string local_time(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm fields{};
  localtime_r(&now, &fields);
  std::array<char, 64> text{};
  std::strftime(text.data(), text.size(), format, &fields);
  return text.data();
}

std::string name_of_machine() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

/// A job, looked into twice if it answers fast.
struct LookedInto {
  RunningJob job;
  JobView before;
  JobView now;
};

std::optional<LookedInto> look_at_job() {
  auto job = job_of_this_command();
  if (!job) return std::nullopt;
  const std::int64_t begin_ns = os::monotonic_ns();
  Result<JobView> before = look_into(*job, report::ViewKind::activity);
  if (!before.has_value()) return std::nullopt;
  // The page says why processes have not answered.
  if (before.value().is_empty() && before.value().notes.empty()) return std::nullopt;
  LookedInto look{.job = std::move(*job), .before = std::move(before).value(), .now = {}};
  look.now = look.before;
  if (os::monotonic_ns() - begin_ns > look_distance_ns) return look;
  os::sleep_ns(look_distance_ns);
  Result<JobView> now = look_into(look.job, report::ViewKind::activity);
  if (now.has_value() && !now.value().is_empty()) look.now = std::move(now).value();
  return look;
}

Json json_of(const std::vector<WaitSamples::Row>& rows) {
  Json all = Json::array();
  for (const WaitSamples::Row& row : rows) {
    all.push_back(
        {{"state", row.state}, {"call", row.call}, {"place", row.place}, {"share", row.share}});
  }
  return all;
}

class Recorder final : public FlightRecorder {
 public:
  Recorder(FlightPlan plan, int report) : plan_(std::move(plan)), report_(report) {}

  ~Recorder() override {
    stop();
    close(report_);
  }

  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  [[nodiscard]] std::string report_file() const override {
    return fmt::format("/proc/{}/fd/{}", getpid(), report_);
  }

  void begin() override {
    stop();
    (void)!ftruncate(report_, 0);
    has_page_ = false;
    samples_ = {};
    worker_count_ = 0;
    is_stopping_ = false;
    begin_ns_ = os::monotonic_ns();
    begin_cpu_s_ = child_seconds();
    other_work_.emplace();
    if (!plan_.is_first) return;
    try {
      thread_ = std::thread([this] { take_samples(); });
    } catch (const std::system_error&) {
      // The system allows no more threads: there are no samples.
    }
  }

  void on_end_request() override {
    if (!plan_.is_first || has_page_) return;
    const auto look = look_at_job();
    if (!look) return;
    std::string text = fmt::format("sorrel: SIGTERM after {}\n", text_of_duration(seconds()));
    for (const std::string& line : page_of(look->job, look->before, look->now, {row_count_max, {}}))
      text += line + "\n";
    os::write_all(STDERR_FILENO, text, reader_patience_ms);
    Json data = data_of("terminated");
    data["signal"] = SIGTERM;
    data["look"] = tool::json_of(look->job, look->before, look->now);
    write(std::move(data));
  }

  void end() override {
    stop();
    const std::string report = read_report();
    if (!report.empty() && !plan_.report_file.empty())
      (void)write_output_file(plan_.report_file, report);
    if (has_page_) return;
    if (!report.empty()) return write_end(report);
    if (plan_.is_first) write_if_idle();
  }

 private:
  [[nodiscard]] double seconds() const {
    return 1e-9 * static_cast<double>(os::monotonic_ns() - begin_ns_);
  }

  void stop() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      is_stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  /// The thread does this.
  void take_samples() {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, std::chrono::nanoseconds(samples_.distance_ns()),
                              [&] { return is_stopping_; })) {
      lock.unlock();
      const auto job = job_of_this_command();
      const auto view =
          job ? look_into(*job, report::ViewKind::activity) : Result<JobView>(Error{});
      lock.lock();
      if (!view.has_value() || view.value().view.ranks.waits().empty()) continue;
      samples_.add(view.value().view.ranks);
      worker_count_ = count_own_workers(view.value());
    }
  }

  /// Under a host MPI, this process's children only: their processor time is known.
  [[nodiscard]] std::size_t count_own_workers(const JobView& view) const {
    if (!plan_.has_host) return view.threads.size();
    return static_cast<std::size_t>(
        std::ranges::count_if(view.threads, [](const WorkerThreadFacts& thread) {
          const auto facts = facts_of(thread.process);
          return facts && facts->parent == getpid();
        }));
  }

  [[nodiscard]] std::string read_report() const {
    std::string text;
    std::array<char, 65536> buffer{};
    for (ssize_t count = 0; (count = pread(report_, buffer.data(), buffer.size(),
                                           static_cast<off_t>(text.size()))) > 0;)
      text.append(buffer.data(), static_cast<std::size_t>(count));
    return text;
  }

  [[nodiscard]] Json data_of(const std::string& kind) const {
    std::error_code error;
    return {{"version", 1},
            {"kind", kind},
            {"program", plan_.program},
            {"command", command_line(plan_)},
            {"folder", std::filesystem::current_path(error).string()},
            {"host", name_of_machine()},
            {"time", local_time("%Y-%m-%d %H:%M:%S %z")},
            {"seconds", seconds()},
            {"under_launcher", plan_.has_host},
            {"next", next_command(plan_, kind)}};
  }

  /// The library has reported what ended the job.
  void write_end(const std::string& text) {
    const Json report = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    // The report of a crash may have crashed itself.
    const bool is_whole = report.is_object() && report.contains("kind");
    Json data = data_of(is_whole ? report["kind"].get<std::string>() : "crash");
    if (is_whole) data["report"] = report;
    write(std::move(data));
  }

  void write_if_idle() {
    const std::size_t cpu_count = std::max<std::size_t>(os::allowed_cpus().size(), 1);
    const CoreUse use{.seconds = seconds(),
                      .processor_seconds = child_seconds() - begin_cpu_s_,
                      .cores = std::min(worker_count_, cpu_count),
                      .cpus = cpu_count,
                      .other_work = other_work_->share()};
    if (worker_count_ == 0 || !use.is_idle()) return;
    const std::vector<WaitSamples::Row> rows = samples_.rows();
    std::string text = fmt::format(
        "sorrel: the job used {:.0f} % of {} core{} for {}; where its ranks were, in {} "
        "sample{}:\n",
        100 * use.busy(), use.cores, use.cores == 1 ? "" : "s", text_of_duration(use.seconds),
        samples_.count(), samples_.count() == 1 ? "" : "s");
    text += text_of(rows, row_count_max);
    os::write_all(STDERR_FILENO, text, reader_patience_ms);
    Json data = data_of("idle");
    data["cores"] = use.cores;
    data["busy_share"] = use.busy();
    data["other_share"] = use.other();
    write(std::move(data));
  }

  /// Writes the page, and says where it is.
  void write(Json data) {
    SORREL_ASSERT(!has_page_, "a second page of one job");
    {
      const std::lock_guard lock(mutex_);
      data["sample_count"] = samples_.count();
      data["samples"] = json_of(samples_.rows());
    }
    has_page_ = true;
    const std::string next = data["next"];
    limit_ranks(data, page_rank_count_max);
    if (const std::string path = write_new_file(flight_page(data)); !path.empty())
      print_diagnostic("page: " + path);
    if (!next.empty()) {
      print_diagnostic(
          fmt::format("to see more{}: {}", plan_.has_host ? ", behind the launcher" : "", next));
    }
  }

  /// The path of a file that has not existed before; "": a line has said what went wrong.
  [[nodiscard]] std::string write_new_file(const std::string& text) const {
    constexpr int attempt_count = 100;
    const std::string begin = fmt::format("{}/{}-{}-{}", plan_.folder, plan_.program,
                                          local_time("%Y%m%d-%H%M%S"), getpid());
    std::string path = begin + ".html";
    int descriptor = -1;
    for (int i = 2; i <= attempt_count; ++i) {
      constexpr mode_t mode = 0600;
      descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
      if (descriptor >= 0 || errno != EEXIST) break;
      path = fmt::format("{}-{}.html", begin, i);
    }
    int error = descriptor < 0 ? errno : 0;
    // A limit of file sizes (ulimit -f) is an error like a full disk.
    auto* const before = std::signal(SIGXFSZ, SIG_IGN);
    if (descriptor >= 0) error = os::write_all(descriptor, text);
    std::signal(SIGXFSZ, before);
    if (descriptor >= 0 && close(descriptor) != 0 && error == 0) error = errno;
    if (error == 0) return path;
    if (descriptor >= 0) unlink(path.c_str());
    print_diagnostic(fmt::format("the page {} cannot be written: {}", path, std::strerror(error)));
    return "";
  }

  const FlightPlan plan_;
  const int report_;
  std::int64_t begin_ns_ = 0;
  double begin_cpu_s_ = 0;
  std::optional<OtherWork> other_work_;
  bool has_page_ = false;

  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Under the lock while the thread runs.
  bool is_stopping_ = false;
  WaitSamples samples_;
  std::size_t worker_count_ = 0;
};

}  // namespace

Result<std::unique_ptr<FlightRecorder>> make_flight_recorder(FlightPlan plan) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::absolute(plan.folder, error);
  const auto refused = [&](const std::string& reason) {
    return Error{
        fmt::format("the folder of pages {} (--flight, SORREL_FLIGHT): {}", plan.folder, reason)};
  };
  constexpr mode_t mode = 0700;
  if (error) return refused(error.message());
  std::filesystem::create_directories(folder.parent_path(), error);
  if (error) return refused(error.message());
  if (mkdir(folder.c_str(), mode) != 0 && errno != EEXIST) return refused(std::strerror(errno));
  if (!std::filesystem::is_directory(folder, error)) return refused("is not a folder");
  if (access(folder.c_str(), W_OK | X_OK) != 0) return refused(std::strerror(errno));
  const int report = memfd_create("sorrel-report", MFD_CLOEXEC);
  if (report < 0) return refused(std::strerror(errno));
  plan.folder = folder.string();
  return std::unique_ptr<FlightRecorder>(std::make_unique<Recorder>(std::move(plan), report));
}

}  // namespace sorrel::tool
