#include "tools/sorrel/view/job_page.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/core.h>
#include <map>
#include <string_view>

#include "base/check.hpp"
#include "base/printable.hpp"
#include "os/cpu_set.hpp"
#include "report/activity_table.hpp"
#include "report/memory_rows.hpp"
#include "report/wait_groups.hpp"

namespace sorrel::tool {

namespace {

using report::RankWait;
using report::ViewedWorker;

constexpr std::size_t unexpected_row_max = 8;

/// The number in "ready on worker 3".
std::optional<std::uint32_t> worker_in(std::string_view state) {
  constexpr std::string_view before = " on worker ";
  const std::size_t at = state.find(before);
  return at == state.npos ? std::nullopt
                          : report::number_in<std::uint32_t>(state.substr(at + before.size()));
}

void add_lines(std::vector<std::string>& lines, std::string_view text) {
  while (!text.empty())
    lines.push_back(printable(report::take_field(text, '\n')));
}

std::string text_of_number(const std::optional<double>& number, const char* unit) {
  return number ? fmt::format("{:.0f}{}", *number, unit) : "-";
}

std::string text_of_byte_rate(const WorkerRates& rates) {
  if (!rates.bytes_per_second) return "-";
  return std::string(
      report::text_of_bytes(static_cast<std::uint64_t>(*rates.bytes_per_second)).text());
}

/// "1 process, 2 workers (cpus 0-1)"
std::string shape_of(const RunningJob& job) {
  std::size_t worker_count = 0;
  std::vector<int> cpus;
  for (const JobProcess& process : job.processes) {
    worker_count += process.spec.worker_count;
    cpus.insert(cpus.end(), process.spec.cpus.begin(), process.spec.cpus.end());
  }
  // Processes may share processors.
  std::ranges::sort(cpus);
  const auto repeated = std::ranges::unique(cpus);
  cpus.erase(repeated.begin(), repeated.end());
  const auto counted = [](std::size_t count, const char* one, const char* more) {
    return fmt::format("{} {}", count, count == 1 ? one : more);
  };
  return fmt::format("{}, {} ({})", counted(job.processes.size(), "process", "processes"),
                     counted(worker_count, "worker", "workers"),
                     cpus.empty() ? "unbound" : "cpus " + os::format_cpu_ranges(cpus));
}

struct Resources {
  double age_seconds = 0;
  double cpu_seconds = 0;
  std::uint64_t resident_bytes = 0;
};

Resources resources_of(const RunningJob& job) {
  Resources sum;
  for (const JobProcess& process : job.processes) {
    sum.age_seconds = std::max(sum.age_seconds, process.facts.age_seconds);
    sum.cpu_seconds += process.facts.cpu_seconds;
    sum.resident_bytes += process.facts.resident_bytes;
  }
  return sum;
}

void add_workers(std::vector<std::string>& lines, const JobView& before, const JobView& now) {
  if (now.view.workers.empty()) return;
  lines.push_back(fmt::format("{:>6} {:>8} {:>4} {:>6} {:>10} {:>10} {:>10} {:>6}  {}", "worker",
                              "thread", "cpu", "load", "wakes/s", "messages/s", "bytes/s", "ready",
                              "state"));
  const std::vector<WorkerRates> rates = rates_of(before, now);
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const ViewedWorker& worker = now.view.workers[i];
    const char* state = worker.is_asleep ? "asleep" : "polls";
    lines.push_back(fmt::format(
        "{:>6} {:>8} {:>4} {:>6} {:>10} {:>10} {:>10} {:>6}  {}", worker.number, worker.thread,
        now.threads[i].facts.cpu < 0 ? "-" : fmt::format("{}", now.threads[i].facts.cpu),
        text_of_number(rates[i].load, " %"), text_of_number(rates[i].wakes_per_second, ""),
        text_of_number(rates[i].messages_per_second, ""), text_of_byte_rate(rates[i]),
        rates[i].ready_count, rates[i].running_count > 0 ? "runs a rank" : state));
  }
}

void add_unexpected(std::vector<std::string>& lines, const JobView& now) {
  if (now.view.unexpected.empty()) return;
  std::map<std::uint32_t, std::vector<std::int32_t>, std::greater<>> by_count;
  for (const auto& [rank, count] : now.view.unexpected)
    by_count[count].push_back(rank);
  lines.push_back("unexpected messages");
  std::size_t row_count = 0;
  for (const auto& [count, ranks] : by_count) {
    if (row_count++ == unexpected_row_max) {
      lines.push_back(fmt::format("{:>8}", "…"));
      break;
    }
    lines.push_back(fmt::format("{:>8}  at {} {}", count, ranks.size() == 1 ? "rank" : "ranks",
                                report::text_of_ranks(ranks, 4)));
  }
}

template <class Number>
Json or_null(const std::optional<Number>& number) {
  return number ? Json(*number) : Json();
}

Json json_of(const RankWait& wait, const JobView& now) {
  const auto unexpected = now.view.unexpected.find(wait.rank);
  return {
      {"rank", wait.rank},
      {"state", wait.state.substr(0, wait.state.find(" on worker "))},
      {"worker", or_null(worker_in(wait.state))},
      {"call", wait.call},
      {"peer", wait.peer},
      {"tag", wait.tag},
      {"communicator", wait.comm},
      {"place", wait.place},
      {"awaited_rank", or_null(wait.awaited)},
      {"unexpected_messages", unexpected == now.view.unexpected.end() ? 0 : unexpected->second}};
}

}  // namespace

