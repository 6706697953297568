#include "tools/sorrel/report/analysis.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "base/check.hpp"

namespace sorrel::tool {

namespace {

/// A report names a few; the rest is small.
constexpr std::size_t rank_blame_count_max = 5;
constexpr std::size_t job_blame_count_max = 1000;
/// Waits of ranks that wait for ranks: followed so far.
constexpr int chain_max = 8;

std::int64_t sum_of(const WaitSums& sums, std::int64_t WaitSum::* member) {
  return std::accumulate(sums.begin(), sums.end(), std::int64_t{0},
                         [&](std::int64_t sum, const WaitSum& wait) { return sum + wait.*member; });
}

struct BlameKey {
  RootKind kind;
  std::uint32_t rank;
  std::uint32_t site;

  friend bool operator==(const BlameKey&, const BlameKey&) = default;
};

struct BlameHash {
  std::size_t operator()(const BlameKey& key) const {
    return (std::uint64_t{key.rank} << 32 | key.site) * 0x9e3779b97f4a7c15 +
           static_cast<std::size_t>(key.kind);
  }
};

using BlameSums = std::unordered_map<BlameKey, std::int64_t, BlameHash>;

std::vector<Blame> largest_of(const BlameSums& sums, std::size_t count_max) {
  std::vector<Blame> blames;
  for (const auto& [key, ns] : sums)
    blames.push_back({.kind = key.kind, .rank = key.rank, .site = key.site, .ns = ns});
  // A total order: the map has none.
  std::ranges::sort(blames, [](const Blame& a, const Blame& b) {
    return std::tuple(b.ns, a.rank, a.site, a.kind) < std::tuple(a.ns, b.rank, b.site, b.kind);
  });
  blames.resize(std::min(blames.size(), count_max));
  return blames;
}

/// Follows waits to what lies behind them.
class RootSearch {
 public:
  RootSearch(const JobTrace& job, const WaitCauses& causes) : job_(job), causes_(causes) {}

  void add_wait(std::uint32_t rank, std::uint32_t wait, BlameSums& sums) {
    sums_ = &sums;
    for (const WaitPart& part : causes_.parts_of(rank, wait))
      add_part(rank, wait, part, part.time, 0);
  }

 private:
  void add(RootKind kind, std::uint32_t rank, std::uint32_t site, std::int64_t ns) {
    if (ns > 0) (*sums_)[{kind, rank, site}] += ns;
  }

  [[nodiscard]] std::uint32_t site_of(std::uint32_t rank, std::uint32_t call) const {
    return call < job_.ranks[rank].calls.size() ? job_.ranks[rank].calls[call].site : no_index;
  }

  /// The part of a wait within `time`.
  void add_part(
      std::uint32_t rank, std::uint32_t wait, const WaitPart& part, Interval time, int depth) {
    SORREL_ASSERT(depth <= chain_max, "%d waits behind a wait", depth);
    const std::uint32_t site = site_of(rank, job_.ranks[rank].waits[wait].call);
    switch (part.kind) {
      case WaitKind::in_flight:
        return add(RootKind::in_flight, rank, site, time.ns());
      case WaitKind::ready:
        return add(RootKind::ready, rank, site, time.ns());
      case WaitKind::other:
      case WaitKind::outside:
        return add(RootKind::other, rank, site, time.ns());
      default:
        break;
    }
    const WaitCause& cause = causes_.of(rank)[wait];
    if (depth == chain_max) {
      add(RootKind::other, cause.culprit, site_of(cause.culprit, cause.culprit_call), time.ns());
    } else {
      add_doings(cause.culprit, time, depth + 1);
    }
  }

  /// What a rank did in `time`.
  void add_doings(std::uint32_t rank, Interval time, int depth) {
    const TracedRank& self = job_.ranks[rank];
    const auto first = std::ranges::upper_bound(self.calls, time.begin, {},
                                                [](const Call& call) { return call.time.end; });
    std::int64_t from = time.begin;
    auto call = first;
    for (; call != self.calls.end() && call->time.begin < time.end; ++call) {
      add(RootKind::computes, rank, call->site, call->time.begin - from);
      const std::int64_t begin = std::max(call->time.begin, time.begin);
      from = std::min(call->time.end, time.end);
      add(RootKind::in_mpi, rank, call->site, from - begin);
    }
    add(RootKind::computes, rank, call == self.calls.end() ? no_index : call->site,
        time.end - std::max(from, time.begin));
    // Waits lie in calls, or in computing if they are outside of MPI: counted again as what they
    // are.
    auto wait = std::ranges::upper_bound(self.waits, time.begin, {},
                                         [](const Wait& each) { return each.time.end; });
    for (; wait != self.waits.end() && wait->time.begin < time.end; ++wait) {
      const auto index = static_cast<std::uint32_t>(wait - self.waits.begin());
      for (const WaitPart& part : causes_.parts_of(rank, index)) {
        const Interval within{std::max(part.time.begin, time.begin),
                              std::min(part.time.end, time.end)};
        if (within.ns() <= 0) continue;
        take_back(rank, *wait, within.ns());
        add_part(rank, index, part, within, depth);
      }
    }
  }

