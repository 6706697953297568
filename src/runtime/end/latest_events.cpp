#include "runtime/end/latest_events.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <unistd.h>

#include "base/check.hpp"
#include "base/fixed_text.hpp"
#include "mpi/match/rank_state.hpp"
#include "symbols/source_lines.hpp"
#include "trace/ring.hpp"

namespace sorrel::runtime {

namespace {

using trace::Kind;
using trace::Record;

constexpr std::size_t line_count_max = symbols::source_text_count_max;
constexpr std::size_t lines_per_worker_max = 4;

using Line = FixedText<500>;

struct Event {
  std::uint32_t worker = 0;
  std::int32_t rank = 0;
  Record record;
};

/// The events of a report, in memory of its own.
class Events {
 public:
  explicit Events(const JobView& job) : job_(job) {
    const std::uint32_t workers = job.scheduler().worker_count();
    const std::size_t share = line_count_max / std::max<std::size_t>(workers, 1);
    const std::size_t lines = std::clamp<std::size_t>(share, 1, lines_per_worker_max);
    for (std::uint32_t i = 0; i < workers && count_ < line_count_max; ++i)
      add_worker(i, lines);
  }

  [[nodiscard]] std::span<const Event> all() const { return {events_.data(), count_}; }

 private:
  void add_worker(std::uint32_t worker, std::size_t lines) {
    // On the stack of a signal handler.
    std::array<Record, 32> memory;
    const std::span<const Record> latest =
        job_.scheduler().worker(worker).events().copy_latest(memory);
    SORREL_ASSERT(latest.size() <= memory.size(), "%zu events", latest.size());
    // Events of the worker's own flow of control are left out.
    std::size_t first = latest.size();
    for (std::size_t found = 0; first > 0 && found < lines; --first)
      found += job_.rank_at(latest[first - 1].subject) ? 1 : 0;
    for (const Record& record : latest.subspan(first)) {
      const auto rank = job_.rank_at(record.subject);
      if (!rank || count_ == line_count_max) continue;
      events_[count_++] = {.worker = worker, .rank = *rank, .record = record};
    }
  }

  const JobView& job_;
  std::array<Event, line_count_max> events_;
  std::size_t count_ = 0;
};

std::string_view call_of(const Record& record) {
  const auto* call = reinterpret_cast<const char*>(record.first);
  SORREL_ASSERT(call != nullptr, "an event of a call without its name");
  return *call == '\0' ? std::string_view("a nonblocking operation") : call;
}

void add_event(Line& line, const Event& event, std::string_view place) {
  const Kind kind = event.record.kind();
  line.add("rank ").add(event.rank);
  if (kind == Kind::end || kind == Kind::end_then_idle) {
    line.add(" has ended");
  } else {
    line.add(kind == Kind::wake ? " continues " : " waits ").add("in ");
    line.add(call_of(event.record));
    if (!place.empty()) line.add(", ").add(place);
  }
  if (kind == Kind::wait_then_idle || kind == Kind::end_then_idle)
    line.add("; no other rank of the worker is ready");
}

void write_line(const Line& line) {
  (void)!write(STDERR_FILENO, line.c_str(), line.text().size());
}

}  // namespace

void write_latest_events(const JobView& job) {
  const Events events(job);
  if (events.all().empty()) return;
  std::array<const void*, line_count_max> sites{};
  std::ranges::transform(events.all(), sites.begin(), [](const Event& event) {
    return reinterpret_cast<const void*>(event.record.second);
  });
  std::array<symbols::SourceText, line_count_max> places{};
  symbols::describe_source({sites.data(), events.all().size()}, places);
  write_line(Line().add("latest events:\n"));
  for (std::size_t i = 0; i < events.all().size(); ++i) {
    const Event& event = events.all()[i];
    Line line;
    line.add("  worker ").add(event.worker).add(": ");
    add_event(line, event, places[i].data());
    line.add("\n");
    write_line(line);
  }
}

}  // namespace sorrel::runtime
