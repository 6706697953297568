// Stops: fibers change their worker while all workers are stopped.
#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <vector>

#include "base/prng.hpp"
#include "unit/core/fiber_run.hpp"

namespace sorrel::core {
namespace {

/// Fibers that wait in turn, and one that stops all workers and sends them to others.
class Travel : public StopAction {
 public:
  Travel(std::uint32_t worker_count, int traveller_count, int round_count)
      : run_({.worker_count = worker_count, .limits = {}, .cpus = {}}),
        random_(test_seed()),
        round_count_(round_count),
        travellers_(static_cast<std::size_t>(traveller_count)) {
    for (std::size_t i = 0; i < travellers_.size(); ++i) {
      travellers_[i] = &run_.add(static_cast<std::uint32_t>(i) % worker_count,
                                 [this, i](Worker&) { travel(*travellers_[i]); });
    }
    guide_ = &run_.add(0, [this](Worker& worker) { guide(worker); });
  }

  void run() { run_.run(); }

  [[nodiscard]] int moves() const { return moves_; }

  /// Before each stop, on the guide's worker.
  std::function<void(Scheduler&, Prng&)> before_stop;

 private:
  void travel(const Fiber& self) {
    for (int round = 0; round < round_count_; ++round) {
      // The suspension comes before the next poll of the worker, and so before the stop.
      waiting_.fetch_add(1);
      self.worker->suspend();
      ASSERT_EQ(Worker::current(), self.worker);
      ASSERT_EQ(&self.worker->running(), &self);
    }
  }

  void guide(Worker& worker) {
    const auto all = static_cast<int>(travellers_.size());
    for (int round = 0; round < round_count_; ++round) {
      while (waiting_.load() != all)
        worker.yield();
      waiting_.store(0);
      for (was_stopped_ = false; !was_stopped_;) {
        if (before_stop) before_stop(run_.scheduler(), random_);
        if (run_.scheduler().request_stop(worker, *this)) {
          worker.suspend();
        } else {
          worker.yield();
        }
      }
    }
  }

  void on_stopped() override {
    EXPECT_FALSE(is_acting_.exchange(true));
    for (Fiber* fiber : travellers_) {
      Worker& to =
          run_.worker(static_cast<std::uint32_t>(random_.below(run_.scheduler().worker_count())));
      if (fiber->worker != &to) {
        to.adopt(*fiber);
        ++moves_;
      }
      to.make_ready(*fiber);
    }
    was_stopped_ = true;
    EXPECT_TRUE(is_acting_.exchange(false));
  }

  void on_resumed(Worker& requester) override { requester.make_ready(*guide_); }

  FiberRun run_;
  // Plain: on one worker at a time, or while all are stopped.
  Prng random_;
  const int round_count_;
  std::vector<Fiber*> travellers_;
  Fiber* guide_ = nullptr;
  bool was_stopped_ = false;
  int moves_ = 0;
  std::atomic<int> waiting_{0};
  std::atomic<bool> is_acting_{false};
};

TEST(Stop, LetsFibersChangeTheirWorker) {
  Travel travel(3, 10, 100);
  travel.run();
  EXPECT_GT(travel.moves(), 100);
}

TEST(Stop, OfOneWorkerIsPossible) {
  Travel travel(1, 3, 10);
  travel.run();
  EXPECT_EQ(travel.moves(), 0);
}

TEST(Stop, HoldsWorkersThatShareThreads) {
  for (const std::uint32_t width : {1U, 2U}) {
    Travel travel(4, 8, 50);
    travel.before_stop = [&](Scheduler& scheduler, Prng&) { scheduler.set_width(width); };
    travel.run();
    EXPECT_GT(travel.moves(), 50);
  }
}

TEST(Stop, ComesToAnEndWhileThreadsComeAndGo) {
  Travel travel(4, 12, 60);
  int attempts = 0;
  travel.before_stop = [&](Scheduler& scheduler, Prng& random) {
    if (attempts++ % 3 == 0) scheduler.set_width(1 + static_cast<std::uint32_t>(random.below(4)));
  };
  travel.run();
}

}  // namespace
}  // namespace sorrel::core
