// A record from one core to another: the mailbox of a pair of workers against one mailbox per rank,
// and the cost for a sender to check whether the receiver sleeps. Results: docs/decisions/0002 and
// 0003.
//
// Times are one way, between two threads on two cores. With fewer than two cores nothing is
// measured.
#include <algorithm>
#include <array>
#include <atomic>
#include <benchmark/benchmark.h>
#include <cstdint>
#include <cstring>
#include <memory>
#include <pthread.h>
#include <sched.h>
#include <thread>
#include <vector>

#include "arch/cpu.hpp"
#include "base/cache_line.hpp"
#include "core/mailbox.hpp"
#include "core/parker.hpp"
#include "os/memory_barrier.hpp"

namespace sorrel::bench {

namespace {

using core::Mailbox;
using core::Parker;
using core::Record;

/// Sorrel's method: a ring per ordered pair of workers, whatever the rank.
class PairLink {
 public:
  explicit PairLink(std::uint32_t /*rank_count*/) : mailbox_(std::make_unique<Mailbox>()) {}

  bool try_post(std::uint32_t rank, double value) {
    return mailbox_->try_post({.words = {rank}, .payload_bytes = sizeof value}, &value);
  }

  /// Returns the number of records passed to consume(rank, value).
  template <class Consume>
  std::uint32_t take(Consume&& consume) {
    const auto run = [&consume](const Record& record, const std::byte* payload) {
      double value = 0;
      std::memcpy(&value, payload, sizeof value);
      consume(record.words[0], value);
    };
    // As a worker does.
    constexpr std::uint32_t drain_count_max = 64;
    std::uint32_t count = 0;
    while (count < drain_count_max && mailbox_->take(run))
      ++count;
    return count;
  }

 private:
  std::unique_ptr<Mailbox> mailbox_;
};

/// The alternative: a stack of messages per rank (several producers, one consumer), and a stack of
/// the ranks that have messages. The messages belong to the sender, as many as a mailbox has slots.
class RankLink {
 public:
  explicit RankLink(std::uint32_t rank_count)
      : shared_(std::make_unique<Shared>()), ranks_(rank_count) {}

  bool try_post(std::uint32_t rank, double value) {
    Message& message = shared_->messages[posted_count_ % message_count];
    // Ranks are not served in the order of posting: each message carries its own flag.
    if (message.is_posted.load(std::memory_order_acquire)) return false;
    ++posted_count_;
    message.is_posted.store(true, std::memory_order_relaxed);
    message.words[0] = rank;
    std::memcpy(message.payload.data(), &value, sizeof value);
    push(ranks_[rank], message);
    return true;
  }

  template <class Consume>
  std::uint32_t take(Consume&& consume) {
    if (shared_->ready.load(std::memory_order_relaxed) == nullptr) return 0;
    std::uint32_t count = 0;
    RankBox* box = shared_->ready.exchange(nullptr, std::memory_order_acquire);
    while (box != nullptr) {
      // Once emptied the box may be made ready again, which changes its link.
      RankBox* next = box->next_ready;
      count += take_from(*box, consume);
      box = next;
    }
    return count;
  }

 private:
  static constexpr std::uint32_t message_count = 256;

  struct alignas(cache_line_bytes) Message {
    Message* next = nullptr;
    std::atomic<bool> is_posted{false};
    std::array<std::uint32_t, 4> words{};
    std::array<std::byte, 32> payload{};
  };

  struct alignas(cache_line_bytes) RankBox {
    std::atomic<Message*> newest{nullptr};
    RankBox* next_ready = nullptr;
  };

  struct Shared {
    alignas(cache_line_bytes) std::atomic<RankBox*> ready{nullptr};
    std::array<Message, message_count> messages;
  };

  void push(RankBox& box, Message& message) {
    Message* newest = box.newest.load(std::memory_order_relaxed);
    do {
      message.next = newest;
    } while (!box.newest.compare_exchange_weak(newest, &message, std::memory_order_release,
                                               std::memory_order_relaxed));
    if (newest != nullptr) return;
    RankBox* ready = shared_->ready.load(std::memory_order_relaxed);
    do {
      box.next_ready = ready;
    } while (!shared_->ready.compare_exchange_weak(ready, &box, std::memory_order_release,
                                                   std::memory_order_relaxed));
  }

