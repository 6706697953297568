#include "runtime/live/activity_rows.hpp"

#include <string>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/text.hpp"
#include "core/scheduler.hpp"
#include "report/activity_table.hpp"
#include "runtime/live/rank_activity.hpp"
#include "symbols/source_lines.hpp"

namespace sorrel::runtime {

namespace {

std::string on_worker(const char* state, const core::Worker& worker) {
  return text_of("%s on worker %u", state, worker.id());
}

/// Completes a row except for its place, which is returned.
const void* describe_running(report::RankWait& row,
                             const ActivityDescription& description,
                             const WorkerView& view,
                             const core::Worker& worker) {
  if (!view.call.empty()) {
    row.state = on_worker(report::state_blocked, worker);
    row.call = view.call;
  } else {
    row.state = on_worker(report::state_running, worker);
    if (!description.running.is_in_call) row.call = "-";
  }
  return description.running.place;
}

const void* describe_waiting(report::RankWait& row, const ActivityDescription& description) {
  row.state = report::state_waiting;
  const program::OutsideState& outside = description.outside;
  if (outside.wait == nullptr) return description.activity.call_site;
  row.call = outside.wait->call;
  if (outside.subject.kind != nullptr) row.peer = peer_of(outside.subject).text();
  return nullptr;
}

const void* describe_state(report::RankWait& row,
                           const ActivityDescription& description,
                           const WorkerView& view,
                           const core::Worker& worker) {
  switch (description.activity.state) {
    case core::FiberState::running:
    case core::FiberState::lent:
      return describe_running(row, description, view, worker);
    case core::FiberState::ready:
      row.state = on_worker(report::state_ready, worker);
      return description.activity.call_site;
    case core::FiberState::waiting:
      return describe_waiting(row, description);
    case core::FiberState::ended:
      break;
  }
  row.state = report::state_ended;
  row.call = "-";
  return nullptr;
}

}  // namespace

report::WaitTable activity_rows(const JobView& job, const ActivityAnswers& answers) {
  std::vector<report::RankWait> rows;
  std::vector<const void*> places;
  for (const ActivityDescription& description : answers.ranks) {
    const std::uint32_t number = description.activity.worker;
    SORREL_ASSERT(number < answers.workers.size(), "worker %u of %zu", number,
                  answers.workers.size());
    const core::Worker& worker = job.scheduler().worker(number);
    report::RankWait row = description_of(description.activity);
    places.push_back(describe_state(row, description, answers.workers[number], worker));
    if (row.call.empty()) row.call.push_back('-');
    rows.push_back(std::move(row));
  }
  const std::vector<std::string> texts = symbols::source_lines(places);
  const std::size_t first_index = job.first_index();
  report::WaitTable table;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool is_python = i < answers.python.size() && !answers.python[i].is_empty();
    rows[i].place = is_python ? std::string(answers.python[i].innermost()) : texts[i];
    table.add(std::move(rows[i]));
    if (const auto memory = job.body().memory_of(first_index + i)) table.add(*memory);
  }
  return table;
}

}  // namespace sorrel::runtime
