#include "core/guest.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <gtest/gtest.h>
#include <memory>
#include <thread>
#include <vector>

#include "core/completion.hpp"
#include "core/fiber_thread.hpp"
#include "unit/core/fiber_run.hpp"

namespace sorrel::core {
namespace {

void do_nothing(void* /*argument*/) {}

/// What several threads of one owner share; only holders of the worker's seat access it.
struct Owner {
  std::int32_t waiting_count = 0;
  std::int64_t sum = 0;
};

/// A call as a guest of a thread that is no worker's.
template <class Body>
void call_as_guest(Worker& worker, Owner& owner, Body&& body) {
  Fiber fiber;
  Guest guest(worker, fiber, owner.waiting_count);
  guest.enter();
  body();
  guest.leave();
}

/// The calling fiber has moved out, until the end of the scope.
class Stay {
 public:
  explicit Stay(Owner& owner) {
    EXPECT_TRUE(FiberThread::move_out(owner.waiting_count, do_nothing, nullptr));
  }

  ~Stay() { FiberThread::move_back(); }
};

TEST(GuestTest, AMovedFiberAndItsThreadsExcludeEachOther) {
  FiberRun run(1);
  Owner owner;
  constexpr int thread_count = 4;
  constexpr int call_count = 2000;
  run.add(0, [&](Worker& worker) {
    const Stay stay(owner);
    EXPECT_EQ(Worker::current(), nullptr);
    std::vector<std::jthread> threads;
    for (int i = 0; i < thread_count; ++i) {
      threads.emplace_back([&] {
        for (int call = 0; call < call_count; ++call) {
          call_as_guest(worker, owner, [&] {
            EXPECT_EQ(Worker::current(), &worker);
            ++owner.sum;
          });
        }
      });
    }
    threads.clear();
    Guest::current()->enter();
    EXPECT_EQ(owner.sum, thread_count * call_count);
    Guest::current()->leave();
  });
  run.run();
}

TEST(GuestTest, AGuestThatWaitsBlocksItselfOnly) {
  FiberRun run(1);
  Owner owner;
  run.add(0, [&](Worker& worker) {
    const Stay stay(owner);
    Completion first;
    Completion second;
    std::jthread waiter([&] {
      call_as_guest(worker, owner, [&] {
        first.wait(worker);
        second.complete(worker);
      });
    });
    std::jthread completer([&] {
      for (bool is_waiting = false; !is_waiting;) {
        call_as_guest(worker, owner, [&] { is_waiting = owner.waiting_count == 2; });
        std::this_thread::yield();
      }
      call_as_guest(worker, owner, [&] { first.complete(worker); });
    });
    Guest::current()->enter();
    second.wait(worker);
    EXPECT_TRUE(first.is_done());
    Guest::current()->leave();
    waiter.join();
    completer.join();
    EXPECT_EQ(owner.waiting_count, 0);
  });
  run.run();
}

/// A stop that nothing comes of.
class NoAction : public StopAction {
  void on_stopped() override {}

  void on_resumed(Worker& /*requester*/) override {}
};

/// The worker whose threads were guests has arrived at the stop, on a thread that runs another
/// worker, too. The third worker arrives when it has run the last fiber.
TEST(GuestTest, AJobEndsWhileAStopHoldsAWorker) {
  FiberRun run(3);
  Owner owner;
  NoAction action;
  std::atomic<bool> is_back{false};
  run.worker_start = [](Worker& worker) {
    if (worker.index() == 0) worker.scheduler().set_width(2);
  };
  run.add(0, [&](Worker&) {
    {
      const Stay stay(owner);
    }
    is_back = true;
  });
  run.add(2, [&](Worker& worker) {
    while (!is_back)
      worker.yield();
    EXPECT_TRUE(run.scheduler().request_stop(worker, action));
    // Time for the other thread to arrive.
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  });
  run.run();
}

/// A completion of one worker that another worker ends.
struct News : RemoteCall {
  Completion arrived;

  News() {
    run = [](Worker& worker, RemoteCall& call) {
      static_cast<News&>(call).arrived.complete(worker);
    };
  }
};

TEST(GuestTest, GuestsFibersAndWorkersWakeEachOther) {
  constexpr int round_count = 300;
  FiberRun run(2);
  Owner owner;
  std::vector<News> to_guest(round_count);
  std::vector<News> to_fiber(round_count);
  std::atomic<Worker*> guests_worker{nullptr};
  std::vector<Completion> within(round_count);
  run.add(0, [&](Worker& worker) {
    guests_worker.store(&worker);
    const Stay stay(owner);
    std::jthread other([&] {
      for (int i = 0; i < round_count; ++i)
        call_as_guest(worker, owner, [&] { within[static_cast<std::size_t>(i)].complete(worker); });
    });
    Guest& guest = *Guest::current();
    for (std::size_t i = 0; i < round_count; ++i) {
      guest.enter();
      worker.post(worker.scheduler().worker(1), to_fiber[i]);
      to_guest[i].arrived.wait(worker);
      within[i].wait(worker);
      guest.leave();
    }
    other.join();
  });
  // A fiber of the same worker that computes in between, and sleeps.
  run.add(0, [&](Worker& worker) {
    for (int i = 0; i < 20; ++i) {
      for (volatile int k = 0; k < 2000;) {
        k = k + 1;
      }
      worker.yield();
      if (i % 5 == 0) worker.sleep(100'000);
    }
  });
  run.add(1, [&](Worker& worker) {
    for (std::size_t i = 0; i < round_count; ++i) {
      to_fiber[i].arrived.wait(worker);
      worker.post(*guests_worker.load(), to_guest[i]);
    }
  });
  run.run();
}

TEST(GuestTest, TheWidthChangesBesideGuests) {
  FiberRun run(3);
  Owner owners[3];
  for (std::uint32_t i = 0; i < 3; ++i) {
    run.add(i, [&, i](Worker& worker) {
      Owner& owner = owners[i];
      const Stay stay(owner);
      std::jthread other([&] {
        for (int call = 0; call < 500; ++call)
          call_as_guest(worker, owner, [&] { worker.yield(); });
      });
      if (i == 0) {
        for (int change = 0; change < 60; ++change) {
          worker.scheduler().set_width(static_cast<std::uint32_t>(change % 3 + 1));
          std::this_thread::yield();
        }
      }
      other.join();
    });
  }
  run.run();
}

TEST(GuestTest, ARequestThatAGuestHasPolledMakesTheWorkerMigrate) {
  FiberRun run(2);
  Owner owner;
  std::atomic<bool> is_requested{false};
  run.add(1, [&](Worker& worker) {
    const Stay stay(owner);
    Guest& guest = *Guest::current();
    guest.enter();
    // The worker's thread is outside of its fibers, and now sleeps for the seat.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    worker.scheduler().set_width(1);
    worker.poll();
    guest.leave();
    is_requested.store(true);
  });
  bool has_migrated = false;
  // It is always ready, so the worker's thread does not sleep in its fibers.
  run.add(1, [&](Worker& worker) {
    const int thread = worker.thread_number();
    constexpr auto limit = std::chrono::seconds(120);
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!has_migrated && (!is_requested.load() || std::chrono::steady_clock::now() < end)) {
      worker.yield();
      has_migrated = worker.thread_number() != thread;
    }
  });
  run.run();
  EXPECT_TRUE(has_migrated);
}

}  // namespace
}  // namespace sorrel::core
