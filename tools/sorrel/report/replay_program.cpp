#include "tools/sorrel/report/replay_program.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <string_view>

#include "base/check.hpp"
#include "tools/sorrel/report/cold_start.hpp"
#include "tools/sorrel/report/collective_names.hpp"

namespace sorrel::tool {

namespace {

constexpr std::int64_t no_time = std::numeric_limits<std::int64_t>::max();

std::size_t size_class(std::uint64_t bytes) {
  return bytes == 0 ? 0
                    : std::min<std::size_t>(std::bit_width(bytes) - 1, Latencies::size_count - 1);
}

/// Whether a receive may end in a function.
bool completes_receives(std::string_view function) {
  return function.starts_with("MPI_Wait") || function.starts_with("MPI_Test") ||
         function.starts_with("MPI_Recv") || function.starts_with("MPI_Mrecv") ||
         function.starts_with("MPI_Sendrecv");
}

/// The work of one rank until any moment: its time on a core, that of its nonblocking operations
/// included.
class CoreTime {
 public:
  CoreTime(const JobTrace& job, const TracedRank& rank) : job_(job), rank_(rank) {
    std::int64_t sum = 0;
    for (const RunPlace& place : rank.runs) {
      run_sums_.push_back(sum);
      sum += job.run_at(place).time.ns();
    }
    std::int64_t mpi = 0;
    for (const Call& call : rank.calls) {
      mpi_sums_.push_back(mpi);
      mpi += until(call.time.end) - until(call.time.begin);
    }
  }

  [[nodiscard]] std::int64_t until(std::int64_t ns) const {
    const auto after = std::ranges::upper_bound(
        rank_.runs, ns, {}, [&](const RunPlace& place) { return job_.run_at(place).time.begin; });
    if (after == rank_.runs.begin()) return 0;
    const auto last = static_cast<std::size_t>(after - rank_.runs.begin() - 1);
    const Interval run = job_.run_at(rank_.runs[last]).time;
    return run_sums_[last] + std::min(ns, run.end) - run.begin;
  }

  /// In MPI.
  [[nodiscard]] std::int64_t mpi_until(std::int64_t ns) const {
    const auto after = std::ranges::upper_bound(rank_.calls, ns, {},
                                                [](const Call& call) { return call.time.begin; });
    if (after == rank_.calls.begin()) return 0;
    const auto last = static_cast<std::size_t>(after - rank_.calls.begin() - 1);
    const Interval call = rank_.calls[last].time;
    return mpi_sums_[last] + until(std::min(ns, call.end)) - until(call.begin);
  }

 private:
  const JobTrace& job_;
  const TracedRank& rank_;
  std::vector<std::int64_t> run_sums_;
  std::vector<std::int64_t> mpi_sums_;
};

class ProgramMaker {
 public:
  ProgramMaker(const JobTrace& job, const WaitCauses& causes) : job_(job), causes_(causes) {}

  ReplayProgram make() {
    for (const TracedWorker& worker : job_.workers)
      program_.nodes.push_back(worker.process);
    for (const TracedRank& rank : job_.ranks) {
      program_.workers.push_back(rank.home);
      program_.rank_nodes.push_back(rank.node);
      if (!rank.runs.empty()) program_.nodes[program_.workers.back()] = rank.node;
      program_.begins.push_back(job_.life_of(rank).begin);
    }
    for (const CallSite& site : job_.sites) {
      kinds_.push_back(collective_kind(site.function));
      completes_.push_back(completes_receives(site.function));
    }
    marks_.resize(job_.ranks.size());
    add_messages();
    SORREL_ASSERT(program_.events.size() == job_.messages.size(), "%zu events of %zu messages",
                  program_.events.size(), job_.messages.size());
    add_collectives();
    add_waits();
    for (std::uint32_t r = 0; r < job_.ranks.size(); ++r)
      make_steps(r);
    find_latencies();
    program_.cold_start_ns = cold_start_ns(job_);
    return std::move(program_);
  }

 private:
  struct Mark {
    std::int64_t ns;
    StepKind kind;
    std::uint32_t index;
  };

  [[nodiscard]] bool is_in_collective(std::uint32_t rank, std::int64_t ns) const {
    const std::uint32_t call = call_at(job_.ranks[rank], ns);
    return call != no_index && kinds_[job_.ranks[rank].calls[call].site] != CollectiveKind::none;
  }