  template <class Consume>
  static std::uint32_t take_from(RankBox& box, Consume& consume) {
    Message* newest = box.newest.exchange(nullptr, std::memory_order_acquire);
    Message* oldest = nullptr;
    while (newest != nullptr) {
      Message* next = newest->next;
      newest->next = oldest;
      oldest = newest;
      newest = next;
    }
    std::uint32_t count = 0;
    for (; oldest != nullptr; ++count) {
      double value = 0;
      std::memcpy(&value, oldest->payload.data(), sizeof value);
      consume(oldest->words[0], value);
      Message& taken = *oldest;
      oldest = taken.next;
      taken.is_posted.store(false, std::memory_order_release);
    }
    return count;
  }

  std::unique_ptr<Shared> shared_;
  std::vector<RankBox> ranks_;
  alignas(cache_line_bytes) std::uint32_t posted_count_ = 0;
};

/// The sender's check, after posting, whether the receiver sleeps.
enum class ParkedCheck : std::uint8_t { none, light_fence, full_fence };

/// A link with the receiver's parker; the receiver never sleeps here.
template <ParkedCheck look>
class WakingLink : public PairLink {
 public:
  explicit WakingLink(std::uint32_t rank_count) : PairLink(rank_count) {
    static_cast<void>(os::init_memory_barrier());
    if (look == ParkedCheck::full_fence) os::membarrier_is_available = false;
  }

  bool try_post(std::uint32_t rank, double value) {
    if (!PairLink::try_post(rank, value)) return false;
    if (look != ParkedCheck::none && sleeper_->parker.try_unpark()) std::abort();
    return true;
  }

 private:
  struct Sleeper {
    alignas(cache_line_bytes) Parker::Count asleep_count{0};
    alignas(cache_line_bytes) Parker::State parker_state;
    Parker parker{parker_state, asleep_count};
  };

  std::unique_ptr<Sleeper> sleeper_ = std::make_unique<Sleeper>();
};

/// Spins, and yields the core if it takes long.
template <class Condition>
void spin_until(Condition&& condition) {
  for (int round = 1; !condition(); ++round) {
    if (round % 4096 == 0) sched_yield();
  }
}

void bind_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(cpu), &set);
  sched_setaffinity(0, sizeof set, &set);
}

/// Binds the calling thread to the first allowed core and a helper thread to the second, while it
/// lives.
class TwoCores {
 public:
  TwoCores() {
    sched_getaffinity(0, sizeof allowed_, &allowed_);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(static_cast<unsigned>(cpu), &allowed_)) cpus_.push_back(cpu);
    }
  }

  ~TwoCores() {
    is_over_.store(true, std::memory_order_relaxed);
    if (helper_.joinable()) helper_.join();
    sched_setaffinity(0, sizeof allowed_, &allowed_);
  }

  TwoCores(const TwoCores&) = delete;
  TwoCores& operator=(const TwoCores&) = delete;

  /// Runs step() repeatedly on the second core. False if there is none.
  template <class Step>
  bool start(benchmark::State& state, Step step) {
    if (cpus_.size() < 2) {
      state.SkipWithError("needs two cores");
      return false;
    }
    bind_to(cpus_[0]);
    helper_ = std::thread([this, step] {
      bind_to(cpus_[1]);
      for (int round = 1; !is_over_.load(std::memory_order_relaxed); ++round) {
        if (step() == 0 && round % 4096 == 0) sched_yield();
      }
    });
    return true;
  }

 private:
  cpu_set_t allowed_{};
  std::vector<int> cpus_;
  std::atomic<bool> is_over_{false};
  std::thread helper_;
};

/// One record there, one back; each hop counts. Argument: ranks on each side, in turn.
template <class Link>
void ping_pong(benchmark::State& state) {
  const auto rank_count = static_cast<std::uint32_t>(state.range(0));
  Link there(rank_count);
  Link back(rank_count);
  TwoCores cores;
  if (!cores.start(state, [&] {
        return there.take([&](std::uint32_t rank, double value) {
          spin_until([&] { return back.try_post(rank, value + 1); });
        });
      }))
    return;
  constexpr std::int64_t round_trip_count = 200;
  double value = 0;
  std::uint32_t rank = 0;
  while (state.KeepRunningBatch(2 * round_trip_count)) {
    for (std::int64_t i = 0; i < round_trip_count; ++i) {
      there.try_post(rank, value);
      spin_until(
          [&] { return back.take([&value](std::uint32_t, double got) { value = got; }) != 0; });
      if (++rank == rank_count) rank = 0;
    }
  }
}

