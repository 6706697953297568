// Stops of a job: every process acts while no worker of any process runs, and nothing is in flight.
#include <gtest/gtest.h>

#include "core/shared_job_stop.hpp"
#include "os/thread.hpp"
#include "unit/transport/processes.hpp"
#include "unit/transport/stopped_traffic.hpp"

namespace sorrel::transport {
namespace {

using core::JobShape;
using core::JobStop;
using core::Worker;

/// The first process requests the stops.
class Traffic : public StoppedTraffic {
 public:
  Traffic(OneProcess& self, std::uint32_t process, const JobShape& shape)
      : StoppedTraffic(shape, process), transport_(self.transport), stop_(self.run.scheduler()) {
    self.run.called = [this](Worker& worker) { stop_.on_attention(worker); };
    self.run.worker_start = [this](Worker& worker) { count_packets_of(worker); };
    add_fibers(self.run, transport_, stop_, process == 0);
  }

  /// Whether a process disagrees in every second stop.
  bool may_disagree = false;
  /// In memory of all processes: a fiber of the last one polls only when a stop has failed.
  std::atomic<std::uint64_t>* awaited_failures = nullptr;

 private:
  void before_packets() override {
    if (awaited_failures == nullptr || process() + 1 != shape().process_count) return;
    while (awaited_failures->load(std::memory_order_relaxed) == 0)
      os::yield_core();
  }

  /// Not try_send() of the transport, which drops packets to a worker that has ended.
  bool try_send(Worker& worker, Endpoint to, const Packet& packet) override {
    return transport_.try_post(worker, to, packet, nullptr);
  }

  void check_stop(JobStop& stop, std::uint64_t number) override {
    const bool is_second = number % 2 == 0;
    EXPECT_EQ(stop.agree(!may_disagree || !is_second || process() != 0),
              !may_disagree || !is_second);
  }

  void on_job_resumed(Worker& requester, bool was_stopped) override {
    if (awaited_failures != nullptr && !was_stopped)
      awaited_failures->fetch_add(1, std::memory_order_relaxed);
    StoppedTraffic::on_job_resumed(requester, was_stopped);
  }

  ShmTransport& transport_;
  core::SharedJobStop stop_;
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
