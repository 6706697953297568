#include "tools/sorrel/report/wait_causes.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/check.hpp"
#include "tools/sorrel/report/collective_names.hpp"

namespace sorrel::tool {

namespace {

struct KindNames {
  std::string_view name;
  std::string_view key;
};

constexpr std::array<KindNames, wait_kind_count> kind_names = {{
    {"late sender", "late_sender"},
    {"late receiver", "late_receiver"},
    {"late root", "late_root"},
    {"early root", "early_root"},
    {"imbalance at a collective", "collective"},
    {"in flight", "in_flight"},
    {"ready, worker busy", "ready"},
    {"other", "other"},
    {"outside of MPI", "outside"},
}};

/// Calls without a communicator in which all ranks of the job take part.
constexpr std::uint32_t whole_job = no_index - 1;

bool is_of_whole_job(std::string_view function) {
  return function == "MPI_Init" || function == "MPI_Init_thread" || function == "MPI_Finalize";
}

/// Whether a function waits for messages even if none is recorded in it.
bool moves_data(std::string_view function) {
  return function.find("end") != std::string_view::npos ||
         function.find("ecv") != std::string_view::npos;
}

}  // namespace

std::string_view name_of(WaitKind kind) {
  SORREL_ASSERT(static_cast<std::size_t>(kind) < wait_kind_count, "wait of kind %d",
                static_cast<int>(kind));
  return kind_names[static_cast<std::size_t>(kind)].name;
}

std::string_view key_of(WaitKind kind) {
  return kind_names[static_cast<std::size_t>(kind)].key;
}

std::uint32_t call_at(const TracedRank& rank, std::int64_t ns) {
  const auto after = std::ranges::upper_bound(rank.calls, ns, {},
                                              [](const Call& call) { return call.time.begin; });
  if (after == rank.calls.begin() || std::prev(after)->time.end < ns) return no_index;
  return static_cast<std::uint32_t>(after - rank.calls.begin() - 1);
}

WaitCauses::WaitCauses(const JobTrace& job) : job_(job), causes_(job.ranks.size()) {
  add_idle_sums();
  match_collectives();
  for (std::uint32_t rank = 0; rank < job.ranks.size(); ++rank)
    find_causes(rank);
}

void WaitCauses::add_idle_sums() {
  for (const TracedWorker& worker : job_.workers) {
    std::vector<std::int64_t>& sums = idle_sums_.emplace_back();
    std::int64_t sum = 0;
    for (const Interval& idle : worker.idle) {
      sums.push_back(sum);
      sum += idle.ns();
    }
  }
}

std::int64_t WaitCauses::idle_before(std::uint32_t worker, std::int64_t ns) const {
  const std::vector<Interval>& idle = job_.workers[worker].idle;
  const auto after = std::ranges::upper_bound(idle, ns, {}, &Interval::begin);
  if (after == idle.begin()) return 0;
  const auto last = static_cast<std::size_t>(after - idle.begin() - 1);
  SORREL_ASSERT(idle_sums_[worker].size() == idle.size(), "%zu sums of %zu idle times",
                idle_sums_[worker].size(), idle.size());
  return idle_sums_[worker][last] + std::min(ns, idle[last].end) - idle[last].begin;
}

std::int64_t WaitCauses::last_idle_end(std::uint32_t worker, Interval time) const {
  const std::vector<Interval>& idle = job_.workers[worker].idle;
  const auto after = std::ranges::upper_bound(idle, time.end, {}, &Interval::begin);
  if (after == idle.begin()) return time.begin;
  return std::clamp(std::prev(after)->end, time.begin, time.end);
}

std::uint32_t WaitCauses::worker_after(std::uint32_t rank, std::int64_t ns) const {
  const std::vector<RunPlace>& runs = job_.ranks[rank].runs;
  const auto found = std::ranges::lower_bound(
      runs, ns, {}, [&](const RunPlace& place) { return job_.run_at(place).time.begin; });
  if (found != runs.end()) return found->worker;
  return runs.empty() ? 0 : runs.back().worker;
}

namespace {

/// Adds the call of one more member: `call` is number `number` of the calls of the rank at `index`.
void add_member(Collective& collective,
                const TracedRank& rank,
                std::uint32_t index,
                const Call& call,
                std::uint32_t number) {
  ++collective.member_count;
  if (call.time.begin > collective.last_ns) {
    collective.last_ns = call.time.begin;
    collective.last_rank = index;
    collective.last_call = number;
  }
  if (call.root == rank.number) {
    collective.root = index;
    collective.root_call = number;
  }
}

}  // namespace

void WaitCauses::match_collectives() {
  std::vector<CollectiveKind> kinds;
  std::vector<bool> is_whole;
  for (const CallSite& site : job_.sites) {
    kinds.push_back(collective_kind(site.function));
    is_whole.push_back(is_of_whole_job(site.function));
  }
  std::unordered_map<std::int32_t, std::uint32_t> rank_index;
  for (std::uint32_t r = 0; r < job_.ranks.size(); ++r)
    rank_index[job_.ranks[r].number] = r;
  // The k-th collective of a communicator is the same one at all of its members.
  std::unordered_map<std::uint64_t, std::uint32_t> by_number;
  collective_of_.resize(job_.ranks.size());
  for (std::uint32_t r = 0; r < job_.ranks.size(); ++r) {
    const std::vector<Call>& calls = job_.ranks[r].calls;
    collective_of_[r].assign(calls.size(), no_index);
    std::unordered_map<std::uint32_t, std::uint32_t> counts;
    for (std::uint32_t c = 0; c < calls.size(); ++c) {
      const Call& call = calls[c];
      if (kinds[call.site] == CollectiveKind::none) continue;
      const std::uint32_t comm = is_whole[call.site] ? whole_job : call.comm;
      if (comm == no_index) continue;
      const std::uint64_t key = std::uint64_t{comm} << 32 | counts[comm]++;
      const auto [found, is_new] =
          by_number.try_emplace(key, static_cast<std::uint32_t>(collectives_.size()));
      if (is_new) collectives_.push_back({.site = call.site});
      collective_of_[r][c] = found->second;
      SORREL_ASSERT(found->second < collectives_.size(), "collective %u of %zu", found->second,
                    collectives_.size());
      Collective& collective = collectives_[found->second];
      add_member(collective, job_.ranks[r], r, call, c);
      if (job_.sites[collective.site].function != job_.sites[call.site].function &&
          !is_whole[call.site])
        collective.is_matched = false;
    }
  }
}

const Collective* WaitCauses::collective_of(std::uint32_t rank, std::uint32_t call) const {
  const std::uint32_t index = call == no_index ? no_index : collective_of_[rank][call];
  return index == no_index ? nullptr : &collectives_[index];
}

void WaitCauses::judge_collective(std::uint32_t rank, const Wait& wait, WaitCause& cause) const {
  SORREL_ASSERT(collective_of(rank, wait.call) != nullptr, "rank %u waits in no collective", rank);
  const Collective& collective = *collective_of(rank, wait.call);
  CollectiveKind kind = collective_kind(job_.sites[collective.site].function);
  if (!collective.is_matched || kind == CollectiveKind::nonblocking || collective.member_count < 2)
    return;
  if (collective.root == no_index) kind = CollectiveKind::all;
  const bool is_root = collective.root == rank;
  cause.kind = WaitKind::in_flight;
  // A member that waits for a root, or is one: the others' lateness is not what it waits for.
  if (kind == CollectiveKind::from_root && !is_root) {
    cause.kind = WaitKind::late_root;
    cause.culprit = collective.root;
    cause.culprit_call = collective.root_call;
  } else if (kind == CollectiveKind::all || (kind == CollectiveKind::to_root && is_root)) {
    cause.kind = is_root ? WaitKind::early_root : WaitKind::collective;
    cause.culprit = collective.last_rank;
    cause.culprit_call = collective.last_call;
  }
  if (cause.culprit == rank) cause.culprit = no_index;
  if (cause.culprit == no_index) {
    cause.kind = WaitKind::in_flight;
    cause.late_end = wait.time.begin;
    return;
  }
  cause.culprit_ns = job_.ranks[cause.culprit].calls[cause.culprit_call].time.begin;
  cause.late_end = std::clamp(cause.culprit_ns, wait.time.begin, wait.time.end);
}

void WaitCauses::judge_messages(std::uint32_t rank, const Wait& wait, WaitCause& cause) const {
  const TracedRank& self = job_.ranks[rank];
  const auto receive_ns_of = [&](std::uint32_t index) { return job_.messages[index].receive_ns; };
  const auto after = std::ranges::upper_bound(self.received, wait.time.end, {}, receive_ns_of);
  if (after != self.received.begin() && receive_ns_of(*std::prev(after)) >= wait.time.begin) {
    const Message& message = job_.messages[*std::prev(after)];
    cause.kind = WaitKind::late_sender;
    cause.culprit = message.source;
    cause.culprit_ns = message.send_ns;
    cause.culprit_call = call_at(job_.ranks[message.source], message.send_ns);
    cause.late_end = std::clamp(message.send_ns, wait.time.begin, wait.time.end);
    cause.ready_begin = std::max(cause.late_end, message.receive_ns);
    return;
  }
  // The latest message of this rank that met its receive meanwhile; those sent long ago have.
  constexpr std::size_t sent_count_max = 256;
  const auto send_ns_of = [&](std::uint32_t index) { return job_.messages[index].send_ns; };
  const auto sent_end = std::ranges::upper_bound(self.sent, wait.time.end, {}, send_ns_of);
  const Message* met = nullptr;
  std::size_t looked = 0;
  for (auto at = sent_end; at != self.sent.begin() && looked < sent_count_max; ++looked) {
    const Message& message = job_.messages[*--at];
    if (message.destination == no_index || message.receive_ns < wait.time.begin ||
        message.receive_ns > wait.time.end)
      continue;
    if (met == nullptr || message.receive_ns > met->receive_ns) met = &message;
  }
  if (met == nullptr) {
    cause.kind = moves_data(job_.sites[self.calls[wait.call].site].function) ? WaitKind::in_flight
                                                                             : WaitKind::other;
    return;
  }
  const TracedRank& receiver = job_.ranks[met->destination];
  const std::uint32_t call = call_at(receiver, met->receive_ns);
  cause.kind = WaitKind::late_receiver;
  cause.culprit = met->destination;
  cause.culprit_call = call;
  const bool is_late = call != no_index && receiver.calls[call].time.begin > wait.time.begin;
  cause.culprit_ns = is_late ? receiver.calls[call].time.begin : wait.time.begin;
  cause.late_end = cause.culprit_ns;
  cause.ready_begin = met->receive_ns;
}

void WaitCauses::find_causes(std::uint32_t rank) {
  const TracedRank& self = job_.ranks[rank];
  causes_[rank].resize(self.waits.size());
  for (std::uint32_t w = 0; w < self.waits.size(); ++w) {
    const Wait& wait = self.waits[w];
    WaitCause& cause = causes_[rank][w];
    cause.late_end = wait.time.begin;
    cause.ready_begin = wait.time.end;
    if (wait.call == no_index) {
      cause.kind = WaitKind::outside;
      continue;
    }
    if (collective_of(rank, wait.call) != nullptr) {
      cause.ready_begin = wait.time.begin;
      judge_collective(rank, wait, cause);
    } else {
      cause.ready_begin = wait.time.begin;
      judge_messages(rank, wait, cause);
    }
    if (cause.kind == WaitKind::other) {
      cause.ready_begin = wait.time.end;
      continue;
    }
    // A rank that is ready runs, unless its worker runs another one.
    cause.ready_begin = std::max({cause.ready_begin, cause.late_end,
                                  last_idle_end(worker_after(rank, wait.time.end), wait.time)});
    cause.ready_begin = std::min(cause.ready_begin, wait.time.end);
  }
}

WaitParts WaitCauses::parts_of(std::uint32_t rank, std::uint32_t wait) const {
  const WaitCause& cause = causes_[rank][wait];
  const Interval time = job_.ranks[rank].waits[wait].time;
  WaitParts parts;
  const auto add = [&](WaitKind kind, std::int64_t begin, std::int64_t end) {
    if (end > begin) parts.parts[parts.count++] = {.kind = kind, .time = {begin, end}};
  };
  if (cause.kind == WaitKind::other || cause.kind == WaitKind::outside) {
    add(cause.kind, time.begin, time.end);
    return parts;
  }
  add(cause.kind, time.begin, cause.late_end);
  add(WaitKind::in_flight, cause.late_end, cause.ready_begin);
  add(WaitKind::ready, cause.ready_begin, time.end);
  return parts;
}

}  // namespace sorrel::tool
