//! InprocTransport - several "processes" inside one test process, each with its scheduler and its
//! world. Packets pass through queues under a lock, with seeded random delays and forced failures.
//!
//! A test double: a timer of the worker polls its queues, so that the core needs no hook.
#pragma once

#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <mpi.h>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/prng.hpp"
#include "core/scheduler.hpp"
#include "mpi/job/process_world.hpp"
#include "mpi/match/rank_state.hpp"
#include "os/clock.hpp"
#include "os/stack_slab.hpp"
#include "transport/transport.hpp"

namespace sorrel::test {

using transport::Endpoint;
using transport::Packet;

struct InprocOptions {
  std::uint64_t seed = 1;
  bool can_pull = true;
  /// 0: all are on one node.
  std::uint32_t processes_per_node = 0;
  std::uint32_t payload_bytes_max = 4096;
  /// Packets in flight between a pair of endpoints before it is full.
  std::size_t capacity = 16;
  /// One in so many sends fails at random; 0: none.
  std::uint32_t refusal_period = 7;
  /// A packet is delayed for up to this long.
  std::int64_t delay_ns_max = 20'000;
  /// Ranks change their worker at random, each process by itself.
  bool is_shuffled = false;
};

/// State that all processes share.
class InprocNetwork {
 public:
  InprocNetwork(std::uint32_t process_count,
                std::uint32_t worker_count,
                const InprocOptions& options)
      : process_count_(process_count),
        worker_count_(worker_count),
        options_(options),
        places_(process_count * worker_count),
        random_(options.seed) {}

  const InprocOptions& options() const { return options_; }

  std::uint32_t process_count() const { return process_count_; }

  bool try_send(Endpoint from, Endpoint to, const Packet& packet, const void* payload) {
    const std::scoped_lock lock(mutex_);
    auto& way = inbox_of(to).ways[index_of(from)];
    if (way.size() >= options_.capacity) return false;
    if (options_.refusal_period != 0 && random_.below(options_.refusal_period) == 0) return false;
    Letter letter{.from = from, .packet = packet, .payload = {}, .due_ns = os::monotonic_ns()};
    if (options_.delay_ns_max != 0)
      letter.due_ns += static_cast<std::int64_t>(
          random_.below(static_cast<std::uint64_t>(options_.delay_ns_max)));
    const auto* bytes = static_cast<const std::byte*>(payload);
    if (packet.payload_bytes != 0) letter.payload.assign(bytes, bytes + packet.payload_bytes);
    way.push_back(std::move(letter));
    ++sent_count_;
    return true;
  }

  template <class Deliver>
  void take_due(Endpoint to, Deliver&& deliver) {
    std::vector<Letter> due;
    {
      const std::scoped_lock lock(mutex_);
      const std::int64_t now_ns = os::monotonic_ns();
      for (auto& [from, way] : inbox_of(to).ways) {
        // First in, first out: a delayed packet delays those behind it.
        while (!way.empty() && way.front().due_ns <= now_ns) {
          due.push_back(std::move(way.front()));
          way.pop_front();
        }
      }
    }
    for (const Letter& letter : due)
      deliver(letter.from, letter.packet, letter.payload.data());
  }

  std::uint64_t sent_count() {
    const std::scoped_lock lock(mutex_);
    return sent_count_;
  }

 private:
  struct Letter {
    Endpoint from;
    Packet packet;
    std::vector<std::byte> payload;
    std::int64_t due_ns;
  };

  struct Inbox {
    std::map<std::uint32_t, std::deque<Letter>> ways;
  };

  std::uint32_t index_of(Endpoint endpoint) const {
    return endpoint.process * worker_count_ + endpoint.worker;
  }

  Inbox& inbox_of(Endpoint endpoint) { return places_[index_of(endpoint)]; }

  const std::uint32_t process_count_;
  const std::uint32_t worker_count_;
  const InprocOptions options_;
  std::mutex mutex_;
  std::vector<Inbox> places_;
  Prng random_;
  std::uint64_t sent_count_ = 0;
};

/// One process's view of the network.
class InprocTransport final : public transport::Transport {
 public:
  InprocTransport(InprocNetwork& network, std::uint32_t own_process)
      : network_(network), own_process_(own_process) {}

  std::uint32_t process_count() const override { return network_.process_count(); }

  std::uint32_t own_process() const override { return own_process_; }

  std::uint32_t node_of(std::uint32_t process) const override {
    const std::uint32_t mates = network_.options().processes_per_node;
    return mates == 0 ? 0 : process - process % mates;
  }

  void set_handler(std::uint32_t kind, transport::PacketHandler handler, void* owner) override {
    handlers_.at(kind) = {.handler = handler, .owner = owner};
  }

  std::uint32_t payload_bytes_max(std::uint32_t /*process*/) const override {
    return network_.options().payload_bytes_max;
  }

  bool try_send(core::Worker& from,
                Endpoint to,
                const Packet& packet,
                const void* payload) override {
    EXPECT_LE(packet.payload_bytes, payload_bytes_max(to.process));
    EXPECT_NE(to.process, own_process_);
    return network_.try_send({own_process_, from.index()}, to, packet, payload);
  }