  /// The time was not of the call, nor computing.
  void take_back(std::uint32_t rank, const Wait& wait, std::int64_t ns) {
    const TracedRank& self = job_.ranks[rank];
    if (wait.call != no_index) {
      (*sums_)[{RootKind::in_mpi, rank, self.calls[wait.call].site}] -= ns;
      return;
    }
    const auto next = std::ranges::lower_bound(self.calls, wait.time.end, {},
                                               [](const Call& call) { return call.time.begin; });
    (*sums_)[{RootKind::computes, rank, next == self.calls.end() ? no_index : next->site}] -= ns;
  }

  const JobTrace& job_;
  const WaitCauses& causes_;
  BlameSums* sums_ = nullptr;
};

class Sums {
 public:
  Sums(const JobTrace& job, const WaitCauses& causes) : job_(job), causes_(causes) {}

  Analysis find() {
    sums_.sites.resize(job_.sites.size());
    for (const TracedWorker& worker : job_.workers)
      sums_.workers.push_back({.away_ns = worker.away_ns});
    BlameSums all;
    for (std::uint32_t r = 0; r < job_.ranks.size(); ++r)
      add_rank(r, all);
    finish_workers();
    sums_.blames = largest_of(all, job_blame_count_max);
    add_matrix();
    add_path();
    return std::move(sums_);
  }

 private:
  /// A worker is idle whenever it has run no rank.
  void finish_workers() {
    for (std::size_t w = 0; w < job_.workers.size(); ++w) {
      WorkerTimes& times = sums_.workers[w];
      for (const WorkSpan& help : job_.workers[w].help)
        times.compute_ns += help.time.ns();
      times.idle_ns = std::max<std::int64_t>(job_.end_ns - times.compute_ns - times.mpi_ns, 0);
    }
    for (const TracedRank& rank : job_.ranks) {
      if (rank.runs.empty()) continue;
      SORREL_ASSERT(rank.home < sums_.workers.size(), "worker %u of %zu", rank.home,
                    sums_.workers.size());
      ++sums_.workers[rank.home].rank_count;
    }
    for (const WorkerTimes& worker : sums_.workers) {
      sums_.all_workers.compute_ns += worker.compute_ns;
      sums_.all_workers.mpi_ns += worker.mpi_ns;
      sums_.all_workers.idle_ns += worker.idle_ns;
      sums_.all_workers.away_ns += worker.away_ns;
    }
  }

  /// A part of a run in which the rank neither begins nor ends a wait or a call.
  struct RunPart {
    std::int64_t end;
    bool is_waiting;
    bool is_in_call;
  };

  /// Goes through the waits and calls of a rank as its runs go on.
  class RunParts {
   public:
    explicit RunParts(const TracedRank& rank)
        : rank_(rank), wait_(rank.waits.begin()), call_(rank.calls.begin()) {}

    /// The part that begins at `at`, which is later than at the call before, and ends at `end` or
    /// earlier.
    RunPart next(std::int64_t at, std::int64_t end) {
      while (wait_ != rank_.waits.end() && wait_->time.end <= at)
        ++wait_;
      while (call_ != rank_.calls.end() && call_->time.end <= at)
        ++call_;
      RunPart part{.end = end, .is_waiting = false, .is_in_call = false};
      if (wait_ != rank_.waits.end()) part.is_waiting = cut(part, wait_->time, at);
      if (call_ != rank_.calls.end()) part.is_in_call = cut(part, call_->time, at);
      return part;
    }

   private:
    /// Ends the part where `time` begins or ends; returns whether it lies in it.
    static bool cut(RunPart& part, Interval time, std::int64_t at) {
      const bool is_inside = time.begin <= at;
      part.end = std::min(part.end, is_inside ? time.end : time.begin);
      return is_inside;
    }

    const TracedRank& rank_;
    std::vector<Wait>::const_iterator wait_;
    std::vector<Call>::const_iterator call_;
  };

  /// Divides the runs of a rank: what lies in waits is work of its nonblocking operations, the rest
  /// its own.
  void add_runs(const TracedRank& rank, RankTimes& times) {
    RunParts parts(rank);
    std::int64_t end = times.life.begin;
    for (const RunPlace& place : rank.runs) {
      const Interval run = job_.run_at(place).time;
      add_ready(rank, {end, run.begin}, place.worker, times);
      WorkerTimes& worker = sums_.workers[place.worker];
      for (std::int64_t at = run.begin; at < run.end;) {
        const RunPart part = parts.next(at, run.end);
        const std::int64_t ns = part.end - at;
        SORREL_ASSERT(ns > 0 && part.end <= run.end, "a part of %lld ns of a run",
                      static_cast<long long>(ns));
        (part.is_waiting || part.is_in_call ? worker.mpi_ns : worker.compute_ns) += ns;
        if (!part.is_waiting) (part.is_in_call ? times.mpi_ns : times.compute_ns) += ns;
        at = part.end;
      }
      end = std::max(end, run.end);
    }
  }

