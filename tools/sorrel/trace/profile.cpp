#include "tools/sorrel/trace/profile.hpp"

#include <algorithm>
#include <bit>
#include <fmt/core.h>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>

#include "base/check.hpp"
#include "tools/sorrel/common/json.hpp"
#include "tools/sorrel/common/percents.hpp"
#include "tools/sorrel/trace/code_places.hpp"
#include "tools/sorrel/trace/process_walk.hpp"
#include "tools/sorrel/trace/thread_use_json.hpp"

namespace sorrel::tool {

namespace {

using trace::Kind;
using trace::MessageRecord;
using trace::Record;

double seconds(std::int64_t ns) {
  return static_cast<double>(ns) * 1e-9;
}

double share(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

/// Adds the events of one process: a visitor of walk().
class ProcessCounts {
 public:
  ProcessCounts(std::span<const TracePart> parts,
                CodePlaces& places,
                Profile& profile,
                ThreadUseCount& use)
      : parts_(parts), places_(places), profile_(profile), use_(use), idle_ns_(parts.size()) {
    first_worker_ = profile.workers.size();
    for (const TracePart& part : parts)
      profile.workers.push_back({.process = part.process(), .worker = part.worker()});
  }

  void begin_call(std::size_t worker,
                  std::int32_t rank,
                  std::int64_t ns,
                  const CallRecord& record) {
    SORREL_ASSERT(worker < parts_.size(), "worker %zu of %zu", worker, parts_.size());
    State& state = states_[rank];
    // A call of MPI in a call of MPI, as of a library that is a tool, is a part of the outer one.
    if (state.depth++ > 0) return;
    state.began_ns = ns;
    state.on_core_ns = 0;
    state.worker = worker;
    state.idle_before_ns = idle_ns_[worker];
    const Record& call = record.call;
    const TracePart& part = parts_[worker];
    state.call = &profile_.calls[{std::string(part.text_of(call.first)),
                                  text_of(places_.of(part.process(), call.second))}];
  }

  void end_call(std::int32_t rank, std::int64_t ns) {
    State& state = states_[rank];
    if (--state.depth > 0) return;
    const std::int64_t elapsed_ns = ns - state.began_ns;
    const std::int64_t waited_ns = std::max<std::int64_t>(elapsed_ns - state.on_core_ns, 0);
    CallProfile& call = *state.call;
    ++call.count;
    call.ns += elapsed_ns;
    call.wait_ns += waited_ns;
    call.shortest_ns = std::min(call.shortest_ns, elapsed_ns);
    call.longest_ns = std::max(call.longest_ns, elapsed_ns);
    std::int64_t& own_ns = state.by_call[&call];
    own_ns += elapsed_ns;
    if (own_ns > call.rank_most_ns) {
      call.rank_most = rank;
      call.rank_most_ns = own_ns;
    }
    RankProfile& profile = profile_.ranks[rank];
    profile.wait_ns += waited_ns;
    // The idle time of the worker on which the call began: a rank that moves in it comes to a
    // worker with less to do.
    const std::int64_t idle_ns = idle_ns_[state.worker] - state.idle_before_ns;
    profile.hidden_ns += std::max<std::int64_t>(waited_ns - idle_ns, 0);
  }

  void begin_wait(std::size_t, std::int32_t, std::int64_t, std::string_view) {}

  void end_wait(std::int32_t, std::int64_t) {}

  void run(std::size_t, const RunRecord&) {}

  void spend(std::size_t worker,
             std::optional<std::int32_t> rank,
             WorkerState state,
             const SpentTime& time) {
    const std::int64_t ns = time.end_ns - time.begin_ns;
    SORREL_ASSERT(ns >= 0, "%lld ns were spent", static_cast<long long>(ns));
    SORREL_ASSERT(
        rank.has_value() == (state == WorkerState::computes || state == WorkerState::in_mpi),
        "time of state %d", static_cast<int>(state));
    WorkerProfile& profile = profile_.workers[first_worker_ + worker];
    switch (state) {
      case WorkerState::computes:
        profile.compute_ns += ns;
        profile_.ranks[*rank].compute_ns += ns;
        break;
      case WorkerState::in_mpi:
        profile.transfer_ns += ns;
        profile_.ranks[*rank].transfer_ns += ns;
        states_[*rank].on_core_ns += ns;
        break;
      case WorkerState::helps:
        profile.compute_ns += ns;
        break;
      case WorkerState::away:
        profile.away_ns += ns;
        idle_ns_[worker] += ns;
        use_.add_away(ns);
        break;
    }
  }

  void idle(std::size_t worker,
            std::int64_t begin_ns,
            std::optional<std::int64_t> /*asleep_ns*/,
            std::int64_t end_ns) {
    idle_ns_[worker] += end_ns - begin_ns;
  }

  void message(std::size_t /*worker*/,
               const MessageRecord& message,
               Kind kind,
               std::int64_t /*ns*/) {
    if (kind != Kind::send) return;
    ++profile_.message_sizes[message.bytes == 0 ? 0 : std::bit_width(message.bytes) - 1];
    State& state = states_[message.rank];
    if (state.depth == 0) return;
    ++state.call->message_count;
    state.call->bytes += message.bytes;
  }

  void begin_work(std::size_t, std::optional<std::int32_t>, std::int64_t, const Record&) {}

  void end_work(std::int32_t, std::int64_t) {}

  void end_help(std::size_t, std::int64_t) {}

  void packet(std::size_t, const trace::PacketRecord&, Kind, std::int64_t) {}

  void move(std::int32_t, std::int64_t, std::uint64_t) {}

  void width(std::int64_t ns, std::uint64_t before, std::uint64_t now) {
    use_.add_width(ns, before, now);
  }

  void thread(std::size_t, std::int64_t, const trace::ThreadRecord& thread) {
    use_.add_thread(thread);
  }

  void finish(std::size_t worker, std::int64_t ns) {
    if (parts_[worker].is_of_worker()) profile_.elapsed_ns = std::max(profile_.elapsed_ns, ns);
  }

 private:
  struct State {
    int depth = 0;
    std::int64_t began_ns = 0;
    /// In the present call, its nonblocking operations included.
    std::int64_t on_core_ns = 0;
    std::size_t worker = 0;
    std::int64_t idle_before_ns = 0;
    CallProfile* call = nullptr;
    std::unordered_map<const CallProfile*, std::int64_t> by_call;
  };

  const std::span<const TracePart> parts_;
  CodePlaces& places_;
  Profile& profile_;
  ThreadUseCount& use_;
  /// The first one of this process, among all.
  std::size_t first_worker_;
  std::unordered_map<std::int32_t, State> states_;
  /// By worker.
  std::vector<std::int64_t> idle_ns_;
};

struct Spread {
  std::int64_t least_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t most_ns = 0;
  std::int32_t rank_least = -1;
  std::int32_t rank_most = -1;
  std::int64_t sum_ns = 0;
};

template <class TimeOf>
Spread spread_of(const Profile& profile, TimeOf&& time_of) {
  Spread spread;
  for (const auto& [number, rank] : profile.ranks) {
    const std::int64_t ns = time_of(rank);
    spread.sum_ns += ns;
    if (ns < spread.least_ns) {
      spread.least_ns = ns;
      spread.rank_least = number;
    }
    if (ns >= spread.most_ns) {
      spread.most_ns = ns;
      spread.rank_most = number;
    }
  }
  return spread;
}

template <class TimeOf>
std::string row_of_ranks(const Profile& profile, std::string_view name, TimeOf&& time_of) {
  SORREL_ASSERT(!profile.ranks.empty(), "a mean of no ranks");
  const Spread spread = spread_of(profile, time_of);
  const auto count = static_cast<std::int64_t>(profile.ranks.size());
  return fmt::format("  {:<16}{:>10.4f}{:>10.4f}  {:<8}{:>10.4f}  {:<8}\n", name,
                     seconds(spread.sum_ns / count), seconds(spread.least_ns),
                     fmt::format("rank {}", spread.rank_least), seconds(spread.most_ns),
                     fmt::format("rank {}", spread.rank_most));
}

/// The shares of a worker, or of all: they add up to 100 %.
struct WorkerShares {
  std::int64_t compute = 0;
  std::int64_t transfer = 0;
  std::int64_t idle = 0;
};

WorkerShares shares_of(const WorkerProfile& times) {
  const std::vector<std::int64_t> shares =
      percents_of({times.compute_ns, times.transfer_ns, times.idle_ns});
  return {.compute = shares[0], .transfer = shares[1], .idle = shares[2]};
}

WorkerProfile sum_of(const std::vector<WorkerProfile>& workers) {
  WorkerProfile sum;
  for (const WorkerProfile& worker : workers) {
    sum.compute_ns += worker.compute_ns;
    sum.transfer_ns += worker.transfer_ns;
    sum.idle_ns += worker.idle_ns;
    sum.away_ns += worker.away_ns;
  }
  return sum;
}

/// "12 % (10 to 14 %)": of all workers, and the least and the most of one.
std::string share_text(const Profile& profile, std::int64_t WorkerShares::* member) {
  std::int64_t least = 100;
  std::int64_t most = 0;
  for (const WorkerProfile& worker : profile.workers) {
    const std::int64_t share = shares_of(worker).*member;
    least = std::min(least, share);
    most = std::max(most, share);
  }
  return fmt::format("{} % ({} to {} %)", shares_of(sum_of(profile.workers)).*member, least, most);
}

/// What the workers have had of threads and cores.
std::string use_text(const ThreadUse& use) {
  const auto percent_of = [&](std::int64_t ns) { return 100 * share(ns, use.whole_ns()); };
  std::string text = fmt::format("without a thread {:.1f} %", percent_of(use.away_ns));
  if (use.is_accounted) {
    text += fmt::format(", on a core {:.1f} %, waiting for one {:.1f} %", percent_of(use.core_ns),
                        percent_of(use.core_wait_ns));
  } else {
    text += ", on a core not known";
  }
  return text;
}

std::uint64_t message_count_of(const Profile& profile) {
  return std::accumulate(profile.message_sizes.begin(), profile.message_sizes.end(),
                         std::uint64_t{0});
}

/// The mean time of the ranks outside of MPI by the longest: 1 if all compute equally long.
double balance_of(const Profile& profile) {
  SORREL_ASSERT(!profile.ranks.empty(), "a mean of no ranks");
  const Spread spread = spread_of(profile, [](const RankProfile& rank) { return rank.compute_ns; });
  const auto count = static_cast<std::int64_t>(profile.ranks.size());
  return spread.most_ns > 0 ? share(spread.sum_ns / count, spread.most_ns) : 1;
}

/// "1 KiB".
std::string size_text(std::size_t exponent) {
  constexpr std::array<std::string_view, 5> units = {"B", "KiB", "MiB", "GiB", "TiB"};
  SORREL_ASSERT(exponent / 10 < units.size(), "2 to the power of %zu bytes", exponent);
  return fmt::format("{} {}", std::uint64_t{1} << exponent % 10, units[exponent / 10]);
}

std::string rows_of_sizes(const Profile& profile) {
  std::string text;
  const std::uint64_t count = message_count_of(profile);
  for (std::size_t i = 0; i < profile.message_sizes.size(); ++i) {
    const std::uint64_t here = profile.message_sizes[i];
    if (here == 0) continue;
    text += fmt::format("  {:<16}{:>12}{:>7.1f} %\n", "below " + size_text(i + 1), here,
                        100 * static_cast<double>(here) / static_cast<double>(count));
  }
  return text;
}

}  // namespace

Result<Profile> read_profile(const std::string& folder) {
  Profile profile;
  const Result<std::vector<TracePart>> opened = open_trace(folder, profile.warnings);
  if (!opened.has_value()) return Error{opened.error()};
  const TraceClock clock(opened.value());
  CodePlaces places(opened.value());
  std::vector<ThreadUseCount> uses;
  for_each_process(opened.value(), [&](std::span<const TracePart> parts) {
    for (const TracePart& part : parts)
      for (const auto& [address, rank] : part.ranks())
        profile.ranks.try_emplace(rank);
    uses.emplace_back(
        static_cast<std::uint32_t>(std::ranges::count_if(parts, &TracePart::is_of_worker)));
    ProcessCounts counts(parts, places, profile, uses.back());
    walk(parts, clock, counts);
  });
  std::erase_if(profile.workers,
                [](const WorkerProfile& worker) { return worker.worker == trace::no_worker; });
  for (const ThreadUseCount& use : uses)
    profile.use.add(use.until(profile.elapsed_ns));
  for (WorkerProfile& worker : profile.workers) {
    worker.idle_ns =
        std::max<std::int64_t>(profile.elapsed_ns - worker.compute_ns - worker.transfer_ns, 0);
  }
  if (profile.ranks.empty()) return Error{folder + " has no ranks"};
  return profile;
}

std::string table_of(const Profile& profile, std::size_t row_count_max) {
  const auto rank_count = static_cast<std::int64_t>(profile.ranks.size());
  std::string text = fmt::format(
      "profile: {} ranks on {} workers, {:.4f} s\n"
      "  time of a rank, s    mean     least                  most\n",
      rank_count, profile.workers.size(), seconds(profile.elapsed_ns));
  text +=
      row_of_ranks(profile, "computes", [](const RankProfile& rank) { return rank.compute_ns; });
  text +=
      row_of_ranks(profile, "waits in MPI", [](const RankProfile& rank) { return rank.wait_ns; });
  text += row_of_ranks(profile, "transfers in MPI",
                       [](const RankProfile& rank) { return rank.transfer_ns; });
  const Spread waits = spread_of(profile, [](const RankProfile& rank) { return rank.wait_ns; });
  const Spread hidden = spread_of(profile, [](const RankProfile& rank) { return rank.hidden_ns; });
  text += fmt::format(
      "  workers, all (least to most): compute {}, are in MPI {}, idle {}\n"
      "  their threads: {}\n"
      "  load balance {:.2f} (mean by longest computing time); hidden waiting {:.1f} %\n",
      share_text(profile, &WorkerShares::compute), share_text(profile, &WorkerShares::transfer),
      share_text(profile, &WorkerShares::idle), use_text(profile.use), balance_of(profile),
      100 * share(hidden.sum_ns, waits.sum_ns));
  text +=
      "  call                   % of time     calls    mean us shortest us longest us  waits  "
      "messages      bytes  most: rank  at\n";
  using Row = std::pair<const std::pair<std::string, std::string>, CallProfile>;
  std::vector<const Row*> rows;
  for (const Row& row : profile.calls)
    rows.push_back(&row);
  std::ranges::stable_sort(rows,
                           [](const Row* a, const Row* b) { return a->second.ns > b->second.ns; });
  for (std::size_t i = 0; i < rows.size() && i < row_count_max; ++i) {
    const auto& [name, call] = *rows[i];
    text += fmt::format(
        "  {:<24}{:>8.2f}{:>10}{:>11.2f}{:>12.1f}{:>11.1f}{:>5.0f} %{:>10}{:>11}{:>12}  "
        "{}\n",
        name.first, 100 * share(call.ns, profile.elapsed_ns * rank_count), call.count,
        seconds(call.ns) * 1e6 / static_cast<double>(call.count), seconds(call.shortest_ns) * 1e6,
        seconds(call.longest_ns) * 1e6, 100 * share(call.wait_ns, call.ns), call.message_count,
        call.bytes, call.rank_most, name.second);
  }
  if (rows.size() > row_count_max)
    text += fmt::format("  and {} more places\n", rows.size() - row_count_max);
  const std::string sizes = rows_of_sizes(profile);
  if (!sizes.empty()) text += "  messages            number\n" + sizes;
  return text;
}

std::string summary_of(const Profile& profile) {
  const Spread waits = spread_of(profile, [](const RankProfile& rank) { return rank.wait_ns; });
  const Spread hidden = spread_of(profile, [](const RankProfile& rank) { return rank.hidden_ns; });
  const WorkerShares shares = shares_of(sum_of(profile.workers));
  std::uint64_t bytes = 0;
  for (const auto& [name, call] : profile.calls)
    bytes += call.bytes;
  return fmt::format(
      "summary: {} ranks on {} workers, {:.4f} s; workers compute {} %, are in MPI {} %, idle {} "
      "%; "
      "threads: {}; waiting {:.0f} % hidden; balance {:.2f}; {} messages, {} bytes",
      profile.ranks.size(), profile.workers.size(), seconds(profile.elapsed_ns), shares.compute,
      shares.transfer, shares.idle, use_text(profile.use), 100 * share(hidden.sum_ns, waits.sum_ns),
      balance_of(profile), message_count_of(profile), bytes);
}

std::string json_text_of(const Profile& profile) {
  Json json;
  json["seconds"] = seconds(profile.elapsed_ns);
  json["load_balance"] = balance_of(profile);
  for (const auto& [name, call] : profile.calls) {
    json["calls"].push_back({{"function", name.first},
                             {"place", name.second},
                             {"count", call.count},
                             {"seconds", seconds(call.ns)},
                             {"waiting_seconds", seconds(call.wait_ns)},
                             {"shortest_seconds", seconds(call.shortest_ns)},
                             {"longest_seconds", seconds(call.longest_ns)},
                             {"messages", call.message_count},
                             {"bytes", call.bytes},
                             {"rank_with_most", call.rank_most}});
  }
  for (const auto& [number, rank] : profile.ranks) {
    json["ranks"].push_back({{"rank", number},
                             {"computing_seconds", seconds(rank.compute_ns)},
                             {"waiting_seconds", seconds(rank.wait_ns)},
                             {"hidden_waiting_seconds", seconds(rank.hidden_ns)},
                             {"transfer_seconds", seconds(rank.transfer_ns)}});
  }
  for (const WorkerProfile& worker : profile.workers) {
    json["workers"].push_back({{"process", worker.process},
                               {"worker", worker.worker},
                               {"computing_seconds", seconds(worker.compute_ns)},
                               {"transfer_seconds", seconds(worker.transfer_ns)},
                               {"idle_seconds", seconds(worker.idle_ns)},
                               {"without_thread_seconds", seconds(worker.away_ns)}});
  }
  json["threads"] = json_of(profile.use);
  for (std::size_t i = 0; i < profile.message_sizes.size(); ++i) {
    if (profile.message_sizes[i] == 0) continue;
    json["message_sizes"].push_back(
        {{"below_bytes", std::uint64_t{2} << i}, {"count", profile.message_sizes[i]}});
  }
  return text_of(json);
}

}  // namespace sorrel::tool
