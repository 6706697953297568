// Which thread progresses a graph's messages, and in what order with tasks: recorded by a test
// messenger.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <gtest/gtest.h>
#include <memory>
#include <mpi.h>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sorrel/graph.hpp>
#include <sorrel/graph/over_mpi.hpp>

#include "unit/runtime/rank_run.hpp"

namespace sorrel::graph {
namespace {

constexpr Index steps = 5;
constexpr Index laps = 3;
// Far longer than any machine needs, so that a test that fails ends.
constexpr std::chrono::seconds patience{60};

/// The events that a rank's messenger and tasks have recorded.
struct Notes {
  // The owner only, and tasks that it runs.
  std::string order;
  // Any thread.
  std::atomic<Index> ended{0};
  std::mutex lock;
  std::set<std::thread::id> of_messages;
  std::set<std::thread::id> of_tasks;
};

class NotedMessenger final : public Messenger {
 public:
  NotedMessenger(std::unique_ptr<Messenger> messenger, Notes& notes)
      : messenger_(std::move(messenger)), notes_(notes) {}

  [[nodiscard]] int peer_count() const override { return messenger_->peer_count(); }

  int add(Direction direction, const Message& message, int queue) override {
    return messenger_->add(direction, message, queue);
  }

  void start(int channel) override {
    notes_.order += 'm';
    note_thread();
    messenger_->start(channel);
  }

  int poll(std::span<int> ended) override { return noted(messenger_->poll(ended)); }

  int wait(std::span<int> ended) override { return noted(messenger_->wait(ended)); }

  void clear() override { messenger_->clear(); }

 private:
  int noted(int count) {
    note_thread();
    notes_.ended += count;
    return count;
  }

  void note_thread() {
    const std::scoped_lock hold(notes_.lock);
    notes_.of_messages.insert(std::this_thread::get_id());
  }

  std::unique_ptr<Messenger> messenger_;
  Notes& notes_;
};

using Bytes = std::array<std::byte, laps>;

/// A message circulates through all ranks, `laps` times a step, from its receive to the next send.
void add_relay(Graph& g, int rank, Bytes& bytes) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto message_with = [&bytes](int peer) {
    return [&bytes, peer](const Key& key, int /*slot*/) {
      const auto lap = static_cast<std::size_t>(key[0]);
      return Message{peer, static_cast<int>(lap), std::span(bytes).subspan(lap, 1), {}};
    };
  };
  auto receive = g.receive("receive", {laps}, message_with((rank + ranks - 1) % ranks));
  auto send = g.send("send", {laps}, message_with((rank + 1) % ranks));
  // Rank 0 begins each lap when the one before has ended.
  send.after(receive, rank == 0 ? offset(-1) : same_tile);
}

// Goal: with a communication worker, messages that depend on messages wait for no task of any rank,
// from one step to the next. Method: there is one worker for tasks, and a task of rank 0 occupies
// it until all messages of rank 0 in this step have passed through the other ranks.
TEST(MessageOrder, WorkerForMessagesNeedsNobodyForThem) {
  constexpr int ranks = 3;
  std::array<Notes, ranks> notes;
  std::atomic<int> waited_in_vain{0};
  runtime::Config config = test::config_of({ranks, 2});
  config.has_comm_worker = true;
  const auto run_rank = [&](int rank) {
    MPI_Init(nullptr, nullptr);
    Notes& own = notes[static_cast<std::size_t>(rank)];
    {
      Bytes bytes{};
      Graph g(std::make_unique<NotedMessenger>(over_mpi(MPI_COMM_WORLD), own));
      const auto wait_for_messages = [&](const Task& task) {
        {
          const std::scoped_lock hold(own.lock);
          own.of_tasks.insert(std::this_thread::get_id());
        }
        const auto until = std::chrono::steady_clock::now() + patience;
        while (own.ended < (task.step + 1) * 2 * laps) {
          if (std::chrono::steady_clock::now() > until) {
            ++waited_in_vain;
            return;
          }
          std::this_thread::yield();
        }
      };
      if (rank == 0) g.family("work", {2}).body(wait_for_messages);
      add_relay(g, rank, bytes);
      g.run({.steps = steps});
    }
    MPI_Finalize();
    return 0;
  };
  EXPECT_EQ(runtime::run_embedded(config, run_rank), 0);
  EXPECT_EQ(waited_in_vain, 0);
  for (const Notes& own : notes) {
    EXPECT_EQ(own.of_messages, notes[0].of_messages);
    EXPECT_EQ(own.of_messages.size(), 1U);
  }
  EXPECT_EQ(notes[0].of_tasks.size(), 1U);
  EXPECT_NE(notes[0].of_tasks, notes[0].of_messages);
}

// Goal: messages of a step leave before its tasks compute, though the tasks were declared first.
// Method: one worker, so that the order is the owner's.
TEST(MessageOrder, StepBeginsWithItsMessages) {
  std::array<Notes, 2> notes;
  const auto run_rank = [&](int rank) {
    Notes& own = notes[static_cast<std::size_t>(rank)];
    Graph g(std::make_unique<NotedMessenger>(over_mpi(MPI_COMM_WORLD), own));
    std::array<std::byte, 2> bytes{};
    g.family("work", {3}).body([&] { own.order += 't'; });
    g.send("send", {1},
           [&](const Key&, int) { return Message{1 - rank, 0, std::span(bytes).first(1), {}}; });
    g.receive("receive", {1},
              [&](const Key&, int) { return Message{1 - rank, 0, std::span(bytes).last(1), {}}; });
    g.run({.steps = steps});
  };
  EXPECT_EQ(test::run_ranks({2, 1}, run_rank), 0);
  std::string right;
  for (Index step = 0; step < steps; ++step)
    right += "mmttt";
  EXPECT_EQ(notes[0].order, right);
  EXPECT_EQ(notes[1].order, right);
}

/// Sends whose messages end at once; counts how each was started.
class CountingMessenger final : public Messenger {
 public:
  CountingMessenger(std::vector<int>& awaited, std::vector<int>& unawaited)
      : awaited_(awaited), unawaited_(unawaited) {}

