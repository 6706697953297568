//! walk - what the records of one worker mean: calls, waits, runs of ranks, idle time, messages.
//!
//! A visitor has the functions that WorkerWalk calls (merge.cpp, profile.cpp). The slices of a rank
//! are nested, and each that begins also ends, at the latest where the part ends. Times of a
//! worker's own track ascend.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "tools/sorrel/trace/trace_clock.hpp"
#include "tools/sorrel/trace/trace_part.hpp"

namespace sorrel::tool {

/// A call of MPI, as its rank has recorded it.
struct CallRecord {
  trace::Record call;
  std::optional<trace::Record> on_comm;  ///< if the call has a communicator
};

template <class Visitor>
class WorkerWalk {
 public:
  WorkerWalk(const TracePart& part, const TraceClock& clock, Visitor& visitor)
      : part_(part), clock_(clock), visitor_(visitor) {
    for (const auto& [address, number] : part.ranks())
      ranks_.try_emplace(number);
  }

  /// Returns the number of events.
  std::uint64_t run() {
    std::uint64_t count = 0;
    part_.for_each_event([&](const trace::Record& record) {
      // A reading of the counter may be older than the one before, by a few cycles.
      now_ns_ = std::max(now_ns_, clock_.ns_of(part_, record));
      if (count++ == 0) since_ns_ = now_ns_;
      add(record);
    });
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
    int call_depth = 0;
    bool is_waiting = false;
  };

  void add(const trace::Record& record) {
    // What a call's communicator is comes with the next record.
    if (pending_call_) begin_call(record);
    switch (record.kind()) {
      case Kind::send:
      case Kind::receive: {
        const auto message = trace::MessageRecord::of(record);
        if (ranks_.contains(message.rank)) visitor_.message(message, record.kind(), now_ns_);
        return;
      }
      case Kind::park:
        if (is_idle_ && !asleep_ns_) asleep_ns_ = now_ns_;
        return;
      case Kind::wake:
        end_idle();
        return;
      case Kind::call:
      case Kind::result:
        if (const auto number = part_.rank_of(record.subject)) add_call(*number, record);
        return;
      case Kind::wait:
      case Kind::wait_then_idle:
      case Kind::end:
      case Kind::end_then_idle:
      case Kind::yield:
        add_switch(record);
        return;
      default:
        return;
    }
  }

  void add_call(std::int32_t number, const trace::Record& record) {
    Rank& rank = ranks_[number];
    end_wait(number, rank);
    if (record.kind() == Kind::call) {
      pending_call_ = {.number = number, .ns = now_ns_, .record = record};
      ++rank.call_depth;
    } else if (rank.call_depth > 0) {
      visitor_.end_call(number, now_ns_);
      --rank.call_depth;
    }
  }

  void begin_call(const std::optional<trace::Record>& next) {
    const bool is_on_comm = next && next->kind() == Kind::on_comm;
    visitor_.begin_call(
        pending_call_->number, pending_call_->ns,
        {.call = pending_call_->record, .on_comm = is_on_comm ? next : std::nullopt});
    pending_call_.reset();
  }

  void add_switch(const trace::Record& record) {
    const bool is_wait = record.kind() == Kind::wait || record.kind() == Kind::wait_then_idle;
    if (const auto number = part_.rank_of(record.subject)) {
      end_idle();
      const std::string_view name = part_.text_of(record.first);
      // A nonblocking operation has no name; its rank may wait meanwhile.
      if (!name.empty()) {
        Rank& rank = ranks_[*number];
        end_wait(*number, rank);
        if (is_wait) {
          visitor_.begin_wait(*number, now_ns_, rank.call_depth > 0 ? std::string_view() : name);
          rank.is_waiting = true;
        }
      }
      visitor_.run(*number, since_ns_, now_ns_);
    }
    since_ns_ = now_ns_;
    is_idle_ = record.kind() == Kind::wait_then_idle || record.kind() == Kind::end_then_idle;
  }

  /// A rank that runs has run since the last switch.
  void end_wait(std::int32_t number, Rank& rank) {
    if (rank.is_waiting) visitor_.end_wait(number, since_ns_);
    rank.is_waiting = false;
  }

  void end_idle() {
    if (!is_idle_) return;
    visitor_.idle(since_ns_, asleep_ns_, now_ns_);
    since_ns_ = now_ns_;
    is_idle_ = false;
    asleep_ns_.reset();
  }

  void finish() {
    if (pending_call_) begin_call(std::nullopt);
    end_idle();
    for (auto& [number, rank] : ranks_) {
      if (rank.is_waiting) visitor_.end_wait(number, now_ns_);
      for (; rank.call_depth > 0; --rank.call_depth)
        visitor_.end_call(number, now_ns_);
    }
    visitor_.finish(now_ns_);
  }

  const TracePart& part_;
  const TraceClock& clock_;
  Visitor& visitor_;
  std::unordered_map<std::int32_t, Rank> ranks_;
  std::optional<PendingCall> pending_call_;
  std::int64_t now_ns_ = 0;
  /// The last switch, or the end of idle time.
  std::int64_t since_ns_ = 0;
  bool is_idle_ = false;
  /// The begin of the sleep within the idle time.
  std::optional<std::int64_t> asleep_ns_;
};

/// Calls the functions of `visitor` for the events of `part`; returns their number.
template <class Visitor>
std::uint64_t walk(const TracePart& part, const TraceClock& clock, Visitor& visitor) {
  return WorkerWalk<Visitor>(part, clock, visitor).run();
}

}  // namespace sorrel::tool
