//! WaitModel - the workers of a job that wait for each other, on a machine with a core for each: a
//! discrete simulation in nanoseconds, with a governor that measures as the monitor does.
//!
//! All workers sleep in a pause at first. Then they exchange messages with their neighbours in a
//! ring, or combine values along a binary tree, step by step. A worker polls as long as the policy
//! allows, then sleeps; the first message wakes it, which takes time. Deterministic.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

#include "base/prng.hpp"
#include "core/poll_limit.hpp"
#include "governor/core_wait.hpp"
#include "governor/governor.hpp"
#include "os/sched_stat.hpp"

namespace sorrel::governor {

enum class Exchange : std::uint8_t { ring, tree };

struct WaitOptions {
  std::uint32_t worker_count = 16;
  Exchange exchange = Exchange::ring;
  std::int64_t work_ns = 3'000;
  /// From a message to the first instruction of the sleeper that it wakes.
  std::int64_t wake_ns = 50'000;
  std::int64_t pause_ns = 100'000'000;
  /// In one step of so many, worker 0 works longer, or other threads have its core; 0: never.
  std::uint32_t long_every = 0;
  std::int64_t long_ns = 0;
  bool is_taken = false;
};

/// The library's policy.
class WaitPolicy {
 public:
  explicit WaitPolicy(std::uint32_t worker_count)
      : last_waits_(worker_count, 0), governor_({.width_max = worker_count, .has_fibers = true}) {}

  [[nodiscard]] std::int64_t limit_ns(std::uint32_t worker) const {
    if (!may_spin()) return 0;
    return core::poll_limit(last_waits_[worker], core::poll_ns_max, core::brief_poll_ns);
  }

  /// `slept_ns`: of the wait's last sleep; 0: none.
  void end_wait(std::uint32_t worker, std::int64_t wait_ns, std::int64_t /*slept_ns*/) {
    last_waits_[worker] = wait_ns;
  }

  std::int64_t delay_ns(const os::RunTimes& from, const os::RunTimes& to) {
    return waits_.add(from, to);
  }

  void update(GovernorSample sample) {
    sample.do_many_wait = std::exchange(waits_, {}).do_many_wait();
    governor_.update(sample);
  }

  [[nodiscard]] bool may_spin() const { return governor_.decision().may_spin; }

 private:
  std::vector<std::int64_t> last_waits_;
  Governor governor_;
  CoreWaits waits_;
};

template <class Policy>
class WaitModel {
 public:
  explicit WaitModel(const WaitOptions& options)
      : options_(options), policy_(options.worker_count), workers_(options.worker_count) {
    for (std::uint32_t i = 0; i < options_.worker_count; ++i) {
      policy_.end_wait(i, options_.pause_ns, options_.pause_ns);
      const std::int64_t awake_ns = options_.pause_ns + below(options_.wake_ns);
      workers_[i].changed_ns = awake_ns;
      push(awake_ns, i, Kind::begin);
    }
  }

  void run_until(std::int64_t end_ns) {
    while (events_.top().time_ns < end_ns) {
      const Event event = events_.top();
      events_.pop();
      while (event.time_ns >= next_tick_ns_)
        tick();
      now_ns_ = event.time_ns;
      handle(event);
    }
  }

  [[nodiscard]] const Policy& policy() const { return policy_; }

  /// How often any worker has begun a sleep since the end of the pause, and when last.
  [[nodiscard]] std::uint64_t sleep_count() const { return sleep_count_; }

  [[nodiscard]] std::int64_t last_sleep_ns() const { return last_sleep_ns_; }

  /// The end of the last long step.
  [[nodiscard]] std::int64_t last_long_ns() const { return last_long_ns_; }

  /// Steps that all workers have made.
  [[nodiscard]] std::uint32_t step_count() const {
    std::uint32_t count = ~0U;
    for (const Worker& worker : workers_)
      count = std::min(count, worker.phase / phases_per_step());
    return count;
  }