/// A stream of records in one direction, as fast as the consumer takes them.
template <class Link>
void stream(benchmark::State& state) {
  const auto rank_count = static_cast<std::uint32_t>(state.range(0));
  Link link(rank_count);
  alignas(cache_line_bytes) std::atomic<std::int64_t> taken_count{0};
  TwoCores cores;
  if (!cores.start(state, [&] {
        double sum = 0;
        const std::uint32_t count =
            link.take([&sum](std::uint32_t, double value) { sum += value; });
        benchmark::DoNotOptimize(sum);
        // Relaxed: a count.
        if (count != 0) taken_count.fetch_add(count, std::memory_order_relaxed);
        return count;
      }))
    return;
  constexpr std::int64_t batch = 2000;
  std::int64_t posted_count = 0;
  std::uint32_t rank = 0;
  while (state.KeepRunningBatch(batch)) {
    for (std::int64_t i = 0; i < batch; ++i) {
      spin_until([&] { return link.try_post(rank, 1.0); });
      if (++rank == rank_count) rank = 0;
    }
    posted_count += batch;
    spin_until([&] { return taken_count.load(std::memory_order_relaxed) == posted_count; });
  }
}

/// Posting and receiving on one core: the cost of the instructions without a cache line transfer.
template <class Link>
void same_core(benchmark::State& state) {
  Link link(1);
  double sum = 0;
  for (auto _ : state) {
    link.try_post(0, 1.0);
    link.take([&sum](std::uint32_t, double value) { sum += value; });
  }
  benchmark::DoNotOptimize(sum);
}

/// The receiver's cost, once before it sleeps, of the senders' light fence. Argument: whether
/// another thread of the process runs on the second core meanwhile.
void heavy_fence(benchmark::State& state) {
  static_cast<void>(os::init_memory_barrier());
  TwoCores cores;
  if (state.range(0) != 0 && !cores.start(state, [] { return 1; })) return;
  for (auto _ : state)
    os::heavy_barrier();
}

double floor_of(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}

BENCHMARK(ping_pong<PairLink>)->Arg(1)->Arg(64)->UseRealTime()->ComputeStatistics("min", floor_of);
BENCHMARK(ping_pong<RankLink>)->Arg(1)->Arg(64)->UseRealTime()->ComputeStatistics("min", floor_of);
BENCHMARK(stream<PairLink>)->Arg(1)->Arg(64)->UseRealTime()->ComputeStatistics("min", floor_of);
BENCHMARK(stream<RankLink>)->Arg(1)->Arg(64)->UseRealTime()->ComputeStatistics("min", floor_of);

using NoCheck = WakingLink<ParkedCheck::none>;
using LightFence = WakingLink<ParkedCheck::light_fence>;
using FullFence = WakingLink<ParkedCheck::full_fence>;
BENCHMARK(ping_pong<NoCheck>)->Arg(1)->UseRealTime()->ComputeStatistics("min", floor_of);
BENCHMARK(ping_pong<LightFence>)->Arg(1)->UseRealTime()->ComputeStatistics("min", floor_of);
BENCHMARK(ping_pong<FullFence>)->Arg(1)->UseRealTime()->ComputeStatistics("min", floor_of);
BENCHMARK(stream<NoCheck>)->Arg(1)->UseRealTime()->ComputeStatistics("min", floor_of);
BENCHMARK(stream<LightFence>)->Arg(1)->UseRealTime()->ComputeStatistics("min", floor_of);
BENCHMARK(stream<FullFence>)->Arg(1)->UseRealTime()->ComputeStatistics("min", floor_of);
BENCHMARK(same_core<NoCheck>)->ComputeStatistics("min", floor_of);
BENCHMARK(same_core<LightFence>)->ComputeStatistics("min", floor_of);
BENCHMARK(same_core<FullFence>)->ComputeStatistics("min", floor_of);
BENCHMARK(heavy_fence)->Arg(0)->Arg(1)->UseRealTime()->ComputeStatistics("min", floor_of);

}  // namespace

}  // namespace sorrel::bench
