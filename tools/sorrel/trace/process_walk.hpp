//! walk - what the records of a process's workers mean: calls, waits, runs of ranks, idle time,
//! messages, loops, tasks.
//!
//! Takes the records of all workers in the order of their times, because a rank may be on several
//! workers one after the other. A visitor has the functions that ProcessWalk calls (merge.cpp,
//! profile.cpp); `worker` is an index in `parts`. The slices of a rank are nested, and each that
//! begins also ends, at the latest at the end. So are those of a worker that helps. Times of a
//! track ascend. spend() divides the time of each worker: its spans do not overlap. The walk stops
//! early if the visitor has a function has_ended() and it is true.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <queue>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/check.hpp"
#include "tools/sorrel/trace/trace_clock.hpp"
#include "tools/sorrel/trace/trace_part.hpp"

namespace sorrel::tool {

/// A call of MPI, as its rank has recorded it.
struct CallRecord {
  trace::Record call;
  std::optional<trace::Record> on_comm;  ///< if the call has a communicator
};

/// A run of a rank on a worker.
struct RunRecord {
  std::int32_t rank;
  std::int64_t begin_ns;
  std::int64_t end_ns;
  bool is_lent = false;  ///< It belongs to another worker.
};

struct SpentTime {
  std::int64_t begin_ns;
  std::int64_t end_ns;
};

/// What a worker does for some time; without any of these it is idle.
enum class WorkerState : std::uint8_t {
  computes,  ///< It runs a rank outside of MPI.
  in_mpi,    ///< It runs a rank in MPI, or a nonblocking operation.
  helps,     ///< It runs a part of a loop, or a task, for ranks of other workers.
  away       ///< It is idle, since its thread runs other workers, or all are stopped.
};

template <class Visitor>
class ProcessWalk {
 public:
  /// `parts` are those of one process.
  ProcessWalk(std::span<const TracePart> parts, const TraceClock& clock, Visitor& visitor)
      : visitor_(visitor) {
    workers_.reserve(parts.size());
    for (const TracePart& part : parts) {
      workers_.push_back({.part = part, .events = TracePart::Events(part), .axis = clock.of(part)});
      for (const auto& [address, number] : part.ranks()) {
        numbers_[address] = number;
        ranks_.try_emplace(number);
      }
    }
  }

  /// Returns the number of events.
  std::uint64_t run() {
    std::priority_queue<Next, std::vector<Next>, std::greater<>> queue;
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      if (!advance(workers_[i])) continue;
      workers_[i].since_ns = workers_[i].next_ns;
      queue.push({workers_[i].next_ns, i});
    }
    std::uint64_t count = 0;
    while (!queue.empty()) {
      const std::size_t index = queue.top().worker;
      Worker& worker = workers_[index];
      queue.pop();
      do {
        worker_ = index;
        SORREL_ASSERT(worker.next_ns >= last_ns_, "an event at %lld ns, after %lld ns",
                      static_cast<long long>(worker.next_ns), static_cast<long long>(last_ns_));
        worker.now_ns = worker.next_ns;
        last_ns_ = worker.now_ns;
        const trace::Record record = worker.next;
        add(worker, record);
        ++count;
        if (!advance(worker)) break;
        if (!queue.empty() && queue.top().ns < worker.next_ns) {
          queue.push({worker.next_ns, index});
          break;
        }
      } while (!has_ended());
      if (has_ended()) break;
    }
    finish();
    return count;
  }

 private:
  using Kind = trace::Kind;

  struct PendingCall {
    std::int32_t number;
    std::int64_t ns;
    trace::Record record;
  };

  struct Rank {
    /// Calls, loops, chunks, tasks and regions, one within the other.
    std::vector<Kind> open;
    int call_depth = 0;
    bool is_waiting = false;
    std::int64_t wait_began_ns = 0;
    /// What it has run until then is spent.
    std::int64_t spent_until_ns = 0;
  };