  [[nodiscard]] Distance distance_of(const Message& message) const {
    return program_.distance_of(message.source, message.destination);
  }

  /// Where a rank stopped, or could not have gone on, without what came at `ns`.
  [[nodiscard]] std::int64_t need_ns(const TracedRank& rank, std::int64_t ns) const {
    auto call = std::ranges::lower_bound(rank.calls, ns, {},
                                         [](const Call& each) { return each.time.end; });
    while (call != rank.calls.end() && !completes_[call->site])
      ++call;
    if (call == rank.calls.end()) return -1;
    const auto wait = std::ranges::lower_bound(rank.waits, ns, {},
                                               [](const Wait& each) { return each.time.end; });
    const bool has_waited = wait != rank.waits.end() && wait->time.begin >= call->time.begin &&
                            wait->time.end <= call->time.end;
    return has_waited ? wait->time.begin : call->time.end;
  }

  void add_messages() {
    program_.events.reserve(job_.messages.size());
    for (const Message& message : job_.messages) {
      const auto event = static_cast<std::uint32_t>(program_.events.size());
      ReplayEvent& added = program_.events.emplace_back();
      if (message.destination == no_index || is_in_collective(message.source, message.send_ns) ||
          is_in_collective(message.destination, message.receive_ns))
        continue;
      const std::int64_t need = need_ns(job_.ranks[message.destination], message.receive_ns);
      if (need < 0) continue;
      added = {.is_message = true, .distance = distance_of(message), .bytes = message.bytes};
      marks_[message.source].push_back({message.send_ns, StepKind::signal, event});
      marks_[message.destination].push_back({need, StepKind::need, event});
    }
  }

  void add_collectives() {
    program_.collectives.resize(causes_.collectives().size());
    for (std::size_t i = 0; i < program_.collectives.size(); ++i) {
      const Collective& traced = causes_.collectives()[i];
      const CollectiveKind kind = kinds_[traced.site];
      ReplayCollective& collective = program_.collectives[i];
      collective.member_count = traced.member_count;
      collective.is_from_root = kind == CollectiveKind::from_root;
      if (collective.is_from_root || kind == CollectiveKind::to_root) collective.root = traced.root;
    }
    for (std::uint32_t r = 0; r < job_.ranks.size(); ++r) {
      const TracedRank& rank = job_.ranks[r];
      for (std::uint32_t c = 0; c < rank.calls.size(); ++c) {
        const Collective* traced = causes_.collective_of(r, c);
        if (traced == nullptr) continue;
        const auto index = static_cast<std::uint32_t>(traced - causes_.collectives().data());
        marks_[r].push_back({rank.calls[c].time.begin, StepKind::arrive, index});
        if (kinds_[rank.calls[c].site] != CollectiveKind::nonblocking)
          marks_[r].push_back({first_wait_in(rank, rank.calls[c]), StepKind::leave, index});
      }
    }
    add_collective_times();
  }

  /// When ranks have arrived at a collective, by node, and members of it were released.
  struct CollectiveTimes {
    struct Release {
      std::int64_t ns;
      std::uint32_t node;
    };

    std::map<std::uint32_t, std::int64_t> last_ns;
    std::vector<Release> releases;

    /// The last arrival in the node, or in others; -1: there is none.
    [[nodiscard]] std::int64_t last(std::uint32_t node, bool is_own) const {
      std::int64_t last = -1;
      for (const auto& [each, ns] : last_ns)
        if ((each == node) == is_own) last = std::max(last, ns);
      return last;
    }
  };

  /// Adds the first continuation of members for which another node was last, then of those for
  /// which their own was.
  void add_collective_times() {
    std::vector<CollectiveTimes> all(program_.collectives.size());
    for (std::uint32_t r = 0; r < job_.ranks.size(); ++r) {
      const TracedRank& rank = job_.ranks[r];
      for (std::uint32_t c = 0; c < rank.calls.size(); ++c) {
        const Collective* traced = causes_.collective_of(r, c);
        if (traced == nullptr) continue;
        const auto index = static_cast<std::size_t>(traced - causes_.collectives().data());
        add_collective_call(r, c, program_.collectives[index], all[index]);
      }
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      ReplayCollective& collective = program_.collectives[i];
      std::int64_t far_ns = no_time;
      for (const auto& [ns, node] : all[i].releases) {
        const std::int64_t others_ns = all[i].last(node, false);
        if (others_ns >= 0 && others_ns >= all[i].last(node, true))
          far_ns = std::min(far_ns, std::max<std::int64_t>(ns - others_ns, 0));
      }
      collective.far_ns = far_ns == no_time ? 0 : far_ns;
      std::int64_t near_ns = no_time;
      for (const auto& [ns, node] : all[i].releases) {
        const std::int64_t own_ns = all[i].last(node, true);
        const std::int64_t others_ns = all[i].last(node, false);
        if (own_ns >= 0 && (others_ns < 0 || own_ns >= others_ns + collective.far_ns))
          near_ns = std::min(near_ns, std::max<std::int64_t>(ns - own_ns, 0));
      }
      collective.near_ns = near_ns == no_time ? 0 : near_ns;
    }
  }

