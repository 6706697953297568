//! MachineModel - a machine in steps of 10 ms, for governors: an ideal kernel that divides its
//! processors equally among all runnable threads, always-parallel jobs that arrive in turn, and
//! external load of a fixed number of threads. Deterministic.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "governor/governor.hpp"

namespace sorrel::governor {

struct MachineOptions {
  std::uint32_t cpus = 2;
  std::uint32_t job_count = 1;
  Share share = Share::fair;
  /// Whether the jobs take account of each other.
  bool are_peers = true;
  std::uint32_t external_threads = 0;
  /// Processor time of a loop.
  std::int64_t loop_ns = 35'000;
  std::int64_t arrival_ns = 500'000'000;
  std::int64_t duration_ns = 60'000'000'000;
};

class MachineModel {
 public:
  static constexpr std::int64_t step_ns = 10'000'000;

  explicit MachineModel(const MachineOptions& options) : options_(options) {
    const GovernorLimits limits{.width_min = 1, .width_max = options.cpus, .share = options.share};
    for (std::uint32_t i = 0; i < options.job_count; ++i)
      jobs_.push_back({Governor(limits), i * options.arrival_ns, -1, {}, 0});
  }

  void run() {
    const std::int64_t settled_ns = options_.job_count * options_.arrival_ns + 5'000'000'000;
    for (; now_ns_ < options_.duration_ns; now_ns_ += step_ns)
      step(now_ns_ >= settled_ns);
  }

  /// Steps until `until_ns`, without counting.
  void run_until(std::int64_t until_ns) {
    for (; now_ns_ < until_ns; now_ns_ += step_ns)
      step(false);
  }

  void end_job(std::size_t index) { jobs_[index].ends_ns = now_ns_; }

  [[nodiscard]] std::uint32_t width(std::size_t index) const {
    return jobs_[index].governor.decision().width;
  }

  [[nodiscard]] bool may_spin(std::size_t index) const {
    return jobs_[index].governor.decision().may_spin;
  }

  [[nodiscard]] bool is_crowded(std::size_t index) const {
    return jobs_[index].governor.decision().is_crowded;
  }

  /// Runnable threads beyond the processors, of the processors; mean.
  [[nodiscard]] double oversubscription() const { return over_ / steps_; }

  /// Processors without a thread, of all; mean.
  [[nodiscard]] double idleness() const { return idle_ / steps_; }

  /// Jain's index of the jobs' processor time: 1 when all got the same.
  [[nodiscard]] double fairness() const {
    double sum = 0;
    double squares = 0;
    for (const Job& job : jobs_) {
      sum += job.work;
      squares += job.work * job.work;
    }
    return sum * sum / (static_cast<double>(jobs_.size()) * squares);
  }

 private:
  struct Job {
    Governor governor;
    std::int64_t starts_ns;
    std::int64_t ends_ns;
    GovernorSample sample;
    double work;
  };

  [[nodiscard]] bool is_alive(const Job& job) const {
    return now_ns_ >= job.starts_ns && (job.ends_ns < 0 || now_ns_ < job.ends_ns);
  }

  void step(bool counts) {
    std::vector<std::uint32_t> demands;
    std::uint32_t threads = options_.external_threads;
    for (const Job& job : jobs_) {
      if (!is_alive(job)) continue;
      demands.push_back(options_.cpus);
      threads += job.governor.decision().width;
    }
    const double grant = std::min(1.0, static_cast<double>(options_.cpus) / std::max(threads, 1U));
    std::size_t worker = 0;
    for (Job& job : jobs_) {
      if (!is_alive(job)) continue;
      const double wanted =
          static_cast<double>(job.governor.decision().width) * static_cast<double>(step_ns);
      job.sample.run_ns += static_cast<std::int64_t>(wanted * grant);
      job.sample.delay_ns += static_cast<std::int64_t>(wanted * (1 - grant));
      job.sample.loop_count = job.sample.run_ns / options_.loop_ns;
      if (counts) job.work += wanted * grant;
      if ((now_ns_ / step_ns) % 2 == 0) decide(job, demands, worker);
      ++worker;
    }
    if (!counts) return;
    const double cpus = options_.cpus;
    over_ += std::max(0.0, threads - cpus) / cpus;
    idle_ += std::max(0.0, cpus - threads) / cpus;
    ++steps_;
  }

  void decide(Job& job, const std::vector<std::uint32_t>& demands, std::size_t worker) {
    job.sample.now_ns = now_ns_;
    job.sample.cpus = options_.cpus;
    job.sample.fair_share =
        options_.are_peers ? fair_share(options_.cpus, demands, worker) : options_.cpus;
    job.sample.process_count = options_.are_peers ? static_cast<std::uint32_t>(demands.size()) : 1;
    job.sample.do_peers_keep = std::all_of(jobs_.begin(), jobs_.end(), [this](const Job& other) {
      return !is_alive(other) || other.governor.is_coarse();
    });
    job.governor.update(job.sample);
  }

  const MachineOptions options_;
  std::vector<Job> jobs_;
  std::int64_t now_ns_ = 0;
  double over_ = 0;
  double idle_ = 0;
  double steps_ = 0;
};

}  // namespace sorrel::governor