  struct Worker {
    const TracePart& part;
    TracePart::Events events;
    TraceClock::Axis axis;
    trace::Record next{};
    std::int64_t next_ns = 0;
    std::int64_t now_ns = 0;
    /// The last switch, or the end of idle time.
    std::int64_t since_ns = 0;
    bool is_idle = false;
    /// The begin of the sleep within the idle time.
    std::optional<std::int64_t> asleep_ns{};
    std::optional<PendingCall> pending_call{};
    /// What is open of the worker as a helper, as for a rank.
    std::vector<Kind> open{};
    std::int64_t helped_until_ns = 0;
  };

  struct Next {
    std::int64_t ns;
    std::size_t worker;

    auto operator<=>(const Next&) const = default;
  };

  static bool advance(Worker& worker) {
    if (!worker.events.next(worker.next)) return false;
    // A reading of the counter may be older than the one before, by a few cycles.
    worker.next_ns = std::max(worker.next_ns, worker.axis.ns_of(worker.next));
    return true;
  }

  [[nodiscard]] std::optional<std::int32_t> rank_of(std::uint64_t address) const {
    const auto found = numbers_.find(address);
    return found == numbers_.end() ? std::nullopt : std::optional(found->second);
  }

  void add(Worker& worker, const trace::Record& record) {
    // What a call's communicator is comes with the next record.
    if (worker.pending_call) begin_call(worker, record);
    switch (record.kind()) {
      case Kind::send:
      case Kind::receive: {
        const auto message = trace::MessageRecord::of(record);
        if (ranks_.contains(message.rank))
          visitor_.message(worker_, message, record.kind(), worker.now_ns);
        return;
      }
      case Kind::packet_sent:
      case Kind::packet_received:
        visitor_.packet(worker_, trace::PacketRecord::of(record), record.kind(), worker.now_ns);
        return;
      case Kind::park:
        if (worker.is_idle && !worker.asleep_ns) worker.asleep_ns = worker.now_ns;
        return;
      case Kind::wake:
        end_idle(worker);
        return;
      case Kind::call:
      case Kind::result:
        if (const auto number = rank_of(record.subject)) add_call(worker, *number, record);
        return;
      case Kind::wait:
      case Kind::wait_then_idle:
      case Kind::end:
      case Kind::end_then_idle:
      case Kind::yield:
        add_switch(worker, record);
        return;
      case Kind::lend:
      case Kind::borrow:
      case Kind::give_back:
        add_loan(worker, record);
        return;
      case Kind::resume:
        add_resume(worker);
        return;
      case Kind::thread:
        visitor_.thread(worker_, worker.now_ns, trace::ThreadRecord::of(record));
        return;
      case Kind::move:
        if (const auto number = rank_of(record.subject))
          visitor_.move(*number, worker.now_ns, record.first);
        return;
      case Kind::width:
        visitor_.width(worker.now_ns, record.first, record.subject);
        return;
      case Kind::loop:
      case Kind::chunk:
      case Kind::task:
      case Kind::region:
        begin_work(worker, record);
        return;
      case Kind::loop_end:
      case Kind::chunk_end:
      case Kind::task_end:
      case Kind::region_end:
        end_work(worker, record);
        return;
      default:
        return;
    }
  }

  void add_call(Worker& worker, std::int32_t number, const trace::Record& record) {
    Rank& rank = ranks_[number];
    end_wait(worker, number, rank);
    spend(worker, number, rank.call_depth > 0);
    if (record.kind() == Kind::call) {
      worker.pending_call = {.number = number, .ns = worker.now_ns, .record = record};
      rank.open.push_back(Kind::call);
      ++rank.call_depth;
    } else {
      close(rank.open, Kind::call, [&](Kind kind) { end(number, kind, worker.now_ns); });
    }
  }

  void begin_call(Worker& worker, const std::optional<trace::Record>& next) {
    const bool is_on_comm = next && next->kind() == Kind::on_comm;
    SORREL_ASSERT(worker.pending_call.has_value(), "no call has begun");
    const PendingCall& call = *worker.pending_call;
    visitor_.begin_call(worker_, call.number, call.ns,
                        {.call = call.record, .on_comm = is_on_comm ? next : std::nullopt});
    worker.pending_call.reset();
  }