std::vector<WorkerRates> rates_of(const JobView& before, const JobView& now) {
  for (const JobView* view : {&before, &now}) {
    SORREL_ASSERT(view->threads.size() == view->view.workers.size(), "%zu threads of %zu workers",
                  view->threads.size(), view->view.workers.size());
  }
  std::map<std::uint32_t, std::size_t> earlier;
  for (std::size_t i = 0; i < before.view.workers.size(); ++i)
    earlier[before.view.workers[i].number] = i;
  const double seconds = static_cast<double>(now.time_ns - before.time_ns) * 1e-9;
  std::map<std::uint32_t, WorkerRates> counts;
  for (const RankWait& wait : now.view.ranks.waits()) {
    const auto worker = worker_in(wait.state);
    if (!worker) continue;
    WorkerRates& of_worker = counts[*worker];
    ++(wait.state.starts_with(report::state_ready) ? of_worker.ready_count
                                                   : of_worker.running_count);
  }
  std::vector<WorkerRates> rates;
  for (std::size_t i = 0; i < now.view.workers.size(); ++i) {
    const ViewedWorker& worker = now.view.workers[i];
    WorkerRates& own = rates.emplace_back(counts[worker.number]);
    const auto found = earlier.find(worker.number);
    if (found == earlier.end() || seconds <= 0) continue;
    const ViewedWorker& earlier_worker = before.view.workers[found->second];
    const auto rate_of = [&](std::uint64_t ViewedWorker::* count) {
      return static_cast<double>(worker.*count - earlier_worker.*count) / seconds;
    };
    own.messages_per_second = rate_of(&ViewedWorker::sent_messages);
    own.bytes_per_second = rate_of(&ViewedWorker::sent_bytes);
    const ThreadFacts& old = before.threads[found->second].facts;
    // Another thread has a time of its own.
    if (earlier_worker.thread != worker.thread || now.threads[i].facts.cpu < 0) continue;
    own.load = 100e-9 * static_cast<double>(now.threads[i].facts.run_ns - old.run_ns) / seconds;
    own.wakes_per_second =
        static_cast<double>(now.threads[i].facts.slice_count - old.slice_count) / seconds;
  }
  return rates;
}

std::string text_of_duration(double seconds) {
  const auto all = static_cast<std::int64_t>(seconds);
  const std::int64_t days = all / 86400;
  const std::int64_t hours = all / 3600 % 24;
  const std::string tail = fmt::format("{:02}:{:02}", all / 60 % 60, all % 60);
  if (days > 0) return fmt::format("{}-{:02}:{}", days, hours, tail);
  return hours > 0 ? fmt::format("{}:{}", hours, tail) : tail;
}

std::string headline_of(const RunningJob& job) {
  const Resources sum = resources_of(job);
  return fmt::format("job {}: {}, {}, {} of cpu time, {} resident; {}", job.pid, shape_of(job),
                     "runs for " + text_of_duration(sum.age_seconds),
                     text_of_duration(sum.cpu_seconds),
                     report::text_of_bytes(sum.resident_bytes).text(), printable(job.command));
}

