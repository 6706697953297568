#include "tools/sorrel/report/critical_path.hpp"

#include <algorithm>

namespace sorrel::tool {

namespace {

class PathSearch {
 public:
  PathSearch(const JobTrace& job, const WaitCauses& causes) : job_(job), causes_(causes) {}

  std::vector<PathStep> find() {
    start();
    while (rank_ != no_index && ns_ > 0)
      step();
    std::ranges::reverse(steps_);
    return std::move(steps_);
  }

 private:
  /// At the end of the rank that ends last.
  void start() {
    for (std::uint32_t r = 0; r < job_.ranks.size(); ++r) {
      if (job_.ranks[r].runs.empty()) continue;
      const std::int64_t end = job_.life_of(job_.ranks[r]).end;
      if (rank_ == no_index || end > ns_) {
        rank_ = r;
        ns_ = end;
      }
    }
  }

  /// `rank_` is what the job needs at `ns_`: goes to an earlier moment.
  void step() {
    const TracedRank& rank = job_.ranks[rank_];
    const auto after = std::ranges::lower_bound(
        rank.runs, ns_, {}, [&](const RunPlace& place) { return job_.run_at(place).time.begin; });
    if (after == rank.runs.begin()) {
      add(PathKind::waits, no_index, {0, ns_});
      return;
    }
    const RunPlace place = *std::prev(after);
    const Interval run = job_.run_at(place).time;
    // It has waited since, and was ended by something that the trace does not have.
    if (run.end < ns_) {
      add(PathKind::waits, site_at(run.end), {run.end, ns_});
      return;
    }
    add_run({run.begin, ns_});
    if (!continue_before(place)) continue_at_cause(run.begin);
  }

  /// With the rank that had the worker until this one ran. False: the worker was idle.
  bool continue_before(const RunPlace& place) {
    const std::vector<Run>& runs = job_.workers[place.worker].runs;
    std::uint32_t index = place.run;
    while (index > 0 && runs[index - 1].time.ns() == 0)
      --index;
    if (index == 0) return false;
    const Run& before = runs[index - 1];
    if (causes_.idle_within(place.worker, {before.time.end, ns_}) > 0) return false;
    add(PathKind::scheduling, no_index, {before.time.end, ns_});
    rank_ = before.rank;
    return true;
  }

  /// With what ended the wait before `run_begin`.
  void continue_at_cause(std::int64_t run_begin) {
    const TracedRank& rank = job_.ranks[rank_];
    // The wait ends where the rank runs again.
    const auto after = std::ranges::lower_bound(rank.waits, run_begin, {},
                                                [](const Wait& wait) { return wait.time.end; });
    if (after == rank.waits.end() || after->time.begin >= run_begin) {
      add(PathKind::waits, no_index, {0, run_begin});
      return;
    }
    const auto index = static_cast<std::uint32_t>(after - rank.waits.begin());
    const WaitCause& cause = causes_.of(rank_)[index];
    const std::uint32_t site = after->call == no_index ? no_index : rank.calls[after->call].site;
    if (cause.culprit == no_index || cause.culprit_ns >= run_begin) {
      add(PathKind::waits, site, {after->time.begin, run_begin});
      return;
    }
    add(PathKind::in_flight, site, {cause.culprit_ns, run_begin});
    rank_ = cause.culprit;
  }

  [[nodiscard]] std::uint32_t site_at(std::int64_t ns) const {
    const TracedRank& rank = job_.ranks[rank_];
    const std::uint32_t call = call_at(rank, ns);
    return call == no_index ? no_index : rank.calls[call].site;
  }

  /// A run, divided into calls and the computing before each.
  void add_run(Interval time) {
    const TracedRank& rank = job_.ranks[rank_];
    auto after = std::ranges::lower_bound(rank.calls, time.end, {},
                                          [](const Call& call) { return call.time.begin; });
    while (ns_ > time.begin) {
      const bool is_last = after == rank.calls.end();
      if (after == rank.calls.begin()) {
        add(PathKind::computes, is_last ? no_index : after->site, time);
        return;
      }
      const Call& call = *std::prev(after);
      if (call.time.end < ns_) {
        add(PathKind::computes, is_last ? no_index : after->site,
            {std::max(call.time.end, time.begin), ns_});
      }
      if (ns_ > time.begin)
        add(PathKind::in_mpi, call.site, {std::max(call.time.begin, time.begin), ns_});
      --after;
    }
  }

  /// Goes back to the begin of `time`, whose end is `ns_`.
  void add(PathKind kind, std::uint32_t site, Interval time) {
    time.end = ns_;
    time.begin = std::min(time.begin, time.end);
    if (time.begin < time.end)
      steps_.push_back({.kind = kind, .rank = rank_, .site = site, .time = time});
    ns_ = time.begin;
  }

  const JobTrace& job_;
  const WaitCauses& causes_;
  std::vector<PathStep> steps_;
  std::uint32_t rank_ = no_index;
  std::int64_t ns_ = 0;
};

}  // namespace

std::vector<PathStep> find_critical_path(const JobTrace& job, const WaitCauses& causes) {
  return PathSearch(job, causes).find();
}

}  // namespace sorrel::tool
