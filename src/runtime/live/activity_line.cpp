#include "runtime/live/activity_line.hpp"

#include <array>

#include "mpi.h"
#include "report/activity_table.hpp"
#include "report/memory_rows.hpp"
#include "runtime/live/rank_activity.hpp"
#include "symbols/source_lines.hpp"

namespace sorrel::runtime {

namespace {

/// The parts of a line about the only rank of a process.
struct LineParts {
  const RankActivity& activity;
  /// What it waits for outside of MPI; no kind: nothing that has a name.
  const program::OutsideSubject& subject;
  std::string_view state;
  std::string_view call;   ///< Empty: none.
  std::string_view place;  ///< Empty: not known.
  const std::optional<report::RankMemory>& memory;
};

/// For the launcher, as WaitTable::text().
void add_fields(ActivityLine& row, const mpi::RankState& rank, const LineParts& parts) {
  const RankActivity& activity = parts.activity;
  row.add("rank\t").add(rank.world_rank).add("-").add(rank.world_rank).add(",\t");
  row.add(parts.state).add("\t").add(parts.call.empty() ? "-" : parts.call).add("\t");
  if (parts.subject.kind != nullptr) {
    row.add(peer_of(parts.subject).text());
  } else {
    row.add(peer_of(activity).text());
  }
  row.add("\t").add(tag_of(activity).text()).add("\t");
  row.add(activity.comm.is_empty() ? "-" : activity.comm.text()).add("\t");
  row.add(parts.place.empty() ? "-" : parts.place).add("\t");
  activity.awaited ? row.add(*activity.awaited) : row.add("-");
  row.add("\t");
  activity.collective ? row.add(*activity.collective) : row.add("-");
  row.add("\n");
  if (!parts.memory) return;
  row.add("memory\t").add(rank.world_rank).add("\t").add(parts.memory->in_use).add("\t");
  row.add(parts.memory->held).add("\t").add(parts.memory->most).add("\n");
}

/// For the user.
void add_sentence(ActivityLine& row, const mpi::RankState& rank, const LineParts& parts) {
  const RankActivity& activity = parts.activity;
  row.add("sorrel: rank ").add(rank.world_rank).add(" ").add(parts.state);
  if (!parts.call.empty()) row.add(" in ").add(parts.call);
  if (parts.subject.kind != nullptr) row.add(" for ").add(peer_of(parts.subject).text());
  if (!activity.operation.is_empty()) row.add(" for");
  if (activity.peer != MPI_UNDEFINED || !activity.operation.is_empty())
    row.add(" ").add(peer_of(activity).text());
  if (activity.tag != MPI_UNDEFINED) row.add(", tag ").add(tag_of(activity).text());
  if (!activity.comm.is_empty()) row.add(", ").add(activity.comm.text());
  if (!parts.place.empty()) row.add(", at ").add(parts.place);
  if (parts.memory) {
    row.add(", heap memory ")
        .add(report::text_of_bytes(parts.memory->in_use).text())
        .add(" in use, ");
    row.add(report::text_of_bytes(parts.memory->held).text()).add(" held, ");
    row.add(report::text_of_bytes(parts.memory->most).text()).add(" at most");
  }
  row.add("\n");
}

/// "read" of "__GI___libc_read (libc.so.6+0x1234)".
std::string_view plain_name(std::string_view function) {
  function = function.substr(0, function.find(' '));
  for (const std::string_view prefix : {"__GI_", "__", "libc_"}) {
    if (function.starts_with(prefix)) function.remove_prefix(prefix.size());
  }
  return function;
}

}  // namespace

ActivityLine activity_line(const mpi::RankState& rank,
                           const ActivityDescription& description,
                           const std::optional<report::RankMemory>& memory,
                           std::string_view place_in_python,
                           ActivityReader reader) {
  const bool is_running = description.activity.state == core::FiberState::running;
  const std::array<const void*, 2> addresses = {
      is_running ? description.running.place : description.activity.call_site,
      description.running.c_function};
  std::array<symbols::SourceText, 2> texts{};
  symbols::describe_source(addresses, texts);
  LineParts parts{.activity = description.activity,
                  .subject = description.outside.subject,
                  .state = is_running ? report::state_running : report::state_waiting,
                  .call = description.activity.call,
                  .place = place_in_python.empty() ? texts[0].data() : place_in_python,
                  .memory = memory};
  if (description.outside.wait != nullptr) {
    parts.call = description.outside.wait->call;
  } else if (is_running && !description.running.is_in_call) {
    parts.call = plain_name(texts[1].data());
  }
  ActivityLine row;
  reader == ActivityReader::launcher ? add_fields(row, rank, parts)
                                     : add_sentence(row, rank, parts);
  return row;
}

}  // namespace sorrel::runtime
