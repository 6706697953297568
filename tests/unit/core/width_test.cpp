// Fewer threads than workers: nothing is lost, nothing runs twice, and only so many threads run.
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <unistd.h>
#include <vector>

#include "base/prng.hpp"
#include "core/completion.hpp"
#include "core/cycle_clock.hpp"
#include "core/thread_block.hpp"
#include "os/sched_stat.hpp"
#include "trace/record_code.hpp"
#include "unit/base/temporary_folder.hpp"
#include "unit/core/fiber_run.hpp"

namespace sorrel::core {
namespace {

constexpr std::uint32_t worker_count = 5;

/// Fibers, one on each worker, that pass a ball around in a ring of workers by notices.
class Ring {
 public:
  Ring(FiberRun& run, std::uint32_t rounds) : run_(run), rounds_(rounds) {
    for (std::uint32_t i = 0; i < worker_count; ++i) {
      seats_[i].next = &seats_[(i + 1) % worker_count];
      seats_[i].ball.run = [](Worker& worker, RemoteCall& call) {
        EXPECT_EQ(Worker::current(), &worker);
        static_cast<Ball&>(call).owner->has_ball.complete(worker);
      };
      seats_[i].ball.owner = seats_[i].next;
      run.add(i, [this, i](Worker& worker) { play(worker, i); });
    }
  }

 private:
  struct Seat;

  struct Ball : RemoteCall {
    Seat* owner = nullptr;
  };

  struct Seat {
    Seat* next = nullptr;
    Ball ball;
    Completion has_ball;
  };

  void play(Worker& worker, std::uint32_t index) {
    Seat& seat = seats_[index];
    for (std::uint32_t round = 0; round < rounds_; ++round) {
      if (index != 0 || round != 0) {
        seat.has_ball.wait(worker);
        seat.has_ball.reset();
      }
      if (round % 50 == 49) worker.sleep(1000);
      const bool is_last = round + 1 == rounds_ && index + 1 == worker_count;
      if (!is_last) worker.post(run_.worker((index + 1) % worker_count), seat.ball);
    }
  }

  FiberRun& run_;
  const std::uint32_t rounds_;
  std::array<Seat, worker_count> seats_;
};

/// Fibers that see whether their worker is ever run by two threads at a time.
class Watchers {
 public:
  explicit Watchers(FiberRun& run) {
    for (std::uint32_t i = 0; i < worker_count; ++i) {
      for (int j = 0; j < 3; ++j) {
        run.add(i, [this, i](Worker& worker) {
          EXPECT_EQ(Worker::current(), &worker);
          while (!is_over.load(std::memory_order_relaxed)) {
            if (inside_[i].exchange(true, std::memory_order_relaxed)) ++collision_count;
            ++steps_[i];
            inside_[i].store(false, std::memory_order_relaxed);
            worker.yield();
          }
        });
      }
    }
  }

  std::atomic<bool> is_over{false};
  std::atomic<int> collision_count{0};