 private:
  // Times of messages, and of the call that wakes a sleeper.
  static constexpr std::int64_t post_ns = 50;
  static constexpr std::int64_t latency_ns = 100;
  static constexpr std::int64_t wake_call_ns = 5'000;
  static constexpr std::uint32_t reach = 3;

  enum class Kind : std::uint8_t { begin, work_end, arrival, poll_end, awake };
  enum class State : std::uint8_t { working, polling, asleep, waking };

  struct Event {
    std::int64_t time_ns;
    std::uint64_t number;  // of events at one time, the first pushed is the first handled
    std::uint32_t worker;
    Kind kind;
    std::uint32_t value;  // arrival: the receiver's phase; poll_end: the poll

    bool operator<(const Event& other) const {
      return time_ns != other.time_ns ? time_ns > other.time_ns : number > other.number;
    }
  };

  struct Worker {
    State state = State::working;
    std::uint32_t phase = 0;
    std::uint32_t poll = 0;
    /// By the last bits of the phase for which they are.
    std::array<std::uint32_t, 4> arrived{};
    std::int64_t wait_began_ns = 0;
    std::int64_t slept_since_ns = 0;
    std::int64_t woken_ns = 0;
    std::int64_t slept_ns = 0;
    std::int64_t changed_ns = 0;
    os::RunTimes times;
    os::RunTimes last_times;
  };

  void push(std::int64_t time_ns, std::uint32_t worker, Kind kind, std::uint32_t value = 0) {
    events_.push({time_ns, ++event_count_, worker, kind, value});
  }

  std::int64_t below(std::int64_t limit) {
    return limit == 0 ? 0 : static_cast<std::int64_t>(random_.below(limit));
  }

  [[nodiscard]] std::uint32_t phases_per_step() const {
    return options_.exchange == Exchange::ring ? 1 : 2;
  }

  [[nodiscard]] bool has_child(std::uint32_t worker, std::uint32_t which) const {
    return 2 * worker + 1 + which < options_.worker_count;
  }

  /// Messages for which a worker waits at the end of a phase.
  [[nodiscard]] std::uint32_t needed(std::uint32_t worker, std::uint32_t phase) const {
    if (options_.exchange == Exchange::ring) return 2 * reach;
    if (phase % 2 == 1) return worker == 0 ? 0 : 1;
    return (has_child(worker, 0) ? 1 : 0) + (has_child(worker, 1) ? 1 : 0);
  }

  void handle(const Event& event) {
    Worker& worker = workers_[event.worker];
    switch (event.kind) {
      case Kind::begin:
        begin_phase(event.worker);
        break;
      case Kind::work_end:
        begin_wait(event.worker);
        break;
      case Kind::arrival:
        ++worker.arrived[event.value % 4];
        if (worker.state == State::polling) end_wait_if_over(event.worker);
        if (worker.state == State::asleep) {
          set_state(worker, State::waking);
          worker.woken_ns = now_ns_;
          push(now_ns_ + options_.wake_ns / 2 + below(options_.wake_ns / 2), event.worker,
               Kind::awake);
        }
        break;
      case Kind::poll_end:
        if (worker.state != State::polling || worker.poll != event.value) break;
        set_state(worker, State::asleep);
        worker.slept_since_ns = last_sleep_ns_ = now_ns_;
        ++sleep_count_;
        break;
      case Kind::awake:
        worker.slept_ns = now_ns_ - worker.slept_since_ns;
        worker.times.delay_ns += now_ns_ - worker.woken_ns;
        ++worker.times.slice_count;
        set_state(worker, State::polling);
        if (!end_wait_if_over(event.worker)) begin_poll(event.worker);
        break;
    }
  }

  void set_state(Worker& worker, State state) {
    if (worker.state == State::working || worker.state == State::polling)
      worker.times.run_ns += now_ns_ - worker.changed_ns;
    worker.changed_ns = now_ns_;
    worker.state = state;
  }

