// Loans: computations of fibers run on idle workers, their calls on their own worker only.
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <gtest/gtest.h>
#include <memory>
#include <vector>

#include "arch/cpu.hpp"
#include "base/prng.hpp"
#include "core/completion.hpp"
#include "os/clock.hpp"
#include "unit/core/fiber_run.hpp"
#include "unit/core/four_nodes.hpp"

namespace sorrel::core {
namespace {

constexpr std::int64_t long_ns = 300'000;
/// The call sites of the tests' library.
const std::array<char, 4> sites{};

void compute(std::int64_t duration_ns) {
  const std::int64_t end_ns = os::monotonic_ns() + duration_ns;
  while (os::monotonic_ns() < end_ns)
    arch::pause();
}

// Compilers keep the address of errno across calls. Programs whose ranks are lent have a control
// block for each rank (runtime/program_driver); fibers of this test have none.
[[gnu::noinline]] void set_errno(int value) {
  errno = value;
}

[[gnu::noinline]] int get_errno() {
  return errno;
}

/// The part of a library that a fiber calls: the user of a fiber is this object.
class Rank {
 public:
  explicit Rank(Worker& home) : home_(home), thread_(home.thread_number()) {}

  /// A call that lets other fibers run. Counts whether the computation before it was lent.
  void call(int site = 0) {
    was_lent_ = Worker::current() != &home_;
    lent_count_ += was_lent_ ? 1 : 0;
    ASSERT_EQ(Worker::current_user(), this);
    ASSERT_EQ(Worker::current(), &home_);
    ASSERT_EQ(&home_.running(), fiber);
    ASSERT_EQ(fiber->state, FiberState::running);
    home_.yield();
    ASSERT_EQ(Worker::current(), &home_);
    if (are_loans_sought()) home_.begin_burst(burst_, &sites[static_cast<std::size_t>(site)]);
  }

  [[nodiscard]] int lent_count() const { return lent_count_; }

  [[nodiscard]] bool was_lent() const { return was_lent_; }

  Fiber* fiber = nullptr;

 private:
  Worker& home_;
  const int thread_;
  std::unique_ptr<Burst> burst_;
  int lent_count_ = 0;
  bool was_lent_ = false;
};

SchedulerOptions lending(std::uint32_t worker_count) {
  SchedulerOptions options{.worker_count = worker_count, .limits = {}, .cpus = {}};
  options.lends_fibers = true;
  return options;
}

/// Ranks on worker 0 of a scheduler that lends; the other workers are idle.
class RanksOfOneWorker : public testing::Test {
 protected:
  template <class Body>
  void add(FiberRun& run, std::uint32_t worker, Body body) {
    const std::size_t index = fibers_.size();
    fibers_.push_back(nullptr);
    fibers_[index] = &run.add(worker, [this, index, body](Worker& home) {
      Rank rank(home);
      rank.fiber = fibers_[index];
      rank.fiber->user = &rank;
      body(rank);
      // The end of a fiber is a call.
      ASSERT_EQ(Worker::current_user(), &rank);
      total_lent_ += rank.lent_count();
      rank.fiber->user = nullptr;
    });
  }

  /// Six ranks of the worker, each with so many computations at least. Threads of idle workers may
  /// be late on a busy machine: the ranks go on until one of them has been lent, for 40 s at most.
  void compute_until_lent(FiberRun& run, std::uint32_t worker, int round_count) {
    const std::int64_t end_ns = os::monotonic_ns() + 40'000'000'000;
    for (int i = 0; i < 6; ++i) {
      add(run, worker, [this, round_count, end_ns](Rank& rank) {
        for (int round = 0;
             round < round_count || (!has_lent_.load() && os::monotonic_ns() < end_ns); ++round) {
          compute(long_ns);
          rank.call();
          if (rank.was_lent()) has_lent_.store(true);
        }
      });
    }
  }