  void add_collective_call(std::uint32_t r,
                           std::uint32_t c,
                           const ReplayCollective& collective,
                           CollectiveTimes& times) const {
    const TracedRank& rank = job_.ranks[r];
    const bool is_root = collective.root == r;
    // Only the root's arrival counts, or all.
    if (collective.root == no_index || !collective.is_from_root || is_root) {
      std::int64_t& last_ns = times.last_ns.try_emplace(rank.node, 0).first->second;
      last_ns = std::max(last_ns, rank.calls[c].time.begin);
    }
    // Members that wait for none.
    if (collective.root != no_index && collective.is_from_root == is_root) return;
    // A call may wait several times; the last wait ends it.
    const auto after = std::ranges::upper_bound(rank.waits, rank.calls[c].time.end, {},
                                                [](const Wait& each) { return each.time.end; });
    if (after == rank.waits.begin() || std::prev(after)->call != c) return;
    const auto wait = static_cast<std::size_t>(after - rank.waits.begin() - 1);
    times.releases.push_back({.ns = causes_.of(r)[wait].ready_begin, .node = rank.node});
  }

  static std::int64_t first_wait_in(const TracedRank& rank, const Call& call) {
    const auto wait = std::ranges::lower_bound(rank.waits, call.time.begin, {},
                                               [](const Wait& each) { return each.time.begin; });
    return wait != rank.waits.end() && wait->time.end <= call.time.end ? wait->time.begin
                                                                       : call.time.end;
  }

  /// Waits that no message and no collective explains.
  void add_waits() {
    for (std::uint32_t r = 0; r < job_.ranks.size(); ++r) {
      const TracedRank& rank = job_.ranks[r];
      for (std::uint32_t w = 0; w < rank.waits.size(); ++w) {
        const WaitCause& cause = causes_.of(r)[w];
        const Interval time = rank.waits[w].time;
        if (causes_.collective_of(r, rank.waits[w].call) != nullptr) continue;
        if (cause.kind == WaitKind::late_receiver) {
          // The sender goes on when the receiver has called.
          const auto event = static_cast<std::uint32_t>(program_.events.size());
          program_.events.emplace_back();
          marks_[cause.culprit].push_back({cause.culprit_ns, StepKind::signal, event});
          marks_[r].push_back({time.begin, StepKind::need, event});
        } else if (cause.culprit == no_index) {
          const std::int64_t ns = cause.ready_begin - time.begin;
          marks_[r].push_back({time.begin, StepKind::pause,
                               static_cast<std::uint32_t>(
                                   std::min<std::int64_t>(ns / pause_unit_ns, no_index - 1))});
        }
      }
    }
  }

  void make_steps(std::uint32_t index) {
    SORREL_ASSERT(program_.ranks.size() == index, "the steps of rank %u, after %zu ranks", index,
                  program_.ranks.size());
    const TracedRank& rank = job_.ranks[index];
    std::vector<Mark>& marks = marks_[index];
    std::ranges::stable_sort(marks, {}, &Mark::ns);
    const CoreTime core(job_, rank);
    std::int64_t done = 0;
    std::int64_t done_in_mpi = 0;
    auto wait = rank.waits.begin();
    std::vector<ReplayStep>& steps = program_.ranks.emplace_back();
    steps.reserve(marks.size() + 1);
    const auto add = [&](std::int64_t ns, StepKind kind, std::uint32_t to) {
      const std::int64_t until = core.until(ns);
      const std::int64_t mpi_until = core.mpi_until(ns);
      const std::int64_t mpi_ns = std::max<std::int64_t>(mpi_until - done_in_mpi, 0);
      const auto first_wait = wait;
      while (wait != rank.waits.end() && wait->time.end <= ns)
        ++wait;
      steps.push_back({.compute_ns = std::max<std::int64_t>(until - done - mpi_ns, 0),
                       .mpi_ns = mpi_ns,
                       .kind = kind,
                       .is_cold = wait != first_wait,
                       .index = to});
      done = until;
      done_in_mpi = mpi_until;
    };
    for (const Mark& mark : marks)
      add(mark.ns, mark.kind, mark.index);
    add(job_.life_of(rank).end, StepKind::end, 0);
    SORREL_ASSERT(steps.size() == marks.size() + 1 && steps.back().kind == StepKind::end,
                  "%zu steps of %zu marks", steps.size(), marks.size());
    program_.step_count += steps.size();
    marks = {};
  }

