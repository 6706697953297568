#include "tools/sorrel/view/top_screen.hpp"

#if !SORREL_HAS_CURSES

namespace sorrel::tool {

bool has_top_screen() {
  return false;
}

int run_top_screen(const TopOptions& /*options*/) {
  return 1;
}

}  // namespace sorrel::tool

#else

#include <algorithm>
#include <array>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <curses.h>
#include <fmt/core.h>
#include <langinfo.h>
#include <map>
#include <optional>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

#include "os/clock.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/view/job_page.hpp"

namespace sorrel::tool {

namespace {

using report::RowOrder;

constexpr std::array<std::pair<RowOrder, const char*>, 5> orders = {
    {{RowOrder::fewest_first, "fewest ranks"},
     {RowOrder::by_rank, "rank"},
     {RowOrder::by_state, "state"},
     {RowOrder::by_call, "call"},
     {RowOrder::by_place, "place"}}};
/// With scrolling, more rows are of use than on a page.
constexpr std::size_t row_count_max = 4096;
constexpr int column_step = 8;
/// The history of a worker's load: one character for each look; behind the columns of its line.
constexpr std::size_t history_width = 24;
constexpr std::size_t history_column = 84;

/// The pairs of colours; 0 are the terminal's own.
enum Colour : std::uint8_t { plain, good, waiting, ready, bad };

/// The colour of a line on the page, by what it begins with or the state of its ranks.
Colour colour_of(std::string_view line) {
  if (line.starts_with("note: ")) return bad;
  constexpr std::array<std::pair<std::string_view, Colour>, 4> states = {
      {{"  runs on worker ", good},
       {"  blocked ", bad},
       {"  ready ", ready},
       {"  waits  ", waiting}}};
  for (const auto& [state, colour] : states) {
    if (line.find(state) != line.npos) return colour;
  }
  return plain;
}

bool is_heading(std::string_view line) {
  constexpr std::array<std::string_view, 3> begins = {"job ", "worker   thread ",
                                                      "unexpected messages"};
  return std::ranges::any_of(begins, [&](auto begin) { return line.starts_with(begin); }) ||
         line.find("  tag  communicator") != line.npos;
}

/// The terminal in the library's mode; restored at the end.
class Terminal {
 public:
  Terminal() : screen_(newterm(nullptr, stdout, stdin)) {
    if (screen_ == nullptr) return;
    set_term(screen_);
    cbreak();
    noecho();
    curs_set(0);
    const char* no_color = std::getenv("NO_COLOR");
    if (has_colors() && (no_color == nullptr || *no_color == '\0')) {
      start_color();
      use_default_colors();
      init_pair(good, COLOR_GREEN, -1);
      init_pair(waiting, COLOR_BLUE, -1);
      init_pair(ready, COLOR_YELLOW, -1);
      init_pair(bad, COLOR_RED, -1);
    }
    keypad(stdscr, TRUE);
  }

  ~Terminal() {
    if (screen_ == nullptr) return;
    endwin();
    delscreen(screen_);
  }

  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  [[nodiscard]] bool is_valid() const { return screen_ != nullptr; }

 private:
  SCREEN* screen_;
};

/// One line from a column on, cut at the right edge.
void put_line(int row, const std::string& line, std::size_t from_column) {
  std::wstring wide(line.size(), L'\0');
  const std::size_t size = std::mbstowcs(wide.data(), line.c_str(), wide.size());
  wide.resize(size == static_cast<std::size_t>(-1) ? 0 : size);
  if (from_column < wide.size())
    mvaddnwstr(row, 0, wide.c_str() + from_column,
               std::min(COLS, static_cast<int>(wide.size() - from_column)));
}

class Top {
 public:
  explicit Top(const TopOptions& options)
      : options_(options),
        has_blocks_(std::string_view(nl_langinfo(CODESET)) == "UTF-8"),
        interval_ns_(static_cast<std::int64_t>(options.interval_seconds * 1e9)) {}

  /// Runs until a key ends it, or the job has ended; returns what is to be said then.
  std::string run() {
    for (;;) {
      refresh_jobs();
      if (!options_.job.empty() && jobs_.empty()) return end_text_;
      look();
      const std::int64_t next_ns = os::monotonic_ns() + interval_ns_;
      for (;;) {
        draw();
        const std::int64_t left_ms = (next_ns - os::monotonic_ns()) / 1'000'000;
        if (left_ms <= 0) break;
        timeout(static_cast<int>(left_ms));
        const int key = getch();
        if (key == 'q' || key == 'Q') return "";
        if (key != ERR && !handle(key)) break;
      }
    }
  }

 private:
  void refresh_jobs() {
    if (options_.job.empty()) {
      jobs_ = running_jobs();
    } else {
      Result<RunningJob> job = find_job(options_.job);
      jobs_.clear();
      if (job.has_value()) {
        jobs_.push_back(std::move(job).value());
      } else {
        end_text_ = has_seen_ ? fmt::format("job {} has ended", options_.job) : job.error();
      }
    }
    const auto shown = std::ranges::find(jobs_, shown_, &RunningJob::pid);
    if (shown == jobs_.end())
      show(jobs_.empty() ? 0 : std::min(index_, jobs_.size() - 1));
    else
      index_ = static_cast<std::size_t>(shown - jobs_.begin());
  }

  void show(std::size_t index) {
    index_ = index;
    shown_ = jobs_.empty() ? 0 : jobs_[index].pid;
    first_line_ = 0;
    before_.reset();
    loads_.clear();
  }

