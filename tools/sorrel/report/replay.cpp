#include "tools/sorrel/report/replay.hpp"

#include <algorithm>
#include <bit>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <tuple>

#include "balance/plan.hpp"
#include "base/check.hpp"

namespace sorrel::tool {

namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

struct RankState {
  std::uint32_t step = 0;
  bool has_worked = false;  ///< the work before `step` is done
  bool has_paused = false;
};

class Simulation {
 public:
  Simulation(const ReplayProgram& program, const ReplaySetting& setting)
      : program_(program),
        setting_(setting),
        steals_(setting.balance == ReplayBalance::steal),
        latency_change_ns_(setting.latency_ns ? *setting.latency_ns - program.latencies.least_ns()
                                              : 0),
        worker_of_(program.workers),
        queues_(program.nodes.size()),
        is_busy_(program.nodes.size()),
        node_index_(program.ranks.size()),
        ranks_(program.ranks.size()),
        signaled_ns_(program.events.size(), never),
        waiting_(program.events.size(), no_index),
        collectives_(program.collectives.size()) {
    SORREL_ASSERT(program.workers.size() == program.ranks.size() &&
                      program.rank_nodes.size() == program.ranks.size() &&
                      program.begins.size() == program.ranks.size(),
                  "%zu ranks with %zu workers", program.ranks.size(), program.workers.size());
    std::map<std::uint32_t, std::uint32_t> indices;
    for (std::size_t r = 0; r < node_index_.size(); ++r) {
      const auto count = static_cast<std::uint32_t>(indices.size());
      node_index_[r] = indices.try_emplace(program.rank_nodes[r], count).first->second;
    }
    node_count_ = indices.size();
    if (setting.balance == ReplayBalance::measured) place_by_load();
  }

  std::optional<std::int64_t> run() {
    for (std::uint32_t r = 0; r < program_.ranks.size(); ++r)
      make_ready(r, program_.begins[r]);
    while (!moments_.empty()) {
      const Moment moment = moments_.top();
      moments_.pop();
      const auto [ns, order, kind, index] = moment;
      if (kind == worker_is_free) {
        is_busy_[index] = false;
        start(index, ns);
      } else {
        const std::uint32_t worker = worker_of_[index];
        queues_[worker].push_back(index);
        start_any(worker, ns);
      }
    }
    if (ended_count_ < ranks_.size()) return std::nullopt;
    return end_ns_;
  }

 private:
  enum MomentKind : std::uint8_t { worker_is_free, rank_is_ready };

  /// Time, order in which it was added, kind, worker or rank.
  using Moment = std::tuple<std::int64_t, std::uint64_t, MomentKind, std::uint32_t>;

  struct CollectiveState {
    std::uint32_t arrived = 0;
    /// When the last member of each node arrived; no time: none has.
    std::vector<std::int64_t> last_ns{};
    std::int64_t root_ns = never;
    std::vector<std::uint32_t> waiting;
  };

  void place_by_load() {
    std::vector<balance::RankLoad> loads;
    for (std::uint32_t r = 0; r < program_.ranks.size(); ++r) {
      double load = 0;
      for (const ReplayStep& step : program_.ranks[r])
        load += static_cast<double>(step.compute_ns + step.mpi_ns);
      loads.push_back({.load = load, .place = worker_of_[r]});
    }
    // Ranks stay in their process, or simulated node.
    for (const std::uint32_t node : nodes()) {
      std::vector<balance::RankLoad> own;
      std::vector<std::uint32_t> ranks;
      for (std::uint32_t r = 0; r < loads.size(); ++r) {
        if (program_.nodes[loads[r].place] != node) continue;
        own.push_back(loads[r]);
        own.back().place = place_in_node(loads[r].place);
        ranks.push_back(r);
      }
      const std::vector<std::uint32_t> workers = workers_of(node);
      const auto count = static_cast<std::uint32_t>(workers.size());
      for (const balance::Move& move : balance::plan_moves(own, count, own.size())) {
        SORREL_ASSERT(move.rank < ranks.size() && move.to < count, "rank %zu of %zu to worker %zu",
                      std::size_t{move.rank}, ranks.size(), std::size_t{move.to});
        worker_of_[ranks[move.rank]] = workers[move.to];
      }
    }
  }

  [[nodiscard]] std::vector<std::uint32_t> nodes() const {
    std::vector<std::uint32_t> all = program_.nodes;
    std::ranges::sort(all);
    all.erase(std::ranges::unique(all).begin(), all.end());
    return all;
  }

