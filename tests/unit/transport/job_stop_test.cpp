// Stops of a job: every process acts while no worker of any process runs, and nothing is in flight.
#include <gtest/gtest.h>

#include "base/prng.hpp"
#include "core/shared_job_stop.hpp"
#include "os/thread.hpp"
#include "unit/transport/processes.hpp"

namespace sorrel::transport {
namespace {

using core::JobShape;
using core::JobStop;
using core::Worker;

constexpr std::uint32_t action_number = 1;
constexpr std::uint32_t packet_kind = 0;
constexpr std::uint64_t stop_count = 20;
constexpr int packets_per_round = 50;

/// Of one process: fibers send packets to workers of all other processes, then wait for the next
/// stop; a fiber of the first process requests stops all the time.
class Traffic : public core::JobStopAction {
 public:
  Traffic(OneProcess& self, std::uint32_t process, const JobShape& shape)
      : self_(self),
        stop_(self.run.scheduler()),
        process_(process),
        shape_(shape),
        counts_(shape.workers_per_process) {
    stop_.set_action(action_number, *this);
    self.run.called = [this](Worker& worker) { stop_.on_attention(worker); };
    self.run.worker_start = [this](Worker& worker) { worker.set_user(&counts_[worker.index()]); };
    self.transport.set_handler(
        packet_kind,
        [](void*, Worker& receiver, Endpoint, const Packet&, const std::byte*) {
          ++static_cast<Counts*>(receiver.user())->received;
        },
        nullptr);
    for (std::uint32_t i = 0; i < shape.workers_per_process; ++i)
      self.run.add(i, [this, i](Worker& worker) { send(worker, counts_[i]); });
    if (process == 0) requester_ = &self.run.add(0, [this](Worker& worker) { request(worker); });
  }

  /// Whether a process disagrees in every second stop.
  bool may_disagree = false;
  /// In memory of all processes: a fiber of the last one polls only when a stop has failed.
  std::atomic<std::uint64_t>* awaited_failures = nullptr;

 private:
  struct alignas(64) Counts {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
  };

  void send(Worker& worker, Counts& counts) {
    Prng random(worker.id() + 1);
    if (awaited_failures != nullptr && process_ + 1 == shape_.process_count) {
      while (awaited_failures->load(std::memory_order_relaxed) == 0)
        os::yield_core();
    }
    for (std::uint64_t round = 0; round < stop_count; ++round) {
      for (int i = 0; i < packets_per_round; ++i) {
        const auto process = static_cast<std::uint32_t>(random.below(shape_.process_count));
        const auto index = static_cast<std::uint32_t>(random.below(shape_.workers_per_process));
        const Packet packet{.kind = packet_kind, .words = {}, .payload_bytes = 0};
        // Not try_send(), which drops packets to a worker that has ended.
        if (process != process_ &&
            self_.transport.try_post(worker, {.process = process, .worker = index}, packet,
                                     nullptr))
          ++counts.sent;
        worker.yield();
      }
      while (acted_count_.load(std::memory_order_relaxed) == round)
        worker.sleep(50'000);
    }
  }

  void request(Worker& worker) {
    while (acted_count_.load(std::memory_order_relaxed) < stop_count) {
      if (stop_.request(worker, action_number)) {
        worker.suspend();
      } else {
        worker.yield();
      }
    }
  }

  void on_job_stopped(JobStop& stop) override {
    // Of this process, which no worker changes at this moment.
    Counts sum;
    for (const Counts& each : counts_) {
      sum.sent += each.sent;
      sum.received += each.received;
    }
    const std::uint64_t sent = stop.sum(sum.sent);
    EXPECT_EQ(sent, stop.sum(sum.received));
    // Relaxed: the stop orders it.
    const std::uint64_t acted = acted_count_.fetch_add(1, std::memory_order_relaxed) + 1;
    for (const std::uint64_t each : stop.exchange(acted))
      EXPECT_EQ(each, acted) << "a process has taken part in another number of stops";
    const bool is_second = acted % 2 == 0;
    EXPECT_EQ(stop.agree(!may_disagree || !is_second || process_ != 0),
              !may_disagree || !is_second);
  }

  void on_job_resumed(Worker& requester, bool was_stopped) override {
    if (awaited_failures != nullptr && !was_stopped)
      awaited_failures->fetch_add(1, std::memory_order_relaxed);
    requester.make_ready(*requester_);
  }

  OneProcess& self_;
  core::SharedJobStop stop_;
  const std::uint32_t process_;
  const JobShape shape_;
  std::vector<Counts> counts_;
  core::Fiber* requester_ = nullptr;
  std::atomic<std::uint64_t> acted_count_{0};
};

void run(const JobShape& shape, const std::function<void(Traffic&)>& prepare = nullptr) {
  Processes processes(shape);
  processes.run([&](OneProcess& self, std::uint32_t process) {
    Traffic traffic(self, process, shape);
    if (prepare) prepare(traffic);
    self.run.run();
  });
}

TEST(JobStopTest, NothingIsInFlightBetweenTwoProcesses) {
  run({.process_count = 2, .workers_per_process = 1});
}

TEST(JobStopTest, NothingIsInFlightBetweenProcessesWithSeveralWorkers) {
  run({.process_count = 3, .workers_per_process = 2});
}

TEST(JobStopTest, AJobOfOneProcessStops) {
  run({.process_count = 1, .workers_per_process = 2});
}

TEST(JobStopTest, ProcessesAgreeOrNot) {
  run({.process_count = 2, .workers_per_process = 2},
      [](Traffic& traffic) { traffic.may_disagree = true; });
}

/// In memory of all processes.
std::atomic<std::uint64_t>* make_shared_count() {
  return new (mmap(nullptr, sizeof(std::atomic<std::uint64_t>), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0)) std::atomic<std::uint64_t>{0};
}

TEST(JobStopTest, AStopThatIsGivenUpHasNoEffect) {
  auto* failures = make_shared_count();
  run({.process_count = 2, .workers_per_process = 1},
      [&](Traffic& traffic) { traffic.awaited_failures = failures; });
  EXPECT_GE(failures->load(), 1U);
  munmap(failures, sizeof *failures);
}

TEST(JobMemoryTest, TheLastProcessToCompleteAStepSeesWhatTheOthersHaveWritten) {
  constexpr std::uint64_t step_count = 100;
  auto* completed = make_shared_count();
  Processes processes({.process_count = 3, .workers_per_process = 1});
  processes.run([&](OneProcess& self, std::uint32_t process) {
    core::JobMemory& memory = self.run.scheduler().memory();
    for (std::uint64_t step = 2; step <= 2 * step_count; step += 2) {
      // One process alone completes the step before.
      if (process == 0) {
        EXPECT_FALSE(memory.is_last_to_complete(step - 1));
        completed->fetch_add(1);
      }
      while (completed->load() < step - 1)
        os::yield_core();
      memory.process(process).for_completion = {step, process};
      if (memory.is_last_to_complete(step)) {
        for (std::uint64_t i = 0; i < 3; ++i)
          EXPECT_EQ(memory.process(static_cast<std::uint32_t>(i)).for_completion,
                    (std::array<std::uint64_t, 2>{step, i}));
        completed->fetch_add(1);
      }
      while (completed->load() < step)
        os::yield_core();
    }
  });
  EXPECT_EQ(completed->load(), 2 * step_count);
  munmap(completed, sizeof *completed);
}

}  // namespace
}  // namespace sorrel::transport