  int add(Direction /*direction*/, const Message& message, int /*parity*/) override {
    tags_.push_back(message.tag);
    return static_cast<int>(tags_.size()) - 1;
  }

  void start(int channel) override { start_in(awaited_, channel); }

  void start_unawaited(int channel) override { start_in(unawaited_, channel); }

  int poll(std::span<int> ended) override {
    std::copy(begun_.begin(), begun_.end(), ended.begin());
    return static_cast<int>(std::exchange(begun_, {}).size());
  }

  int wait(std::span<int> ended) override { return poll(ended); }

  void clear() override { begun_.clear(); }

 private:
  void start_in(std::vector<int>& tags, int channel) {
    tags.push_back(tags_[static_cast<std::size_t>(channel)]);
    begun_.push_back(channel);
  }

  std::vector<int>& awaited_;
  std::vector<int>& unawaited_;
  std::vector<int> tags_;
  std::vector<int> begun_;
};

TEST(MessageOrder, OnlySendsOfTheLastStepWithoutSuccessorAreUnawaited) {
  std::vector<int> awaited, unawaited;
  Graph g(std::make_unique<CountingMessenger>(awaited, unawaited));
  std::byte byte{};
  const auto message_with = [&byte](int tag) {
    return [&byte, tag](const Key& /*key*/, int /*slot*/) {
      return Message{0, tag, std::span(&byte, 1), {}};
    };
  };
  auto make = g.family("make", {1}).body([] {});
  auto loose = g.send("loose", {1}, message_with(1));
  auto kept = g.send("kept", {1}, message_with(2));
  auto use = g.family("use", {1}).body([] {});
  loose.after(make);
  kept.after(make);
  use.after(kept);
  for (const int last : {1, 2}) {
    awaited.clear(), unawaited.clear();
    g.run({.steps = last});
    std::sort(awaited.begin(), awaited.end());
    EXPECT_EQ(awaited, last == 1 ? std::vector({2}) : std::vector({1, 2, 2}));
    EXPECT_EQ(unawaited, std::vector({1})) << "in the last step";
  }
}

}  // namespace
}  // namespace sorrel::graph