  [[nodiscard]] std::vector<std::uint32_t> workers_of(std::uint32_t node) const {
    std::vector<std::uint32_t> workers;
    for (std::uint32_t w = 0; w < program_.nodes.size(); ++w)
      if (program_.nodes[w] == node) workers.push_back(w);
    return workers;
  }

  /// The number of a worker among those of its node.
  [[nodiscard]] std::uint32_t place_in_node(std::uint32_t worker) const {
    SORREL_ASSERT(worker < program_.nodes.size(), "worker %u of %zu", worker,
                  program_.nodes.size());
    return static_cast<std::uint32_t>(std::count(
        program_.nodes.begin(), program_.nodes.begin() + static_cast<std::ptrdiff_t>(worker),
        program_.nodes[worker]));
  }

  void add(std::int64_t ns, MomentKind kind, std::uint32_t index) {
    moments_.emplace(ns, moment_count_++, kind, index);
  }

  void make_ready(std::uint32_t rank, std::int64_t ns) { add(ns, rank_is_ready, rank); }

  /// A rank has come into the queue of `worker`.
  void start_any(std::uint32_t worker, std::int64_t ns) {
    if (!is_busy_[worker]) return start(worker, ns);
    if (!steals_) return;
    for (std::uint32_t other = 0; other < queues_.size(); ++other)
      if (!is_busy_[other] && program_.nodes[other] == program_.nodes[worker])
        return start(other, ns);
  }

  void start(std::uint32_t worker, std::int64_t ns) {
    std::uint32_t from = worker;
    if (queues_[worker].empty() && steals_) {
      for (std::uint32_t other = 0; other < queues_.size(); ++other)
        if (program_.nodes[other] == program_.nodes[worker] &&
            queues_[other].size() > queues_[from].size())
          from = other;
    }
    if (queues_[from].empty()) return;
    SORREL_ASSERT(!is_busy_[worker], "worker %u runs a rank already", worker);
    const std::uint32_t rank = queues_[from].front();
    queues_[from].pop_front();
    is_busy_[worker] = true;
    add(run_rank(rank, ns), worker_is_free, worker);
  }

  /// Runs the rank until it waits; returns when.
  std::int64_t run_rank(std::uint32_t index, std::int64_t ns) {
    RankState& rank = ranks_[index];
    const std::vector<ReplayStep>& steps = program_.ranks[index];
    for (;; ++rank.step, rank.has_worked = false) {
      SORREL_ASSERT(rank.step < steps.size(), "step %u of %zu", rank.step, steps.size());
      const ReplayStep& step = steps[rank.step];
      if (!rank.has_worked) ns += step.compute_ns + step.mpi_ns;
      rank.has_worked = true;
      switch (step.kind) {
        case StepKind::signal:
          signal(step.index, ns);
          break;
        case StepKind::need:
          if (!has(step.index, index, ns)) return ns;
          break;
        case StepKind::arrive:
          arrive(step.index, index, ns);
          break;
        case StepKind::leave:
          if (!may_leave(step.index, index, ns)) return ns;
          break;
        case StepKind::pause:
          rank.has_paused = !rank.has_paused;
          if (rank.has_paused) {
            make_ready(index, ns + std::int64_t{step.index} * pause_unit_ns);
            return ns;
          }
          break;
        case StepKind::end:
          ++ended_count_;
          SORREL_ASSERT(ended_count_ <= ranks_.size(), "rank %u ends again", index);
          end_ns_ = std::max(end_ns_, ns);
          return ns;
      }
    }
  }

  [[nodiscard]] std::int64_t delay_of(std::uint32_t event) const {
    const ReplayEvent& message = program_.events[event];
    if (!message.is_message || !setting_.has_flight) return 0;
    const std::int64_t ns =
        program_.latencies.ns_of(message.distance, message.bytes, setting_.quantile);
    if (message.distance != Distance::other_node) return ns;
    return std::max<std::int64_t>(ns + latency_change_ns_, 0);
  }