  void begin_work(Worker& worker, const trace::Record& record) {
    end_idle(worker);
    std::optional<std::int32_t> number;
    if (record.subject != 0) {
      number = rank_of(record.subject);
      if (!number) return;
      end_wait(worker, *number, ranks_[*number]);
    } else {
      spend_help(worker);
    }
    (number ? ranks_[*number].open : worker.open).push_back(record.kind());
    visitor_.begin_work(worker_, number, worker.now_ns, record);
  }

  void end_work(Worker& worker, const trace::Record& record) {
    const auto begin = static_cast<Kind>(static_cast<int>(record.kind()) - 1);
    if (record.subject == 0) {
      spend_help(worker);
      close(worker.open, begin, [&](Kind) { visitor_.end_help(worker_, worker.now_ns); });
      return;
    }
    const auto number = rank_of(record.subject);
    if (!number) return;
    Rank& rank = ranks_[*number];
    end_wait(worker, *number, rank);
    close(rank.open, begin, [&](Kind kind) { end(*number, kind, worker.now_ns); });
  }

  void end(std::int32_t number, Kind kind, std::int64_t ns) {
    if (kind == Kind::call) {
      SORREL_ASSERT(ranks_[number].call_depth > 0, "a call of rank %d ends that has not begun",
                    number);
      --ranks_[number].call_depth;
      visitor_.end_call(number, ns);
    } else {
      visitor_.end_work(number, ns);
    }
  }

  /// Ends the innermost slice of that kind, and those within it; nothing if there is none.
  template <class End>
  static void close(std::vector<Kind>& open, Kind kind, End&& end) {
    if (std::ranges::find(open, kind) == open.end()) return;
    for (Kind last = Kind::none; last != kind;) {
      last = open.back();
      open.pop_back();
      end(last);
    }
  }

  void add_switch(Worker& worker, const trace::Record& record) {
    const bool is_wait = record.kind() == Kind::wait || record.kind() == Kind::wait_then_idle;
    if (const auto number = rank_of(record.subject)) {
      end_idle(worker);
      const std::string_view name = worker.part.text_of(record.first);
      // A nonblocking operation has no name; its rank may wait meanwhile.
      if (!name.empty()) {
        Rank& rank = ranks_[*number];
        end_wait(worker, *number, rank);
        if (is_wait) {
          visitor_.begin_wait(worker_, *number, worker.now_ns,
                              rank.open.empty() ? name : std::string_view());
          rank.is_waiting = true;
          rank.wait_began_ns = worker.now_ns;
        }
      }
      // A nonblocking operation is MPI's.
      spend(worker, *number, name.empty() || ranks_[*number].call_depth > 0);
      add_run(worker, *number, false);
    }
    worker.since_ns = worker.now_ns;
    worker.is_idle = record.kind() == Kind::wait_then_idle || record.kind() == Kind::end_then_idle;
  }

  /// A fiber that computes leaves its worker, comes to this one, or goes back.
  void add_loan(Worker& worker, const trace::Record& record) {
    end_idle(worker);
    const auto number = rank_of(record.subject);
    if (number && record.kind() != Kind::borrow) {
      spend(worker, *number, ranks_[*number].call_depth > 0);
      add_run(worker, *number, record.kind() == Kind::give_back);
    }
    worker.since_ns = worker.now_ns;
  }

  /// The worker's fibers run again.
  void add_resume(Worker& worker) {
    end_idle(worker);
    if (worker.now_ns > worker.since_ns) {
      visitor_.spend(worker_, std::nullopt, WorkerState::away,
                     {.begin_ns = worker.since_ns, .end_ns = worker.now_ns});
    }
    worker.since_ns = worker.now_ns;
  }

  /// What a rank has run since the last switch, or since it was spent last.
  void spend(const Worker& worker, std::int32_t number, bool is_in_mpi) {
    Rank& rank = ranks_[number];
    const std::int64_t begin_ns = std::max(worker.since_ns, rank.spent_until_ns);
    if (begin_ns >= worker.now_ns) return;
    visitor_.spend(worker_, number, is_in_mpi ? WorkerState::in_mpi : WorkerState::computes,
                   {.begin_ns = begin_ns, .end_ns = worker.now_ns});
    rank.spent_until_ns = worker.now_ns;
  }