std::vector<std::string> page_of(const RunningJob& job,
                                 const JobView& before,
                                 const JobView& now,
                                 const report::RowChoice& choice) {
  std::vector<std::string> lines = {headline_of(job)};
  for (const std::string& note : now.notes)
    lines.push_back("note: " + note);
  if (now.view.stage != report::ProcessView::Stage::with_ranks && now.is_empty()) {
    lines.emplace_back(now.view.stage == report::ProcessView::Stage::before_ranks
                           ? "its ranks have not started"
                           : "all its ranks have ended");
    return lines;
  }
  add_workers(lines, before, now);
  std::string table =
      report::activity_table(now.view.ranks, text_of_ranks_of(now), now.view.rank_count, choice);
  constexpr std::string_view name = "sorrel: ";
  SORREL_ASSERT(table.starts_with(name), "a table without its title");
  add_lines(lines, std::string_view(table).substr(name.size()));
  add_unexpected(lines, now);
  return lines;
}

std::optional<std::size_t> worker_heading(const std::vector<std::string>& lines) {
  const auto found = std::ranges::find_if(
      lines, [](const std::string& line) { return line.starts_with("worker   thread "); });
  if (found == lines.end()) return std::nullopt;
  return static_cast<std::size_t>(found - lines.begin());
}

std::string load_history(const std::vector<std::optional<double>>& loads,
                         std::size_t width,
                         bool has_blocks) {
  constexpr std::array<const char*, 9> blocks = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::size_t count = std::min(loads.size(), width);
  std::string text(width - count, ' ');
  for (std::size_t i = loads.size() - count; i < loads.size(); ++i) {
    const double share = std::clamp(loads[i].value_or(0) / 100, 0.0, 1.0);
    if (!loads[i]) {
      text += ' ';
    } else if (has_blocks) {
      text += blocks[static_cast<std::size_t>(std::lround(share * (blocks.size() - 1)))];
    } else {
      text += static_cast<char>('0' + std::min(9L, std::lround(share * 10)));
    }
  }
  return text;
}

Json json_of(const RunningJob& job) {
  const Resources sum = resources_of(job);
  Json processes = Json::array();
  for (const JobProcess& process : job.processes) {
    const auto [first, last] = process.ranks();
    processes.push_back({{"pid", process.facts.pid},
                         {"first_rank", first},
                         {"rank_count", last - first},
                         {"workers", process.spec.worker_count},
                         {"cpus", process.spec.cpus},
                         {"cpu_seconds", process.facts.cpu_seconds},
                         {"resident_bytes", process.facts.resident_bytes}});
  }
  return {{"job", job.pid},
          {"command", job.command},
          {"ranks", job.rank_count()},
          {"seconds", sum.age_seconds},
          {"cpu_seconds", sum.cpu_seconds},
          {"resident_bytes", sum.resident_bytes},
          {"processes", processes}};
}

Json json_of(const RunningJob& job, const JobView& before, const JobView& now) {
  Json json = json_of(job);
  json["notes"] = now.notes;
  Json workers = Json::array();
  const std::vector<WorkerRates> rates = rates_of(before, now);
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const ViewedWorker& worker = now.view.workers[i];
    workers.push_back({{"worker", worker.number},
                       {"process", now.threads[i].process},
                       {"thread", worker.thread},
                       {"cpu", now.threads[i].facts.cpu},
                       {"asleep", worker.is_asleep},
                       {"load_percent", or_null(rates[i].load)},
                       {"wakes_per_second", or_null(rates[i].wakes_per_second)},
                       {"messages_per_second", or_null(rates[i].messages_per_second)},
                       {"bytes_per_second", or_null(rates[i].bytes_per_second)},
                       {"running_ranks", rates[i].running_count},
                       {"ready_ranks", rates[i].ready_count}});
  }
  json["worker_states"] = workers;
  Json ranks = Json::array();
  for (const RankWait& wait : now.view.ranks.waits())
    ranks.push_back(json_of(wait, now));
  for (const report::RankMemory& memory : now.view.ranks.memory()) {
    const auto found =
        std::ranges::lower_bound(now.view.ranks.waits(), memory.rank, {}, &RankWait::rank);
    if (found == now.view.ranks.waits().end() || found->rank != memory.rank) continue;
    const auto index = static_cast<std::size_t>(found - now.view.ranks.waits().begin());
    ranks[index]["heap"] = {
        {"in_use", memory.in_use}, {"held", memory.held}, {"most", memory.most}};
  }
  json["rank_states"] = ranks;
  json["unknown_ranks"] = now.view.ranks.unknown_count();
  return json;
}

}  // namespace sorrel::tool