  std::vector<Fiber*> fibers_;
  std::atomic<int> total_lent_{0};
  std::atomic<bool> has_lent_{false};
};

TEST_F(RanksOfOneWorker, ComputeOnIdleWorkersAndCallAtHome) {
  FiberRun run(lending(3));
  compute_until_lent(run, 0, 40);
  run.run();
  EXPECT_GT(total_lent_.load(), 0);
  // A fiber may be lent once more, to its end.
  EXPECT_GE(run.scheduler().loan_counts().loans, static_cast<std::uint64_t>(total_lent_.load()));
}

TEST_F(RanksOfOneWorker, ComputeOnIdleWorkersOfSeveralMemoryNodes) {
  SchedulerOptions options = lending(8);
  options.cpus = {0, 1, 2, 3, 4, 5, 6, 7};
  options.may_move = true;
  options.memory_nodes = four_nodes();
  FiberRun run(options);
  ASSERT_TRUE(run.scheduler().nodes().are_several());
  compute_until_lent(run, 5, 20);
  run.run();
  EXPECT_GT(total_lent_.load(), 0);
}

TEST_F(RanksOfOneWorker, AreNotLentWithoutTheOption) {
  FiberRun run(2);
  for (int i = 0; i < 4; ++i) {
    add(run, 0, [](Rank& rank) {
      for (int round = 0; round < 20; ++round) {
        compute(long_ns);
        rank.call();
      }
    });
  }
  run.run();
  EXPECT_EQ(total_lent_.load(), 0);
}

TEST_F(RanksOfOneWorker, AreNotLentForShortComputations) {
  FiberRun run(lending(2));
  for (int i = 0; i < 4; ++i) {
    add(run, 0, [](Rank& rank) {
      for (int round = 0; round < 20'000; ++round)
        rank.call();
    });
  }
  run.run();
  // A preemption may make a computation look long.
  EXPECT_LT(total_lent_.load(), 2'000);
}

TEST_F(RanksOfOneWorker, KeepTheirErrnoAndExceptions) {
  FiberRun run(lending(3));
  for (int i = 0; i < 6; ++i) {
    add(run, 0, [i](Rank& rank) {
      for (int round = 0; round < 30; ++round) {
        set_errno(1000 + i);
        try {
          throw i;
        } catch (int caught) {
          compute(long_ns);
          rank.call();
          compute(long_ns);
          EXPECT_EQ(caught, i);
          try {
            throw;
          } catch (int again) {
            EXPECT_EQ(again, i);
          }
        }
        EXPECT_EQ(get_errno(), 1000 + i);
        rank.call();
      }
    });
  }
  run.run();
}

TEST_F(RanksOfOneWorker, AreSeenByPeekWhereTheyCompute) {
  FiberRun run(lending(2));
  std::atomic<int> seen{0};
  for (int i = 0; i < 4; ++i) {
    add(run, 0, [&](Rank& rank) {
      for (int round = 0; round < 40; ++round) {
        compute(long_ns);
        EXPECT_EQ(Worker::peek_user(), &rank);
        // It has no effect.
        if (Worker::current() != rank.fiber->worker) {
          EXPECT_EQ(rank.fiber->state, FiberState::lent);
          EXPECT_EQ(Worker::current()->borrowed(), rank.fiber);
          ++seen;
        }
        rank.call();
      }
    });
  }
  run.run();
  EXPECT_EQ(seen.load(), total_lent_.load());
}

TEST_F(RanksOfOneWorker, AreNotLentWhilePinned) {
  FiberRun run(lending(2));
  for (int i = 0; i < 4; ++i) {
    add(run, 0, [](Rank& rank) {
      for (int round = 0; round < 40; ++round) {
        {
          const PinnedFiber pinned;
          rank.call(1);
          compute(long_ns);
          EXPECT_EQ(Worker::current(), rank.fiber->worker);
          rank.call(1);
          EXPECT_FALSE(rank.was_lent());
        }
        compute(long_ns);
        rank.call();
      }
    });
  }
  run.run();
}

TEST_F(RanksOfOneWorker, AreServedWhenTheirWorkerNeverWaits) {
  FiberRun run(lending(2));
  std::atomic<int> left{3};
  // Polls without an end for what the others do.
  add(run, 0, [&](Rank& rank) {
    while (left.load() != 0)
      rank.call(2);
  });
  for (int i = 0; i < 3; ++i) {
    add(run, 0, [&](Rank& rank) {
      for (int round = 0; round < 20; ++round) {
        compute(long_ns);
        rank.call();
      }
      --left;
    });
  }
  run.run();
}

TEST_F(RanksOfOneWorker, MayEndWhileTheyAreLent) {
  FiberRun run(lending(3));
  for (int i = 0; i < 60; ++i) {
    add(run, 0, [i](Rank& rank) {
      for (int round = 0; round < 3 + i % 3; ++round) {
        compute(long_ns);
        rank.call();
      }
      compute(long_ns);
    });
  }
  run.run();
}

TEST_F(RanksOfOneWorker, AreLentWhileThreadsComeAndGo) {
  FiberRun run(lending(4));
  std::atomic<int> left{8};
  for (std::uint32_t i = 0; i < 8; ++i) {
    add(run, i % 2, [&](Rank& rank) {
      for (int round = 0; round < 40; ++round) {
        compute(long_ns / 3);
        rank.call();
      }
      --left;
    });
  }
  add(run, 3, [&](Rank& rank) {
    Prng random(7);
    while (left.load() != 0) {
      run.scheduler().set_width(static_cast<std::uint32_t>(1 + random.below(4)));
      rank.fiber->worker->sleep(500'000);
    }
  });
  run.run();
}

/// Fibers of all workers pass messages and compute for random times: nothing is lost, no worker is
/// taken for idle, and every call runs on the own worker.
TEST_F(RanksOfOneWorker, SurviveRandomTraffic) {
  constexpr std::uint32_t worker_count = 4;
  constexpr std::uint32_t rank_count = 24;
  constexpr int round_count = 150;
  Prng seeds(test_seed());
  FiberRun run(lending(worker_count));

  struct Ball : RemoteCall {
    Completion* has_come = nullptr;
  };

  struct Seat {
    Ball ball;
    Completion has_come;
  };

  std::array<Seat, rank_count> seats;
  const auto worker_of = [](std::uint32_t rank) { return rank * rank % worker_count; };
  for (std::uint32_t i = 0; i < rank_count; ++i) {
    seats[i].ball.run = [](Worker& worker, RemoteCall& call) {
      static_cast<Ball&>(call).has_come->complete(worker);
    };
    seats[i].ball.has_come = &seats[(i + 1) % rank_count].has_come;
  }
  for (std::uint32_t i = 0; i < rank_count; ++i) {
    const std::uint64_t seed = seeds.next();
    add(run, worker_of(i), [&, i, seed](Rank& rank) {
      Prng random(seed);
      Worker& home = *rank.fiber->worker;
      const auto pass = [&] {
        Seat& seat = seats[i];
        const std::uint32_t next = (i + 1) % rank_count;
        if (worker_of(next) == home.index()) {
          seat.ball.has_come->complete(home);
        } else {
          home.post(run.worker(worker_of(next)), seat.ball);
        }
      };
      for (int round = 0; round < round_count; ++round) {
        if (random.below(3) == 0) compute(static_cast<std::int64_t>(random.below(200'000)));
        rank.call(static_cast<int>(random.below(4)));
        // As at the begin of a call.
        ASSERT_EQ(Worker::current_user(), &rank);
        if (i != 0 || round != 0) {
          seats[i].has_come.wait(home);
          seats[i].has_come.reset();
        }
        pass();
      }
      if (i == 0) {
        seats[0].has_come.wait(home);
        seats[0].has_come.reset();
      }
    });
  }
  run.run();
}

}  // namespace
}  // namespace sorrel::core