 private:
  std::array<std::atomic<bool>, worker_count> inside_{};
  // Not atomic: the thread sanitizer sees whether handing over orders them.
  std::array<long, worker_count> steps_{};
};

/// The threads that fibers have found below them, one of each worker. By their numbers: compilers
/// take the result of std::this_thread::get_id() for one that never changes in a function.
class SeenThreads {
 public:
  /// In a fiber, which lets its worker change its thread.
  void look(Worker& worker) {
    worker.sleep(100'000);
    const std::scoped_lock lock(mutex_);
    of_workers_.at(worker.index()) = gettid();
  }

  /// How many there are, once all workers have one.
  [[nodiscard]] std::size_t count() const {
    const std::scoped_lock lock(mutex_);
    const std::set<pid_t> threads(of_workers_.begin(), of_workers_.end());
    return threads.contains(0) ? 0 : threads.size();
  }

 private:
  mutable std::mutex mutex_;
  std::array<pid_t, worker_count> of_workers_{};
};

TEST(WidthTest, WorkersAreInContiguousBlocksAndEveryThreadHasSome) {
  for (std::uint32_t workers = 1; workers < 40; ++workers) {
    for (std::uint32_t width = 1; width <= workers; ++width) {
      std::vector<std::uint32_t> counts(width);
      std::uint32_t before = 0;
      for (std::uint32_t i = 0; i < workers; ++i) {
        const std::uint32_t thread = WorkerThread::thread_of(i, workers, width);
        ASSERT_LT(thread, width);
        ASSERT_GE(thread, before);
        before = thread;
        ++counts[thread];
      }
      const auto [least, most] = std::ranges::minmax(counts);
      EXPECT_GE(least, 1U);
      EXPECT_LE(most - least, 1U);
    }
  }
}

TEST(WidthTest, OneThreadRunsAllWorkers) {
  FiberRun run(worker_count);
  std::mutex mutex;
  std::set<pid_t> late_threads;
  SeenThreads seen;
  Ring ring(run, 400);
  run.add(2, [&](Worker&) { run.scheduler().set_width(1); });
  for (std::uint32_t i = 0; i < worker_count; ++i) {
    run.add(i, [&](Worker& worker) {
      // Each worker changes over when its fibers wait next; until then this loop does not end.
      while (seen.count() != 1)
        seen.look(worker);
      for (int step = 0; step < 100; ++step) {
        worker.sleep(10'000);
        const std::scoped_lock lock(mutex);
        late_threads.insert(gettid());
      }
    });
  }
  run.run();
  EXPECT_EQ(late_threads.size(), 1U);
}

/// What a worker has recorded, in order.
std::vector<trace::Record> records_in(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<trace::Record> records;
  trace::RecordDecoder decoder;
  for (std::span<const std::byte> left = std::as_bytes(std::span(text)); !left.empty();) {
    trace::Record record;
    std::size_t count = decoder.decode(left, record);
    EXPECT_NE(count, 0U);
    if (count == 0) break;
    if (record.kind() == trace::Kind::text) count += record.first;
    left = left.subspan(count);
    records.push_back(record);
  }
  return records;
}

TEST(WidthTest, ATraceHasTheTimeWithoutAThread) {
  constexpr std::int64_t sleep_ns = 30'000'000;
  const TemporaryFolder temporary;
  const std::string folder = temporary.path();
  std::atomic_flag has_reported;
  {
    FiberRun run(2);
    trace::Tracer first(folder, {.process = 0, .worker = 0}, trace::job_bytes_max, has_reported);
    trace::Tracer second(folder, {.process = 0, .worker = 1}, trace::job_bytes_max, has_reported);
    run.worker(0).set_tracer(&first);
    run.worker(1).set_tracer(&second);
    run.add(0, [](Worker& worker) { worker.sleep(2 * sleep_ns); });
    // Its worker goes to the other thread when it sleeps, unless the sleep ends before that.
    run.add(1, [&](Worker& worker) {
      const pid_t before = gettid();
      run.scheduler().set_width(1);
      while (gettid() == before)
        worker.sleep(sleep_ns);
    });
    run.run();
  }
  std::uint64_t longest = 0;
  std::uint64_t before = 0;
  std::set<std::uint32_t> threads;
  const CycleClock clock;
  for (const trace::Record& record : records_in(folder + "/0-1.part")) {
    const std::uint64_t time = record.time_and_kind >> trace::Record::kind_bits;
    if (record.kind() == trace::Kind::resume) longest = std::max(longest, time - before);
    if (record.kind() < trace::Kind::park) before = time;
    if (record.kind() == trace::Kind::thread)
      threads.insert(trace::ThreadRecord::of(record).number);
  }
  EXPECT_GT(longest, clock.cycles_in(sleep_ns / 2));
  // Two threads have had it, if the kernel accounts for threads.
  const bool is_accounted = os::SchedStat(os::thread_number()).read().has_value();
  EXPECT_EQ(threads.size(), is_accounted ? 2U : 0U);
}

TEST(WidthTest, AllThreadsRunAgainWhenTheWidthIsBack) {
  FiberRun run(worker_count);
  SeenThreads seen;
  std::atomic<bool> is_back{false};
  run.add(0, [&](Worker& worker) {
    run.scheduler().set_width(2);
    while (seen.count() != 2)
      worker.sleep(100'000);
    run.scheduler().set_width(worker_count);
    is_back.store(true);
  });
  for (std::uint32_t i = 0; i < worker_count; ++i) {
    run.add(i, [&](Worker& worker) {
      while (!is_back.load() || seen.count() != worker_count)
        seen.look(worker);
    });
  }
  run.run();
  EXPECT_EQ(seen.count(), worker_count);
}

/// The statement is for compilers, which take the address for one that never changes.
[[gnu::noinline]] int* address_of_errno() {
  asm volatile("" ::: "memory");
  return &errno;
}

TEST(WidthTest, FibersKeepTheAddressAndTheValueOfErrnoOnOtherThreads) {
  if (!are_blocks_exchanged) GTEST_SKIP() << "sanitizers: each thread keeps its block";
  FiberRun run(worker_count);
  SeenThreads seen;
  std::set<int*> addresses;
  std::mutex mutex;
  run.add(1, [&](Worker& worker) {
    for (const std::uint32_t width : {1U, 2U, worker_count, 3U, worker_count}) {
      run.scheduler().set_width(width);
      for (int turn = 0; turn < 20; ++turn)
        worker.sleep(100'000);
    }
    run.scheduler().set_width(1);
  });
  for (std::uint32_t i = 0; i < worker_count; ++i) {
    run.add(i, [&, i](Worker& worker) {
      int* const address = address_of_errno();
      {
        const std::scoped_lock lock(mutex);
        addresses.insert(address);
      }
      const int own = 1000 + static_cast<int>(i);
      *address = own;
      while (seen.count() != 1) {
        seen.look(worker);
        ASSERT_EQ(address_of_errno(), address);
        ASSERT_EQ(*address, own);
      }
    });
  }
  run.run();
  EXPECT_EQ(addresses.size(), worker_count);
}

TEST(WidthTest, EverybodyAsleepIsFoundOutWithFewThreads) {
  for (const std::uint32_t width : {1U, 2U, 4U}) {
    FiberRun run(worker_count);
    std::array<Completion, worker_count> wanted;
    std::atomic<int> told_count{0};
    run.all_asleep = [&](Worker& worker) {
      ++told_count;
      worker.wake();
      struct End : RemoteCall {
        Completion* completion = nullptr;
      };
      static std::array<End, worker_count> ends;
      for (std::uint32_t i = 0; i < worker_count; ++i) {
        ends[i].completion = &wanted[i];
        ends[i].run = [](Worker& receiver, RemoteCall& call) {
          static_cast<End&>(call).completion->complete(receiver);
        };
        if (&run.worker(i) == &worker) {
          wanted[i].complete(worker);
        } else {
          worker.post(run.worker(i), ends[i]);
        }
      }
    };
    for (std::uint32_t i = 0; i < worker_count; ++i) {
      run.add(i, [&, i](Worker& worker) {
        if (i == 0) run.scheduler().set_width(width);
        worker.sleep(5'000'000);
        wanted[i].wait(worker);
      });
    }
    run.run();
    EXPECT_EQ(told_count.load(), 1) << "width " << width;
  }
}

TEST(WidthStressTest, WhateverTheWidthNothingIsLostAndNoWorkerRunsTwice) {
  Prng prng(test_seed());
  for (int repetition = 0; repetition < 5; ++repetition) {
    FiberRun run(worker_count);
    Ring ring(run, 1000);
    Watchers watchers(run);
    const std::uint64_t seed = prng.next();
    run.add(3, [&](Worker& worker) {
      Prng widths(seed);
      for (int i = 0; i < 200; ++i) {
        run.scheduler().set_width(static_cast<std::uint32_t>(widths.below(worker_count)) + 1);
        if (widths.below(2) == 0) worker.sleep(static_cast<std::int64_t>(widths.below(200'000)));
        worker.yield();
      }
      watchers.is_over = true;
    });
    run.run();
    EXPECT_EQ(watchers.collision_count.load(), 0);
  }
}

TEST(WidthStressTest, TheEndComesInTheMiddleOfAChange) {
  Prng prng(test_seed());
  for (int repetition = 0; repetition < 200; ++repetition) {
    FiberRun run(worker_count);
    const std::uint64_t seed = prng.next();
    for (std::uint32_t i = 0; i < worker_count; ++i) {
      run.add(i, [&, i](Worker& worker) {
        Prng widths(seed + i);
        for (int step = 0; step < 5; ++step) {
          run.scheduler().set_width(static_cast<std::uint32_t>(widths.below(worker_count)) + 1);
          worker.yield();
        }
      });
    }
    run.run();
  }
}

}  // namespace
}  // namespace sorrel::core