  /// Returns the time after it.
  std::int64_t send(std::int64_t at_ns, std::uint32_t to, std::uint32_t phase) {
    at_ns += post_ns + (workers_[to].state == State::asleep ? wake_call_ns : 0);
    push(at_ns + latency_ns, to, Kind::arrival, phase);
    return at_ns;
  }

  void begin_phase(std::uint32_t index) {
    const std::uint32_t phase = workers_[index].phase;
    const std::int64_t work_ns = options_.work_ns + below(options_.work_ns / 4);
    std::int64_t at_ns = now_ns_;
    if (options_.exchange == Exchange::ring) {
      at_ns += work_ns;
      for (std::uint32_t i = 1; i <= reach; ++i) {
        at_ns = send(at_ns, (index + i) % options_.worker_count, phase);
        at_ns = send(at_ns, (index + options_.worker_count - i) % options_.worker_count, phase);
      }
    } else if (phase % 2 == 1) {
      if (index != 0) at_ns = send(at_ns, (index - 1) / 2, phase - 1);
    } else {
      for (std::uint32_t which = 0; phase != 0 && which < 2; ++which) {
        if (has_child(index, which)) at_ns = send(at_ns, 2 * index + 1 + which, phase - 1);
      }
      at_ns += work_ns;
    }
    const std::uint32_t distance = options_.long_every * phases_per_step();
    if (index == 0 && distance != 0 && phase % distance == distance - 1) {
      at_ns += options_.long_ns;
      last_long_ns_ = at_ns;
      if (options_.is_taken) {
        workers_[index].times.delay_ns += options_.long_ns;
        ++workers_[index].times.slice_count;
      }
    }
    push(at_ns, index, Kind::work_end);
  }

  void begin_wait(std::uint32_t index) {
    Worker& worker = workers_[index];
    worker.wait_began_ns = now_ns_;
    worker.slept_ns = 0;
    set_state(worker, State::polling);
    if (!end_wait_if_over(index)) begin_poll(index);
  }

  void begin_poll(std::uint32_t index) {
    push(now_ns_ + policy_.limit_ns(index), index, Kind::poll_end, ++workers_[index].poll);
  }

  bool end_wait_if_over(std::uint32_t index) {
    Worker& worker = workers_[index];
    if (worker.arrived[worker.phase % 4] < needed(index, worker.phase)) return false;
    worker.arrived[worker.phase % 4] = 0;
    policy_.end_wait(index, now_ns_ - worker.wait_began_ns, worker.slept_ns);
    ++worker.phase;
    set_state(worker, State::working);
    begin_phase(index);
    return true;
  }

  /// As the monitor's.
  void tick() {
    now_ns_ = next_tick_ns_;
    for (Worker& worker : workers_) {
      if (now_ns_ > worker.changed_ns) set_state(worker, worker.state);
      sample_.run_ns += worker.times.run_ns - worker.last_times.run_ns;
      sample_.delay_ns += policy_.delay_ns(worker.last_times, worker.times);
      sample_.slice_count += worker.times.slice_count - worker.last_times.slice_count;
      worker.last_times = worker.times;
    }
    sample_.now_ns = now_ns_;
    sample_.cpus = sample_.fair_share = options_.worker_count;
    policy_.update(sample_);
    next_tick_ns_ += Governor::sample_period_ns;
  }

  const WaitOptions options_;
  Policy policy_;
  std::vector<Worker> workers_;
  std::priority_queue<Event> events_;
  Prng random_{1};
  GovernorSample sample_;
  std::uint64_t event_count_ = 0;
  std::int64_t now_ns_ = 0;
  std::int64_t next_tick_ns_ = 0;
  std::int64_t last_sleep_ns_ = 0;
  std::uint64_t sleep_count_ = 0;
  std::int64_t last_long_ns_ = 0;
};

}  // namespace sorrel::governor
