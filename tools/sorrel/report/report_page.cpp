#include "tools/sorrel/report/report_page.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/check.hpp"
#include "report_page_text.inc"
#include "tools/sorrel/report/html_page.hpp"
#include "tools/sorrel/report/timeline.hpp"

namespace sorrel::tool {

namespace {

// What a page of 40 MB has room for, in base64.
constexpr std::size_t level_bytes_max = std::size_t{22} << 20;
constexpr std::size_t arrow_count_max = 100'000;
constexpr std::int64_t path_step_count_max = 20'000;
constexpr std::size_t cell_count_max = 100'000;

/// In base64, as lines of no length: browsers read it by atob().
std::string base64_of(std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < 3; ++i)
      word = word << 8 | (i < count ? static_cast<std::uint8_t>(bytes[at + i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i)
      text += i <= count ? digits[word >> (18 - 6 * i) & 63] : '=';
  }
  SORREL_ASSERT(text.size() == (bytes.size() + 2) / 3 * 4, "%zu letters for %zu bytes", text.size(),
                bytes.size());
  return text;
}

/// The messages that ended the longest waits, as [from, sent, to, received], times in nanoseconds.
Json arrows_of(const JobTrace& job) {
  std::vector<std::pair<std::int64_t, std::uint32_t>> by_wait;
  for (std::uint32_t r = 0; r < job.ranks.size(); ++r) {
    const TracedRank& rank = job.ranks[r];
    auto wait = rank.waits.begin();
    for (const std::uint32_t index : rank.received) {
      const std::int64_t ns = job.messages[index].receive_ns;
      while (wait != rank.waits.end() && wait->time.end < ns)
        ++wait;
      const bool is_waiting = wait != rank.waits.end() && wait->time.begin <= ns;
      by_wait.emplace_back(is_waiting ? wait->time.ns() : 0, index);
    }
  }
  const std::size_t count = std::min(by_wait.size(), arrow_count_max);
  std::ranges::partial_sort(by_wait, by_wait.begin() + static_cast<std::ptrdiff_t>(count),
                            std::ranges::greater());
  by_wait.resize(count);
  std::ranges::sort(by_wait, {}, &std::pair<std::int64_t, std::uint32_t>::second);
  Json arrows = Json::array();
  for (const auto& [wait_ns, index] : by_wait) {
    const Message& message = job.messages[index];
    for (const std::int64_t number :
         {std::int64_t{message.source}, message.send_ns, std::int64_t{message.destination},
          message.receive_ns - message.send_ns})
      arrows.push_back(number);
  }
  return arrows;
}

/// [rank, begin, end, kind] of each step of the path; short ones are joined to the one before.
Json steps_of(const JobTrace& job, const Analysis& analysis) {
  const std::int64_t ns_min = job.end_ns / path_step_count_max;
  Json steps = Json::array();
  std::int64_t end_ns = -1;
  for (const PathStep& step : analysis.path) {
    if (end_ns >= 0 && step.time.end - end_ns < ns_min) continue;
    end_ns = step.time.end;
    for (const std::int64_t number : {std::int64_t{step.rank}, step.time.begin, step.time.end,
                                      static_cast<std::int64_t>(step.kind)})
      steps.push_back(number);
  }
  return steps;
}

/// [from, to, count, bytes] of cells of `block` x `block` ranks.
Json cells_of(const JobTrace& job, const Analysis& analysis, std::uint32_t& block) {
  std::vector<MatrixCell> cells = analysis.matrix;
  for (block = 1; cells.size() > cell_count_max && block < job.ranks.size(); block *= 2) {
    for (MatrixCell& cell : cells) {
      cell.source /= 2;
      cell.destination /= 2;
    }
    const auto key = [](const MatrixCell& cell) {
      return std::pair(cell.source, cell.destination);
    };
    std::ranges::sort(cells, {}, key);
    std::size_t kept = 0;
    for (std::size_t i = 1; i < cells.size(); ++i) {
      if (key(cells[i]) == key(cells[kept])) {
        cells[kept].count += cells[i].count;
        cells[kept].bytes += cells[i].bytes;
      } else {
        cells[++kept] = cells[i];
      }
    }
    cells.resize(kept + 1);
  }
  Json numbers = Json::array();
  for (const MatrixCell& cell : cells)
    for (const std::uint64_t number :
         {std::uint64_t{cell.source}, std::uint64_t{cell.destination}, cell.count, cell.bytes})
      numbers.push_back(number);
  return numbers;
}

/// The states of loops, tasks and OpenMP that the timeline shows.
Json work_states_of(const JobTrace& job) {
  constexpr std::array<std::string_view, 3> keys = {"in-loop", "in-task", "in-openmp"};
  std::array<bool, keys.size()> is_used{};
  const auto add = [&](const std::vector<WorkSpan>& spans) {
    for (const WorkSpan& span : spans) {
      const auto kind = static_cast<std::size_t>(span.kind);
      SORREL_ASSERT(kind < keys.size(), "kind %zu of work has no state", kind);
      is_used[kind] = true;
    }
  };
  for (const TracedRank& rank : job.ranks)
    add(rank.work);
  for (const TracedWorker& worker : job.workers)
    add(worker.help);
  Json used = Json::array();
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (is_used[i]) used.push_back(keys[i]);
  return used;
}

}  // namespace

std::string page_of(const std::string& title,
                    const Json& json,
                    const JobTrace& job,
                    const WaitCauses& causes,
                    const Analysis& analysis) {
  Json data = json;
  // The page has them in a shorter form.
  data.erase("messages");
  data["trace"] = title;
  data["end_ns"] = job.end_ns;
  for (const CallSite& site : job.sites)
    data["sites"].push_back({site.function, text_of(&site.place)});
  data["work_states"] = work_states_of(job);
  for (std::size_t kind = 0; kind < wait_kind_count; ++kind) {
    data["wait_kinds"].push_back({std::string(key_of(static_cast<WaitKind>(kind))),
                                  std::string(name_of(static_cast<WaitKind>(kind)))});
  }
  std::uint32_t block = 1;
  data["cells"] = cells_of(job, analysis, block);
  data["cell_block"] = block;
  data["arrows"] = arrows_of(job);
  data["path_steps"] = steps_of(job, analysis);
  std::string blobs;
  for (const TimelineLevel& level : make_levels(job, causes, level_bytes_max)) {
    Json row_begins = Json::array();
    for (const std::size_t begin : level.row_begins)
      row_begins.push_back(begin);
    data["levels"].push_back({{"unit_ns", level.unit_ns}, {"row_begins", std::move(row_begins)}});
    blobs +=
        "<script type=\"text/plain\" class=\"level\">" + base64_of(level.bytes) + "</script>\n";
  }
  return html_of(HtmlPage{.title = title + " - Sorrel report",
                          .style = {},
                          .body = page_body,
                          .data = line_of(data),
                          .blobs = std::move(blobs),
                          .script = page_script});
}

}  // namespace sorrel::tool
