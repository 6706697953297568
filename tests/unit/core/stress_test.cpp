// Everything at once, at random: fibers that send, sleep, yield and wait. In the unit tests for a
// moment; SORREL_STRESS_SECONDS makes it longer (ctest label stress).
#include <cstdint>
#include <cstdlib>
#include <gtest/gtest.h>
#include <memory>
#include <vector>

#include "base/prng.hpp"
#include "core/completion.hpp"
#include "os/clock.hpp"
#include "unit/core/fiber_run.hpp"

namespace sorrel::core {
namespace {

struct Plan {
  std::uint64_t seed;
  std::uint32_t worker_count;
  std::uint32_t fiber_count;
  std::uint32_t mail_count;
  WorkerLimits limits;
};

/// One fiber: sends its mail to random others and waits for all that was sent to it.
struct Player {
  std::uint32_t worker_index = 0;
  std::uint32_t expected_count = 0;
  std::uint32_t received_count = 0;
  Completion received_all;

  struct Mail : RemoteCall {
    Player* to = nullptr;
  };

  std::vector<Mail> mails;

  void receive(Worker& worker) {
    ASSERT_EQ(worker.index(), worker_index);
    if (++received_count == expected_count) received_all.complete(worker);
  }
};

class Game {
 public:
  explicit Game(const Plan& plan) : plan_(plan), players_(plan.fiber_count) {
    Prng prng(plan.seed);
    for (Player& player : players_)
      player.worker_index = static_cast<std::uint32_t>(prng.below(plan.worker_count));
    for (Player& player : players_) {
      player.mails.resize(prng.below(plan.mail_count + 1));
      for (Player::Mail& mail : player.mails) {
        mail.to = &players_[prng.below(players_.size())];
        ++mail.to->expected_count;
        mail.run = [](Worker& worker, RemoteCall& call) {
          static_cast<Player::Mail&>(call).to->receive(worker);
        };
      }
    }
  }

  void play() {
    FiberRun run(plan_.worker_count, plan_.limits);
    for (std::size_t i = 0; i < players_.size(); ++i) {
      run.add(players_[i].worker_index, [this, i, &run](Worker& worker) {
        play_one(run, worker, players_[i], plan_.seed + i);
      });
    }
    run.run();
    for (const Player& player : players_)
      EXPECT_EQ(player.received_count, player.expected_count);
  }

 private:
  static void play_one(FiberRun& run, Worker& worker, Player& player, std::uint64_t seed) {
    Prng prng(seed);
    for (Player::Mail& mail : player.mails) {
      Worker& to = run.worker(mail.to->worker_index);
      if (&to == &worker) {
        mail.to->receive(worker);
      } else {
        worker.post(to, mail);
      }
      switch (prng.below(12)) {
        case 0:
          worker.sleep(static_cast<std::int64_t>(prng.below(20'000)));
          break;
        case 1:
        case 2:
          worker.yield();
          break;
        default:
          break;
      }
    }
    if (player.expected_count != 0) player.received_all.wait(worker);
  }

  Plan plan_;
  std::vector<Player> players_;
};

Plan random_plan(Prng& prng) {
  Plan plan{.seed = prng.next(),
            .worker_count = static_cast<std::uint32_t>(prng.below(6) + 1),
            .fiber_count = static_cast<std::uint32_t>(prng.below(40) + 1),
            .mail_count = static_cast<std::uint32_t>(1U << prng.below(11)),
            .limits = {}};
  if (prng.below(2) == 0) plan.limits.spin_ns_max = static_cast<std::int64_t>(prng.below(3)) * 1000;
  return plan;
}

TEST(StressTest, EveryMailOfEveryFiberArrives) {
  const char* seconds = std::getenv("SORREL_STRESS_SECONDS");
  const std::int64_t duration_ns =
      seconds == nullptr ? 300'000'000 : std::atoll(seconds) * 1'000'000'000;
  Prng prng(test_seed());
  const std::int64_t end_ns = os::monotonic_ns() + duration_ns;
  int game_count = 0;
  // Bounded: the thread sanitizer can tell only so many threads apart in one process.
  for (; os::monotonic_ns() < end_ns && game_count < 2000 && !testing::Test::HasFailure();
       ++game_count)
    Game(random_plan(prng)).play();
  std::cout << game_count << " games\n";
}

TEST(StressTest, SixtyFourWorkersOnFewCores) {
  const Plan plan{.seed = test_seed(),
                  .worker_count = 64,
                  .fiber_count = 192,
                  .mail_count = 40,
                  .limits = {.spin_ns_max = 0}};
  Game(plan).play();
}

TEST(StressTest, FewWorkersWithMoreMailThanMailboxesHold) {
  const Plan plan{
      .seed = test_seed(), .worker_count = 3, .fiber_count = 30, .mail_count = 4000, .limits = {}};
  Game(plan).play();
}

}  // namespace
}  // namespace sorrel::core