  /// A part of a loop, or a task, begins or ends on a helper.
  void spend_help(Worker& worker) {
    if (!worker.open.empty() && worker.now_ns > worker.helped_until_ns) {
      visitor_.spend(worker_, std::nullopt, WorkerState::helps,
                     {.begin_ns = worker.helped_until_ns, .end_ns = worker.now_ns});
    }
    worker.helped_until_ns = worker.now_ns;
  }

  void add_run(const Worker& worker, std::int32_t number, bool is_lent) {
    SORREL_ASSERT(worker.since_ns <= worker.now_ns, "a run from %lld ns to %lld ns",
                  static_cast<long long>(worker.since_ns), static_cast<long long>(worker.now_ns));
    visitor_.run(
        worker_,
        {.rank = number, .begin_ns = worker.since_ns, .end_ns = worker.now_ns, .is_lent = is_lent});
  }

  /// A rank that runs has run since the last switch of its worker.
  void end_wait(const Worker& worker, std::int32_t number, Rank& rank) {
    if (rank.is_waiting) visitor_.end_wait(number, std::max(rank.wait_began_ns, worker.since_ns));
    rank.is_waiting = false;
  }

  [[nodiscard]] bool has_ended() const {
    if constexpr (requires { visitor_.has_ended(); }) return visitor_.has_ended();
    return false;
  }

  void end_idle(Worker& worker) {
    if (!worker.is_idle) return;
    SORREL_ASSERT(!worker.asleep_ns ||
                      (worker.since_ns <= *worker.asleep_ns && *worker.asleep_ns <= worker.now_ns),
                  "a sleep outside of the idle time");
    visitor_.idle(worker_, worker.since_ns, worker.asleep_ns, worker.now_ns);
    worker.since_ns = worker.now_ns;
    worker.is_idle = false;
    worker.asleep_ns.reset();
  }

  void finish() {
    for (worker_ = 0; worker_ < workers_.size(); ++worker_) {
      Worker& worker = workers_[worker_];
      if (worker.pending_call) begin_call(worker, std::nullopt);
      end_idle(worker);
      for (; !worker.open.empty(); worker.open.pop_back())
        visitor_.end_help(worker_, worker.now_ns);
    }
    for (auto& [number, rank] : ranks_) {
      if (rank.is_waiting) visitor_.end_wait(number, last_ns_);
      for (; !rank.open.empty(); rank.open.pop_back())
        end(number, rank.open.back(), last_ns_);
      SORREL_ASSERT(rank.call_depth == 0, "%d calls of rank %d have not ended", rank.call_depth,
                    number);
    }
    for (worker_ = 0; worker_ < workers_.size(); ++worker_)
      visitor_.finish(worker_, workers_[worker_].now_ns);
  }

  Visitor& visitor_;
  std::vector<Worker> workers_;
  std::unordered_map<std::uint64_t, std::int32_t> numbers_;
  std::unordered_map<std::int32_t, Rank> ranks_;
  /// The index of the worker whose record is added.
  std::size_t worker_ = 0;
  std::int64_t last_ns_ = 0;
};

/// Calls visit(parts) for each process, where `parts` are its own, in the order of open_trace().
template <class Visit>
void for_each_process(std::span<const TracePart> parts, Visit&& visit) {
  while (!parts.empty()) {
    const std::uint32_t process = parts.front().process();
    const auto end = std::ranges::find_if(
        parts, [&](const TracePart& part) { return part.process() != process; });
    const auto count = static_cast<std::size_t>(end - parts.begin());
    visit(parts.first(count));
    parts = parts.subspan(count);
  }
}

/// Calls the functions of `visitor` for the events of a process; returns their number.
template <class Visitor>
std::uint64_t walk(std::span<const TracePart> parts, const TraceClock& clock, Visitor& visitor) {
  return ProcessWalk<Visitor>(parts, clock, visitor).run();
}

}  // namespace sorrel::tool