  [[nodiscard]] std::int64_t far_ns(const ReplayCollective& collective) const {
    const std::int64_t least_ns = program_.latencies.least_ns();
    if (latency_change_ns_ == 0 || least_ns <= 0) return collective.far_ns;
    // Up a tree of nodes and down again, at most; what is longer has other reasons.
    const std::int64_t crossings_max =
        2 * static_cast<std::int64_t>(std::bit_width(node_count_ - 1));
    const std::int64_t crossings = std::clamp<std::int64_t>(
        (collective.far_ns + least_ns / 2) / least_ns, 1, std::max<std::int64_t>(crossings_max, 1));
    return std::max<std::int64_t>(collective.far_ns + crossings * latency_change_ns_, 0);
  }

  void signal(std::uint32_t event, std::int64_t ns) {
    SORREL_ASSERT(signaled_ns_[event] == never, "event %u comes again", event);
    signaled_ns_[event] = ns + delay_of(event);
    if (waiting_[event] != no_index) make_ready(waiting_[event], signaled_ns_[event]);
  }

  /// Whether an event has come; if not, the rank gets ready when it comes.
  bool has(std::uint32_t event, std::uint32_t index, std::int64_t ns) {
    if (signaled_ns_[event] <= ns) return true;
    if (signaled_ns_[event] == never) {
      waiting_[event] = index;
    } else {
      make_ready(index, signaled_ns_[event]);
    }
    return false;
  }

  /// When the members, or those that need the root only, may go on; never: not known.
  [[nodiscard]] std::int64_t release_ns(std::uint32_t number, std::uint32_t rank) const {
    const ReplayCollective& collective = program_.collectives[number];
    const CollectiveState& state = collectives_[number];
    const bool is_root = collective.root == rank;
    if (collective.root != no_index && collective.is_from_root == is_root) return 0;
    if (collective.root != no_index && collective.is_from_root) {
      if (state.root_ns == never) return never;
      const bool is_near = node_index_[collective.root] == node_index_[rank];
      return state.root_ns + (is_near ? collective.near_ns : far_ns(collective));
    }
    if (state.arrived < collective.member_count) return never;
    std::int64_t release = 0;
    for (std::uint32_t node = 0; node < state.last_ns.size(); ++node) {
      if (state.last_ns[node] == never) continue;
      const bool is_near = node == node_index_[rank];
      release = std::max(release,
                         state.last_ns[node] + (is_near ? collective.near_ns : far_ns(collective)));
    }
    return release;
  }

  void arrive(std::uint32_t number, std::uint32_t rank, std::int64_t ns) {
    CollectiveState& state = collectives_[number];
    ++state.arrived;
    SORREL_ASSERT(state.arrived <= program_.collectives[number].member_count,
                  "%u members have arrived at a collective of %u", state.arrived,
                  program_.collectives[number].member_count);
    if (state.last_ns.empty()) state.last_ns.assign(node_count_, never);
    // Ranks arrive in the order of time, except within the runs of different workers.
    std::int64_t& last_ns = state.last_ns[node_index_[rank]];
    last_ns = last_ns == never ? ns : std::max(last_ns, ns);
    if (program_.collectives[number].root == rank) state.root_ns = ns;
    std::erase_if(state.waiting, [&](std::uint32_t index) {
      const std::int64_t release = release_ns(number, index);
      if (release == never) return false;
      make_ready(index, release);
      return true;
    });
  }

  bool may_leave(std::uint32_t number, std::uint32_t index, std::int64_t ns) {
    const std::int64_t release = release_ns(number, index);
    if (release <= ns) return true;
    if (release == never) {
      collectives_[number].waiting.push_back(index);
    } else {
      make_ready(index, release);
    }
    return false;
  }

  const ReplayProgram& program_;
  const ReplaySetting setting_;
  const bool steals_;
  const std::int64_t latency_change_ns_;
  std::vector<std::uint32_t> worker_of_;
  std::vector<std::deque<std::uint32_t>> queues_;
  std::vector<bool> is_busy_;
  /// The node of each rank.
  std::vector<std::uint32_t> node_index_;
  std::size_t node_count_ = 0;
  std::vector<RankState> ranks_;
  /// When the receiver has each event.
  std::vector<std::int64_t> signaled_ns_;
  std::vector<std::uint32_t> waiting_;
  std::vector<CollectiveState> collectives_;
  std::priority_queue<Moment, std::vector<Moment>, std::greater<>> moments_;
  std::uint64_t moment_count_ = 0;
  std::size_t ended_count_ = 0;
  std::int64_t end_ns_ = 0;
};

}  // namespace

std::optional<std::int64_t> replay(const ReplayProgram& program, const ReplaySetting& setting) {
  return Simulation(program, setting).run();
}

}  // namespace sorrel::tool
