#include "tools/sorrel/report/advice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/core.h>
#include <utility>

#include "base/check.hpp"
#include "tools/sorrel/common/percents.hpp"
#include "tools/sorrel/report/split_program.hpp"

namespace sorrel::tool {

namespace {

/// What is not worth a line.
constexpr double gain_min = 0.03;
/// A replay without any change whose time differs by more does not explain the job.
constexpr double replay_error_max = 0.2;
constexpr std::array<std::uint32_t, 4> rank_factors = {2, 4, 8, 16};
/// A replay of so many steps takes about five seconds.
constexpr std::uint64_t replay_step_count_max = 20'000'000;
constexpr std::size_t rank_count_max = std::size_t{1} << 20;
/// Messages of which the size does not matter for their time.
constexpr double small_bytes = 256;
constexpr double message_rate_min = 1e5;

double share(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string percent(double part) {
  return fmt::format("{:.0f} %", 100 * part);
}

std::string time_text(std::int64_t ns) {
  const auto value = static_cast<double>(ns);
  if (value < 1e6) return fmt::format("{:.3g} us", value / 1e3);
  if (value < 1e9) return fmt::format("{:.3g} ms", value / 1e6);
  return fmt::format("{:.4g} s", value / 1e9);
}

class OutlookMaker {
 public:
  OutlookMaker(const JobTrace& job, const WaitCauses& causes, const Analysis& analysis)
      : job_(job), analysis_(analysis), program_(make_replay_program(job, causes)) {
    SORREL_ASSERT(
        analysis.ranks.size() == job.ranks.size() && analysis.workers.size() == job.workers.size(),
        "the analysis of %zu ranks on %zu workers is another job's", analysis.ranks.size(),
        analysis.workers.size());
  }

  Outlook make(const OutlookRequest& request) {
    if (job_.use.are_taken()) {
      outlook_.not_predicted.push_back(job_.use.taken_text());
      return std::move(outlook_);
    }
    predict(request);
    advise_on_workers();
    advise_on_balance();
    advise_on_rank_count();
    advise_on_late_rank();
    advise_on_small_messages();
    advise_on_path();
    return std::move(outlook_);
  }

 private:
  // ---- replays -------------------------------------------------------------------------------

  void predict(const OutlookRequest& request) {
    if (program_.step_count > replay_step_count_max) {
      refuse(fmt::format("the trace has {} steps; at most {} are replayed", program_.step_count,
                         replay_step_count_max));
      return;
    }
    const auto base = replay(program_, {});
    if (!base || *base <= 0) {
      refuse("the trace has not all that ranks wait for");
      return;
    }
    outlook_.replayed_ns = *base;
    if (std::abs(share(*base, job_.end_ns) - 1) > replay_error_max) {
      refuse(fmt::format("a replay of the job takes {}, and the job took {}", time_text(*base),
                         time_text(job_.end_ns)));
      return;
    }
    if (job_.workers.size() > 1) {
      add({.what = "--balance steal", .balance = ReplayBalance::steal}, program_);
      add({.what = "--balance measured", .balance = ReplayBalance::measured}, program_);
    }
    add_rank_factors(request);
    if (!program_.latencies.has(Distance::other_node)) {
      if (request.latency_ns) refuse("--latency: the trace has no messages between processes");
      return;
    }
    add({.what = "no latency between processes"}, program_, 0);
    if (request.latency_ns) {
      add({.what = fmt::format("latency {} between processes", time_text(*request.latency_ns))},
          program_, request.latency_ns);
    }
  }

  void refuse(std::string why) { outlook_.not_predicted.push_back(std::move(why)); }

  void add_rank_factors(const OutlookRequest& request) {
    std::vector<std::uint32_t> factors(rank_factors.begin(), rank_factors.end());
    if (request.rank_factor && std::ranges::find(factors, *request.rank_factor) == factors.end())
      factors.push_back(*request.rank_factor);
    // Where the time of messages matters, so does which of them more ranks would exchange.
    const auto without_flight = replay(program_, {.has_flight = false});
    const SplitShape shape =
        without_flight && share(*without_flight, outlook_.replayed_ns) > 1 - gain_min
            ? SplitShape::apart
            : SplitShape::rows;
    for (const std::uint32_t factor : factors) {
      const std::size_t count = job_.ranks.size() * factor;
      if (program_.step_count * factor > replay_step_count_max || count > rank_count_max) continue;
      const Result<ReplayProgram> split = split_program(program_, factor, shape);
      const bool is_added =
          split.has_value() &&
          add({.what = fmt::format("-n {}", count), .rank_factor = factor}, split.value());
      if (is_added) continue;
      refuse(fmt::format(
          "other numbers of ranks: messages in flight matter here, and {}; a trace with other "
          "numbers tells more",
          split.has_value() ? "ranks differ in what they exchange" : split.error()));
      return;
    }
  }

  /// The trace's own time, changed as the replay has changed. False: ranks would wait for ever.
  bool add(Prediction prediction,
           const ReplayProgram& program,
           std::optional<std::int64_t> latency_ns = std::nullopt) {
    using enum Latencies::Quantile;
    SORREL_ASSERT(outlook_.replayed_ns > 0, "a replay is compared with %lld ns",
                  static_cast<long long>(outlook_.replayed_ns));
    const auto time_of = [&](Latencies::Quantile quantile) -> std::int64_t {
      const auto ns = replay(
          program, {.balance = prediction.balance, .latency_ns = latency_ns, .quantile = quantile});
      return ns ? static_cast<std::int64_t>(share(*ns, outlook_.replayed_ns) *
                                            static_cast<double>(job_.end_ns))
                : -1;
    };
    prediction.ns = time_of(median);
    if (prediction.ns < 0) return false;
    const auto [least, most] = std::minmax({time_of(lower), prediction.ns, time_of(upper)});
    SORREL_ASSERT(least <= prediction.ns && prediction.ns <= most, "a median outside of its range");
    prediction.range = {least, most};
    outlook_.predictions.push_back(std::move(prediction));
    return true;
  }

  [[nodiscard]] double gain_of(const Prediction& prediction) const {
    SORREL_ASSERT(prediction.ns >= 0, "a job without an end");
    return 1 - share(prediction.ns, job_.end_ns);
  }

  /// A gain with its range.
  [[nodiscard]] std::string gain_text(const Prediction& prediction) const {
    return fmt::format("{} ({:.0f} to {:.0f} %)", percent(gain_of(prediction)),
                       100 * (1 - share(prediction.range.end, job_.end_ns)),
                       100 * (1 - share(prediction.range.begin, job_.end_ns)));
  }

  // ---- advice ----------------------------------------------------------------------------------

  void advise(std::string text, std::string evidence) {
    outlook_.advice.push_back({.text = std::move(text), .evidence = std::move(evidence)});
  }

  [[nodiscard]] std::string place_of(std::uint32_t site) const {
    if (site == no_index) return "the end";
    SORREL_ASSERT(site < job_.sites.size(), "place %u of %zu", site, job_.sites.size());
    const CodePlace& place = job_.sites[site].place;
    return place.file.empty() ? job_.sites[site].function
                              : fmt::format("{} in {}", job_.sites[site].function, text_of(&place));
  }

  /// The share of the time of workers in which they run nothing.
  [[nodiscard]] double idle_share() const {
    const WorkerTimes& all = analysis_.all_workers;
    return share(all.idle_ns, all.compute_ns + all.mpi_ns + all.idle_ns);
  }

  void advise_on_workers() {
    if (idle_share() < 0.05) {
      const std::vector<std::int64_t> parts =
          percents_of({analysis_.all_workers.compute_ns, analysis_.all_workers.mpi_ns});
      advise(
          fmt::format("The workers are busy {} of the time: waiting is hidden. Only less work or "
                      "more cores make the job faster.",
                      percent(1 - idle_share())),
          fmt::format("Of the work, {} % is computing and {} % is in MPI.", parts[0], parts[1]));
      return;
    }
    // A rank that is late because it waits for a message itself is no imbalance.
    const std::int64_t late = behind_ns(RootKind::computes) + behind_ns(RootKind::in_mpi);
    const std::int64_t in_flight = behind_ns(RootKind::in_flight);
    const std::int64_t other = behind_ns(RootKind::other);
    const std::vector<std::int64_t> parts = percents_of({late, in_flight, other});
    advise(fmt::format("The workers are idle {} of the time, {}.", percent(idle_share()),
                       parts[0] >= 50 ? "mostly because ranks are late: imbalance"
                       : parts[1] >= 50
                           ? "mostly while messages and collectives are in flight: latency"
                           : "for several reasons"),
           fmt::format("Behind the waiting is, over the ranks that wait for ranks, {} % work of "
                       "late ranks, {} % messages and collectives in flight, {} % something else.",
                       parts[0], parts[1], parts[2]));
  }

  /// The waiting of all ranks with this behind it.
  [[nodiscard]] std::int64_t behind_ns(RootKind kind) const {
    std::int64_t sum = 0;
    for (const Blame& blame : analysis_.blames)
      if (blame.kind == kind) sum += std::max<std::int64_t>(blame.ns, 0);
    return sum;
  }

  [[nodiscard]] const Prediction* best_of(auto&& is_wanted) const {
    const Prediction* best = nullptr;
    for (const Prediction& prediction : outlook_.predictions)
      if (is_wanted(prediction) && (best == nullptr || prediction.ns < best->ns))
        best = &prediction;
    return best;
  }

  void advise_on_balance() {
    const Prediction* best = best_of(
        [](const Prediction& prediction) { return prediction.balance != ReplayBalance::off; });
    if (best == nullptr || gain_of(*best) < gain_min) return;
    std::int64_t most = 0;
    std::int64_t sum = 0;
    for (const WorkerTimes& worker : analysis_.workers) {
      const std::int64_t busy_ns = worker.compute_ns + worker.mpi_ns;
      most = std::max(most, busy_ns);
      sum += busy_ns;
    }
    SORREL_ASSERT(!analysis_.workers.empty(), "a mean of no workers");
    const double mean = static_cast<double>(sum) / static_cast<double>(analysis_.workers.size());
    advise(fmt::format("{}: `{}` would save about {}.",
                       best->balance == ReplayBalance::measured
                           ? "The ranks are unevenly spread over the workers"
                           : "Ranks are often ready on one worker while another one is idle",
                       best->what, gain_text(*best)),
           fmt::format("The busiest worker runs ranks for {}, the mean is {}. The replay takes {} "
                       "instead of {}.",
                       time_text(most), time_text(static_cast<std::int64_t>(mean)),
                       time_text(best->ns), time_text(job_.end_ns)));
  }

  void advise_on_rank_count() {
    const auto has_more_ranks = [](const Prediction& prediction) {
      return prediction.rank_factor > 1;
    };
    const Prediction* best = best_of(has_more_ranks);
    if (best == nullptr || gain_of(*best) < gain_min) return;
    // The fewest ranks that are nearly as good.
    constexpr double nearly = 1.01;
    const Prediction* chosen = best_of([&](const Prediction& prediction) {
      return has_more_ranks(prediction) &&
             static_cast<double>(prediction.ns) <= nearly * static_cast<double>(best->ns) &&
             prediction.rank_factor <= best->rank_factor;
    });
    for (const Prediction& prediction : outlook_.predictions)
      if (has_more_ranks(prediction) &&
          static_cast<double>(prediction.ns) <= nearly * static_cast<double>(best->ns) &&
          prediction.rank_factor < chosen->rank_factor)
        chosen = &prediction;
    SORREL_ASSERT(chosen != nullptr, "the best number of ranks is not nearly as good as itself");
    const double ranks =
        static_cast<double>(job_.ranks.size()) / static_cast<double>(job_.workers.size());
    advise(fmt::format("More ranks would hide waiting: try `{}`, {:.4g} ranks per worker; it would "
                       "save about {}.",
                       chosen->what, ranks * chosen->rank_factor, gain_text(*chosen)),
           fmt::format(
               "With {:.3g} ranks per worker, workers are idle {} of the time, and {} of "
               "the waiting is with an idle worker. The replay divides the computing of each "
               "rank by {} and keeps the number of its calls.",
               ranks, percent(idle_share()),
               percent(share(analysis_.exposed_ns(), analysis_.wait_ns())), chosen->rank_factor));
  }

  /// The rank with the most exposed waiting, if most of it is for what one rank does.
  void advise_on_late_rank() {
    const auto most = std::ranges::max_element(
        analysis_.ranks, {}, [](const RankTimes& rank) { return rank.exposed_ns(); });
    if (most == analysis_.ranks.end() || most->blames.empty()) return;
    const Blame& blame = most->blames.front();
    const double part = share(blame.ns, most->wait_ns());
    constexpr double part_min = 0.4;
    if (share(most->exposed_ns(), most->life.ns()) < gain_min || part < part_min) return;
    const std::int32_t waiting =
        job_.ranks[static_cast<std::size_t>(most - analysis_.ranks.begin())].number;
    const std::int32_t culprit = blame.rank == no_index ? -1 : job_.ranks[blame.rank].number;
    const std::string evidence = fmt::format(
        "Rank {} waits {} of its time, {} with an idle worker.", waiting,
        percent(share(most->wait_ns(), most->life.ns())), time_text(most->exposed_ns()));
    if (blame.kind == RootKind::computes || blame.kind == RootKind::in_mpi) {
      advise(fmt::format("{} of the waiting of rank {} is for rank {}, which {} {}: imbalance, not "
                         "latency.",
                         percent(part), waiting, culprit,
                         blame.kind == RootKind::computes ? "computes before" : "is in",
                         place_of(blame.site)),
             evidence);
    } else if (blame.kind == RootKind::in_flight) {
      advise(fmt::format("{} of the waiting of rank {} is for messages in flight, in {}: latency, "
                         "not imbalance.",
                         percent(part), waiting, place_of(blame.site)),
             evidence);
    }
  }

  void advise_on_small_messages() {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
    for (const MatrixCell& cell : analysis_.matrix) {
      count += cell.count;
      bytes += cell.bytes;
    }
    if (count == 0 || job_.end_ns == 0) return;
    const double mean = static_cast<double>(bytes) / static_cast<double>(count);
    const double rate = static_cast<double>(count) / static_cast<double>(job_.end_ns) * 1e9;
    const std::int64_t busy = analysis_.compute_ns + analysis_.mpi_ns;
    const double in_mpi = share(analysis_.mpi_ns, busy);
    constexpr double in_mpi_min = 0.1;
    if (mean > small_bytes || rate < message_rate_min || in_mpi < in_mpi_min) return;
    advise(fmt::format("Messages of {:.0f} B at {:.2g} a second: their number costs, not their "
                       "bytes. Fewer and larger messages would help.",
                       mean, rate),
           fmt::format("{} messages; {} of the work is in MPI.", count, percent(in_mpi)));
  }

  void advise_on_path() {
    if (analysis_.path_shares.empty()) return;
    const PathShare& first = analysis_.path_shares.front();
    const double part = share(first.ns, job_.end_ns);
    constexpr double part_min = 0.1;
    if (part < part_min || first.step.kind != PathKind::computes) return;
    advise(fmt::format("{} of the critical path is computing of rank {} before {}.", percent(part),
                       job_.ranks[first.step.rank].number, place_of(first.step.site)),
           fmt::format("{} in {} steps; making other ranks faster would not make the job faster "
                       "while this is so.",
                       time_text(first.ns), first.count));
  }

  const JobTrace& job_;
  const Analysis& analysis_;
  ReplayProgram program_;
  Outlook outlook_;
};

}  // namespace

Outlook find_outlook(const JobTrace& job,
                     const WaitCauses& causes,
                     const Analysis& analysis,
                     const OutlookRequest& request) {
  return OutlookMaker(job, causes, analysis).make(request);
}

}  // namespace sorrel::tool
