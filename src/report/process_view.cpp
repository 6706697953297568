#include "report/process_view.hpp"

#include <algorithm>
#include <cinttypes>

#include "base/text.hpp"

namespace sorrel::report {

namespace {

/// Ends the lines of the view; those of the table of ranks follow.
constexpr std::string_view table_line = "table\n";
constexpr std::string_view cut_line = "cut\n";

}  // namespace

std::string ProcessView::text(std::size_t bytes_max) const {
  std::string text = text_of("job\t%c\t%d\n", static_cast<char>(stage), rank_count);
  for (const ViewedWorker& worker : workers) {
    text += text_of("worker\t%u\t%d\t%d\t%" PRIu64 "\t%" PRIu64 "\n", worker.number,
                    static_cast<int>(worker.thread), worker.is_asleep ? 1 : 0, worker.sent_messages,
                    worker.sent_bytes);
  }
  const std::string table = ranks.text(bytes_max / 2);
  const std::size_t reserved_bytes = table.size() + table_line.size() + cut_line.size();
  bool fits = true;
  const auto append_line = [&](const std::string& line) {
    fits = fits && text.size() + line.size() + reserved_bytes <= bytes_max;
    if (fits) text += line;
  };
  for (const auto& [rank, count] : unexpected)
    append_line(text_of("unexpected\t%d\t%u\n", rank, count));
  for (const auto& [stack, its_ranks] : stacks) {
    std::string line = "stack\t" + as_field(its_ranks);
    for (const std::string& call : stack)
      line += "\t" + as_field(call);
    append_line(line + "\n");
  }
  if (!fits || is_cut) text += cut_line;
  text += table_line;
  return text + table;
}

void ProcessView::add(std::string_view text) {
  while (!text.empty()) {
    const bool is_end = text.starts_with(table_line);
    const std::string_view line = take_field(text, '\n');
    if (is_end) break;
    add_line(line);
  }
  ranks.add(text);
  std::ranges::sort(workers, {}, &ViewedWorker::number);
}

void ProcessView::add_line(std::string_view line) {
  const std::string_view kind = take_field(line);
  if (kind == "job") {
    const std::string_view letter = take_field(line);
    if (!letter.empty()) stage = static_cast<Stage>(letter.front());
    rank_count = number_in<std::int32_t>(line).value_or(0);
  } else if (kind == "worker") {
    const auto number = number_in<std::uint32_t>(take_field(line));
    const auto thread = number_in<pid_t>(take_field(line));
    const bool is_asleep = take_field(line) == "1";
    const auto messages = number_in<std::uint64_t>(take_field(line));
    const auto bytes = number_in<std::uint64_t>(line);
    if (number && thread && messages && bytes)
      workers.push_back({*number, *thread, is_asleep, *messages, *bytes});
  } else if (kind == "unexpected") {
    const auto rank = number_in<std::int32_t>(take_field(line));
    const auto count = number_in<std::uint32_t>(line);
    if (rank && count) unexpected[*rank] = *count;
  } else if (kind == "stack") {
    const RankRuns runs = runs_in(take_field(line));
    CallStack stack;
    while (!line.empty())
      stack.emplace_back(take_field(line));
    RankRuns& all = stacks[stack];
    all.insert(all.end(), runs.begin(), runs.end());
    std::ranges::sort(all, {}, &RankRun::first);
  } else if (kind == "cut") {
    is_cut = true;
  }
}

}  // namespace sorrel::report