  void look() {
    lines_.clear();
    if (jobs_.empty()) {
      lines_.emplace_back("no jobs");
      return;
    }
    const RunningJob& job = jobs_[index_];
    Result<JobView> now = look_into(job, report::ViewKind::activity);
    if (!now.has_value()) {
      lines_.push_back(now.error());
      return;
    }
    has_seen_ = true;
    now_ = std::move(now).value();
    const std::vector<WorkerRates> rates = rates_of(before_.value_or(*now_), *now_);
    for (std::size_t i = 0; i < rates.size(); ++i) {
      auto& loads = loads_[now_->view.workers[i].number];
      loads.push_back(rates[i].load);
      if (loads.size() > history_width) loads.erase(loads.begin());
    }
    make_page();
  }

  void make_page() {
    if (!now_ || jobs_.empty()) return;
    lines_ = page_of(jobs_[index_], before_.value_or(*now_), *now_,
                     {.row_count_max = row_count_max, .order = orders[order_].first});
    if (const auto heading = worker_heading(lines_)) {
      lines_[*heading] = fmt::format("{:<{}}{}", lines_[*heading], history_column, "history");
      for (std::size_t i = 0; i < now_->view.workers.size(); ++i) {
        std::string& line = lines_[*heading + 1 + i];
        line = fmt::format(
            "{:<{}}{}", line, history_column,
            load_history(loads_[now_->view.workers[i].number], history_width, has_blocks_));
      }
    }
    before_ = now_;
  }

  void draw() {
    erase();
    attron(A_REVERSE);
    const std::string title = fmt::format(
        " sorrel top   job {}/{}   sorted by {}   q quit  s sort  n p job  arrows scroll ",
        jobs_.empty() ? 0 : index_ + 1, jobs_.size(), orders[order_].second);
    put_line(0, fmt::format("{:<{}}", title, COLS), 0);
    attroff(A_REVERSE);
    const auto room = static_cast<std::size_t>(std::max(LINES - 1, 1));
    first_line_ = std::min(first_line_, lines_.size() > room ? lines_.size() - room : 0);
    for (std::size_t i = 0; i < room && first_line_ + i < lines_.size(); ++i)
      put_page_line(static_cast<int>(i) + 1, first_line_ + i);
    refresh();
  }

  void put_page_line(int row, std::size_t index) {
    const std::string& line = lines_[index];
    const auto heading = worker_heading(lines_);
    const bool is_worker =
        heading && now_ && index > *heading && index <= *heading + now_->view.workers.size();
    const chtype style =
        is_heading(line) ? A_BOLD : COLOR_PAIR(is_worker ? plain : colour_of(line));
    attron(style);
    put_line(row, line, first_column_);
    attroff(style);
    if (!is_worker || first_column_ >= history_column) return;
    // The history in the colour of the latest load.
    const auto column = static_cast<int>(history_column - first_column_);
    const int width = std::min(static_cast<int>(history_width), COLS - column);
    const auto& loads = loads_[now_->view.workers[index - *heading - 1].number];
    const double load = loads.empty() ? 0 : loads.back().value_or(0);
    constexpr double busy_percent = 50;
    if (width > 0)
      mvchgat(row, column, width, A_NORMAL, load >= busy_percent ? good : ready, nullptr);
  }

  void scroll_to(std::int64_t line) {
    first_line_ = static_cast<std::size_t>(std::max<std::int64_t>(line, 0));
  }

  /// False: the page is to be made anew.
  bool handle(int key) {
    const auto line = static_cast<std::int64_t>(first_line_);
    switch (key) {
      case KEY_UP:
        scroll_to(line - 1);
        return true;
      case KEY_DOWN:
        scroll_to(line + 1);
        return true;
      case KEY_PPAGE:
        scroll_to(line - LINES + 2);
        return true;
      case KEY_NPAGE:
        scroll_to(line + LINES - 2);
        return true;
      case KEY_HOME:
        scroll_to(0);
        return true;
      case KEY_END:
        scroll_to(static_cast<std::int64_t>(lines_.size()));
        return true;
      case KEY_LEFT:
        first_column_ -= std::min<std::size_t>(first_column_, column_step);
        return true;
      case KEY_RIGHT:
        first_column_ += column_step;
        return true;
      case 's':
        order_ = (order_ + 1) % orders.size();
        return false;
      case 'n':
      case '\t':
        if (!jobs_.empty()) show((index_ + 1) % jobs_.size());
        return false;
      case 'p':
        if (!jobs_.empty()) show((index_ + jobs_.size() - 1) % jobs_.size());
        return false;
      case ' ':
        return false;
      default:
        return true;
    }
  }

  const TopOptions& options_;
  const bool has_blocks_;
  const std::int64_t interval_ns_;
  std::vector<RunningJob> jobs_;
  /// The job that is shown: its index, and its number; 0: none.
  std::size_t index_ = 0;
  pid_t shown_ = 0;
  std::optional<JobView> before_;
  std::optional<JobView> now_;
  /// By worker of the job that is shown: its load at the latest looks.
  std::map<std::uint32_t, std::vector<std::optional<double>>> loads_;
  bool has_seen_ = false;
  std::string end_text_;
  std::vector<std::string> lines_;
  std::size_t first_line_ = 0;
  std::size_t first_column_ = 0;
  std::size_t order_ = 0;
};

}  // namespace

bool has_top_screen() {
  return true;
}

int run_top_screen(const TopOptions& options) {
  if (isatty(STDOUT_FILENO) == 0 || isatty(STDIN_FILENO) == 0)
    return report_error("top needs a terminal; without one: sorrel top --once");
  std::setlocale(LC_ALL, "");
  std::string end;
  {
    const Terminal terminal;
    if (!terminal.is_valid())
      return report_error("the terminal is not known (TERM); without it: sorrel top --once");
    end = Top(options).run();
  }
  if (!end.empty()) print_diagnostic(end);
  return 0;
}

}  // namespace sorrel::tool

#endif