  bool can_pull(std::uint32_t /*process*/) const override { return network_.options().can_pull; }

  bool pull(std::uint32_t /*process*/,
            void* target,
            std::uintptr_t source,
            std::size_t bytes) override {
    std::memcpy(target, reinterpret_cast<const void*>(source), bytes);
    return true;
  }

  void deliver(core::Worker& worker) {
    network_.take_due({own_process_, worker.index()},
                      [&](Endpoint from, const Packet& packet, const std::byte* payload) {
                        const transport::OwnedHandler& taker = handlers_.at(packet.kind);
                        taker.handler(taker.owner, worker, from, packet, payload);
                      });
  }

 private:
  InprocNetwork& network_;
  const std::uint32_t own_process_;
  transport::HandlerTable handlers_{};
};

/// One process of a test job: runs a function in each of its ranks.
class InprocProcess final : public core::SchedulerHooks, public mpi::JobControl {
 public:
  static constexpr std::size_t stack_bytes = 256 << 10;

  InprocProcess(InprocNetwork& network,
                const mpi::RankLayout& layout,
                std::uint32_t own_process,
                const std::function<void(int rank)>& body)
      : body_(body),
        transport_(network, own_process),
        scheduler_(
            {.worker_count = layout.worker_count(), .limits = {.spin_ns_max = 0}, .cpus = {}},
            *this),
        world_(scheduler_,
               *this,
               layout,
               connection(network.options(), own_process),
               mpi::TuningTable()),
        stacks_(static_cast<std::size_t>(own_rank_count()), stack_bytes),
        polls_(layout.worker_count()) {}

  void run() { scheduler_.run(static_cast<std::uint32_t>(own_rank_count())); }

  void on_worker_start(core::Worker& worker) override {
    world_.make_ranks(worker);
    const Endpoint endpoint = world_.endpoint_of(worker);
    for (std::int32_t i = world_.layout().first_rank(endpoint);
         i < world_.layout().last_rank(endpoint); ++i) {
      mpi::RankState& rank = world_.rank(i);
      const auto index = static_cast<std::size_t>(i - world_.first_own_rank());
      worker.start(rank.fiber, stacks_.bottom(index), stacks_.usable_bytes(index), enter, &rank);
    }
    Poll& poll = polls_[worker.index()];
    poll.process = this;
    poll.run = [](core::Worker& here, core::Timer& timer) {
      auto& self = static_cast<Poll&>(timer);
      self.due_ns = os::monotonic_ns() + poll_period_ns;
      here.add_timer(self);
      self.process->transport_.deliver(here);
    };
    worker.add_timer(poll);
  }

  void on_worker_end(core::Worker& worker) override { world_.end_ranks(worker); }

  void on_all_asleep() override { ADD_FAILURE() << "a worker sleeps without a timer"; }

 private:
  static constexpr std::int64_t poll_period_ns = 5'000;

  struct Poll : core::Timer {
    InprocProcess* process = nullptr;
  };

  static void enter(void* argument) {
    auto& rank = *static_cast<mpi::RankState*>(argument);
    auto& process = static_cast<InprocProcess&>(rank.world->job());
    MPI_Init(nullptr, nullptr);
    process.body_(rank.world_rank);
    MPI_Finalize();
    rank.worker->end_fiber();
  }

  mpi::World::Connection connection(const InprocOptions& options, std::uint32_t own_process) {
    mpi::World::Connection connection{.transport = &transport_};
    connection.moves_ranks = options.is_shuffled;
    if (options.is_shuffled) connection.shuffle_seed = options.seed + own_process;
    return connection;
  }

  std::int32_t own_rank_count() const { return world_.last_own_rank() - world_.first_own_rank(); }

  [[noreturn]] void do_end_job(const mpi::RankState* /*culprit*/,
                               int /*status*/,
                               const char* message) override {
    std::fprintf(stderr, "the job ends: %s\n", message);
    std::abort();
  }

  const std::function<void(int rank)>& body_;
  InprocTransport transport_;
  core::Scheduler scheduler_;
  mpi::ProcessWorld world_;
  os::StackSlab stacks_;
  std::vector<Poll> polls_;
};

/// Runs body(rank) in every rank of a job of several processes.
inline void run_processes(const mpi::RankLayout::Shape& shape,
                          const InprocOptions& options,
                          const std::function<void(int rank)>& body) {
  const mpi::RankLayout layout(shape);
  InprocNetwork network(shape.process_count, shape.worker_count, options);
  std::vector<std::unique_ptr<InprocProcess>> processes;
  for (std::uint32_t i = 0; i < shape.process_count; ++i)
    processes.push_back(std::make_unique<InprocProcess>(network, layout, i, body));
  std::vector<std::jthread> threads;
  for (auto& process : processes)
    threads.emplace_back([&process] { process->run(); });
}

inline std::uint64_t seed_of_environment() {
  const char* text = std::getenv("SORREL_SEED");
  const std::uint64_t seed = text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
  testing::Test::RecordProperty("SORREL_SEED", std::to_string(seed));
  return seed;
}

}  // namespace sorrel::test