  /// What lies between two runs of a rank and is no wait.
  void add_ready(const TracedRank& rank, Interval gap, std::uint32_t worker, RankTimes& times) {
    const auto add = [&](std::int64_t until) {
      const Interval ready{gap.begin, until};
      if (ready.ns() > 0) {
        const WaitSum sum{.ns = ready.ns(), .exposed_ns = causes_.idle_within(worker, ready)};
        add_to(times.waits, WaitKind::ready, sum);
        add_to(sums_.waits, WaitKind::ready, sum);
      }
    };
    auto wait = std::ranges::upper_bound(rank.waits, gap.begin, {},
                                         [](const Wait& each) { return each.time.end; });
    for (; wait != rank.waits.end() && wait->time.begin < gap.end; ++wait) {
      add(wait->time.begin);
      gap.begin = std::max(gap.begin, wait->time.end);
    }
    add(gap.end);
  }

  void add_rank(std::uint32_t index, BlameSums& all) {
    const TracedRank& rank = job_.ranks[index];
    SORREL_ASSERT(sums_.ranks.size() == index, "rank %u after %zu", index, sums_.ranks.size());
    RankTimes& times = sums_.ranks.emplace_back();
    times.life = job_.life_of(rank);
    BlameSums blames;
    add_runs(rank, times);
    const std::int64_t ready_ns = times.wait_ns();
    if (ready_ns > 0) blames[{RootKind::ready, index, no_index}] = ready_ns;
    for (const Call& call : rank.calls) {
      SiteTimes& site = sums_.sites[call.site];
      ++site.count;
      site.ns += call.time.ns();
      site.range = {std::min(site.range.begin, call.time.ns()),
                    std::max(site.range.end, call.time.ns())};
    }
    RootSearch roots(job_, causes_);
    for (std::uint32_t w = 0; w < rank.waits.size(); ++w) {
      const Wait& wait = rank.waits[w];
      const std::uint32_t worker = causes_.worker_after(index, wait.time.end);
      for (const WaitPart& part : causes_.parts_of(index, w)) {
        const WaitSum sum{.ns = part.time.ns(),
                          .exposed_ns = causes_.idle_within(worker, part.time)};
        add_to(times.waits, part.kind, sum);
        add_to(sums_.waits, part.kind, sum);
        if (wait.call != no_index)
          add_to(sums_.sites[rank.calls[wait.call].site].waits, part.kind, sum);
      }
      roots.add_wait(index, w, blames);
    }
    sums_.compute_ns += times.compute_ns;
    sums_.mpi_ns += times.mpi_ns;
    for (const auto& [key, ns] : blames) {
      // Which rank was ready, or got the message, says nothing about the job.
      const bool is_ready = key.kind == RootKind::ready;
      const bool is_of_rank = !is_ready && key.kind != RootKind::in_flight;
      all[{key.kind, is_of_rank ? key.rank : no_index, is_ready ? no_index : key.site}] += ns;
    }
    times.blames = largest_of(blames, rank_blame_count_max);
  }

  static void add_to(WaitSums& sums, WaitKind kind, const WaitSum& more) {
    WaitSum& sum = sums[static_cast<std::size_t>(kind)];
    sum.ns += more.ns;
    sum.exposed_ns += more.exposed_ns;
  }

  void add_matrix() {
    std::unordered_map<std::uint64_t, MatrixCell> cells;
    for (const Message& message : job_.messages) {
      if (message.destination == no_index) continue;
      MatrixCell& cell = cells[std::uint64_t{message.source} << 32 | message.destination];
      cell.source = message.source;
      cell.destination = message.destination;
      ++cell.count;
      cell.bytes += message.bytes;
    }
    for (const auto& [key, cell] : cells)
      sums_.matrix.push_back(cell);
    std::ranges::sort(sums_.matrix, {}, [](const MatrixCell& cell) {
      return std::pair(cell.source, cell.destination);
    });
  }

  void add_path() {
    sums_.path = find_critical_path(job_, causes_);
    std::map<std::tuple<PathKind, std::uint32_t, std::uint32_t>, PathShare> shares;
    for (const PathStep& step : sums_.path) {
      PathShare& share = shares[{step.kind, step.rank, step.site}];
      share.step = step;
      share.ns += step.time.ns();
      ++share.count;
    }
    for (const auto& [key, share] : shares)
      sums_.path_shares.push_back(share);
    std::ranges::stable_sort(sums_.path_shares, std::ranges::greater(), &PathShare::ns);
  }

  const JobTrace& job_;
  const WaitCauses& causes_;
  Analysis sums_;
};

}  // namespace

std::int64_t RankTimes::wait_ns() const {
  return sum_of(waits, &WaitSum::ns);
}

std::int64_t RankTimes::exposed_ns() const {
  return sum_of(waits, &WaitSum::exposed_ns);
}

std::int64_t Analysis::wait_ns() const {
  return sum_of(waits, &WaitSum::ns);
}

std::int64_t Analysis::exposed_ns() const {
  return sum_of(waits, &WaitSum::exposed_ns);
}

Analysis analyze(const JobTrace& job, const WaitCauses& causes) {
  return Sums(job, causes).find();
}

}  // namespace sorrel::tool
