#include "runtime/live/view_text.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "core/scheduler.hpp"
#include "report/activity_table.hpp"
#include "runtime/live/activity_line.hpp"
#include "runtime/live/activity_rows.hpp"
#include "runtime/python/lines.hpp"
#include "symbols/source_lines.hpp"

namespace sorrel::runtime {

namespace {

/// Different places of all stacks that are looked up in the program's files.
constexpr std::size_t place_count_max = 1024;

/// The calls of a stack before those of the interpreter, which stand for functions in Python.
std::span<const void* const> calls_from_python(std::span<const void* const> calls,
                                               std::size_t index) {
  const auto end = std::ranges::find_if(
      calls, [index](const void* address) { return is_code_of_python(index, address); });
  return {calls.begin(), end};
}

/// The calls of a rank, given the texts of its stack's addresses.
report::CallStack calls_of(const report::RankWait& wait, std::span<const std::string> places) {
  report::CallStack calls;
  if (wait.call != "-") calls.push_back(wait.call);
  calls.insert(calls.end(), places.begin(), places.end());
  if (!places.empty()) return calls;
  if (wait.place != "-") calls.push_back(wait.place);
  if (!wait.state.starts_with(report::state_ended)) calls.emplace_back(report::unknown_calls);
  return calls;
}

void add_stacks(report::ProcessView& view, const JobView& job, const ActivityAnswers& answers) {
  std::vector<const void*> addresses;
  for (const RankStack& stack : answers.stacks)
    addresses.insert(addresses.end(), stack.addresses().begin(), stack.addresses().end());
  const std::vector<std::string> texts = symbols::source_lines(addresses, place_count_max);
  std::span<const std::string> left(texts);
  const std::size_t first = job.first_index();
  for (std::size_t i = 0; i < answers.stacks.size(); ++i) {
    const auto calls = answers.stacks[i].addresses();
    SORREL_ASSERT(calls.size() <= left.size() && i < view.ranks.waits().size(),
                  "%zu calls of rank %zu, %zu texts", calls.size(), i, left.size());
    const auto own = left.first(calls.size());
    left = left.subspan(calls.size());
    const report::RankWait& wait = view.ranks.waits()[i];
    std::vector<std::string> places(own.begin(), own.end());
    if (i < answers.python.size() && !answers.python[i].is_empty()) {
      places.resize(calls_from_python(calls, first + i).size());
      answers.python[i].for_each([&](std::string_view function) { places.emplace_back(function); });
    }
    append(view.stacks[calls_of(wait, places)], wait.rank);
  }
}

/// In a signal handler.
void add_stack(ShortViewText& text,
               const ActivityLine& line,
               const RankStack& stack,
               std::size_t index,
               const PythonStack& python) {
  std::string_view fields = line.text();
  report::take_field(fields);
  text.add("stack\t").add(report::take_field(fields));
  report::take_field(fields);
  if (const std::string_view call = report::take_field(fields); call != "-")
    text.add("\t").add(call);
  auto left = python.is_empty() ? stack.addresses() : calls_from_python(stack.addresses(), index);
  if (left.empty() && python.is_empty()) text.add("\t").add(report::unknown_calls);
  while (!left.empty()) {
    std::array<symbols::SourceText, symbols::source_text_count_max> places;
    const auto part = left.first(std::min(left.size(), places.size()));
    symbols::describe_source(part, places);
    for (std::size_t i = 0; i < part.size(); ++i)
      text.add("\t").add(places[i][0] == '\0' ? "-" : places[i].data());
    left = left.subspan(part.size());
  }
  python.for_each([&](std::string_view function) { text.add("\t").add(function); });
  text.add("\n");
}

}  // namespace

std::string view_text(const JobView& job, const ActivityAnswers& answers, std::size_t bytes_max) {
  report::ProcessView view;
  view.rank_count = job.rank_count();
  core::Scheduler& scheduler = job.scheduler();
  for (std::uint32_t i = 0; i < scheduler.worker_count(); ++i) {
    const core::Worker& worker = scheduler.worker(i);
    report::ViewedWorker viewed{.number = worker.id(),
                                .thread = worker.thread_number(),
                                .is_asleep = worker.seems_asleep()};
    for (const auto& world : job.worlds()) {
      if (!world->has_worker(worker)) continue;
      viewed.sent_messages += world->state_of(worker).sent.messages();
      viewed.sent_bytes += world->state_of(worker).sent.bytes();
    }
    view.workers.push_back(viewed);
  }
  for (const ActivityDescription& description : answers.ranks) {
    if (description.unexpected_count > 0)
      view.unexpected[description.activity.rank] = description.unexpected_count;
  }
  view.ranks = activity_rows(job, answers);
  add_stacks(view, job, answers);
  return view.text(bytes_max);
}

ShortViewText view_text_of_rank(const JobView& job,
                                const mpi::RankState& rank,
                                const ActivityDescription& description,
                                const std::optional<report::RankMemory>& memory,
                                const RankStack* stack,
                                const PythonStack& python) {
  const core::Worker& worker = *rank.worker;
  ShortViewText text;
  text.add("job\tr\t").add(job.rank_count()).add("\nworker\t").add(worker.id());
  text.add("\t").add(worker.thread_number()).add(worker.seems_asleep() ? "\t1\t" : "\t0\t");
  const mpi::SentCount& sent = rank.worker_state->sent;
  text.add(sent.messages()).add("\t").add(sent.bytes()).add("\n");
  if (description.unexpected_count > 0) {
    text.add("unexpected\t").add(rank.world_rank).add("\t").add(description.unexpected_count);
    text.add("\n");
  }
  const ActivityLine line =
      activity_line(rank, description, memory, python.innermost(), ActivityReader::launcher);
  if (stack != nullptr) add_stack(text, line, *stack, job.index_of(rank), python);
  return text.add("table\n").add(line.text());
}

ShortViewText view_text_without_ranks(report::ProcessView::Stage stage) {
  ShortViewText text;
  return text.add("job\t")
      .add(std::string_view(reinterpret_cast<const char*>(&stage), 1))
      .add("\t0\ntable\n");
}

}  // namespace sorrel::runtime