  /// Uses the messages for which a rank already waited when they were sent, with its worker idle;
  /// where there are none, the fastest.
  void find_latencies() {
    constexpr std::size_t class_count = 3 * Latencies::size_count;
    std::vector<std::vector<std::int64_t>> awaited(class_count);
    std::vector<std::int64_t> fastest(class_count, -1);
    const auto class_of = [&](const Message& message) {
      return static_cast<std::size_t>(distance_of(message)) * Latencies::size_count +
             size_class(message.bytes);
    };
    for (std::uint32_t i = 0; i < job_.messages.size(); ++i) {
      const Message& message = job_.messages[i];
      if (!program_.events[i].is_message) continue;
      std::int64_t& least = fastest[class_of(message)];
      const std::int64_t ns = std::max<std::int64_t>(message.receive_ns - message.send_ns, 0);
      if (least < 0 || ns < least) least = ns;
    }
    for (std::uint32_t r = 0; r < job_.ranks.size(); ++r) {
      const TracedRank& rank = job_.ranks[r];
      for (const std::uint32_t i : rank.received) {
        const Message& message = job_.messages[i];
        if (!program_.events[i].is_message) continue;
        const auto wait = std::ranges::lower_bound(rank.waits, message.receive_ns, {},
                                                   [](const Wait& each) { return each.time.end; });
        if (wait == rank.waits.end() || wait->time.begin > message.send_ns) continue;
        const WaitCause& cause = causes_.of(r)[static_cast<std::size_t>(wait - rank.waits.begin())];
        if (cause.culprit_ns == message.send_ns && cause.ready_begin == wait->time.end)
          awaited[class_of(message)].push_back(wait->time.end - message.send_ns);
      }
    }
    for (std::size_t i = 0; i < class_count; ++i) {
      std::vector<std::int64_t>& all = awaited[i];
      if (fastest[i] < 0) continue;
      Latencies::Times times = {fastest[i], fastest[i], fastest[i]};
      if (!all.empty()) {
        std::ranges::sort(all);
        times = {all[all.size() / 4], all[all.size() / 2], all[all.size() * 3 / 4]};
      }
      program_.latencies.set(static_cast<Distance>(i / Latencies::size_count),
                             i % Latencies::size_count, times);
    }
  }

  const JobTrace& job_;
  const WaitCauses& causes_;
  ReplayProgram program_;
  std::vector<CollectiveKind> kinds_;
  std::vector<bool> completes_;
  std::vector<std::vector<Mark>> marks_;
};

}  // namespace

std::int64_t Latencies::ns_of(Distance distance, std::uint64_t bytes, Quantile quantile) const {
  const auto& sizes = ns_[static_cast<std::size_t>(distance)];
  const auto which = static_cast<std::size_t>(quantile);
  const std::size_t wanted = size_class(bytes);
  // The nearest size that the trace has, a smaller one first.
  for (std::size_t size = wanted + 1; size-- > 0;)
    if (sizes[size]) return (*sizes[size])[which];
  for (std::size_t size = wanted; size < size_count; ++size)
    if (sizes[size]) return (*sizes[size])[which];
  return 0;
}

bool Latencies::has(Distance distance) const {
  return std::ranges::any_of(ns_[static_cast<std::size_t>(distance)],
                             [](const std::optional<Times>& times) { return times.has_value(); });
}

std::int64_t Latencies::least_ns() const {
  return ns_of(Distance::other_node, 0);
}

ReplayProgram make_replay_program(const JobTrace& job, const WaitCauses& causes) {
  return ProgramMaker(job, causes).make();
}

}  // namespace sorrel::tool
