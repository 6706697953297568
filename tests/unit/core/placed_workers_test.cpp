// Workers whose memory is placed on memory nodes: where the kernel says that it lies.
#include <cstdint>
#include <gtest/gtest.h>
#include <memory>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

#include "core/scheduler.hpp"
#include "os/cpu_set.hpp"
#include "os/memory_nodes.hpp"
#include "unit/core/fiber_run.hpp"

namespace sorrel::core {
namespace {

int node_of(const void* page) {
  void* address = const_cast<void*>(page);
  int node = -1;
  return ::syscall(SYS_move_pages, 0, 1UL, &address, nullptr, &node, 0) == 0 ? node : -1;
}

/// Two cpus of each memory node that this process may use.
std::vector<int> cpus_of_nodes(const os::MemoryNodes& machine) {
  std::vector<int> cpus;
  int last = -1;
  int count = 0;
  for (const int cpu : os::allowed_cpus()) {
    const int node = machine.node_of(cpu);
    count = node == last ? count + 1 : 1;
    last = node;
    if (count <= 2) cpus.push_back(cpu);
  }
  return cpus;
}

TEST(PlacedWorkers, LieOnTheNodesOfTheirCpus) {
  const os::MemoryNodes machine = os::MemoryNodes::read();
  const std::vector<int> cpus = cpus_of_nodes(machine);
  if (!machine.are_several()) GTEST_SKIP() << "one memory node";

  class NoHooks final : public SchedulerHooks {
    void on_worker_start(Worker& /*worker*/) override {}

    void on_worker_end(Worker& /*worker*/) override {}

    void on_all_asleep() override {}
  } hooks;

  Scheduler scheduler({.worker_count = static_cast<std::uint32_t>(cpus.size()),
                       .limits = {},
                       .cpus = cpus,
                       .memory_nodes = machine},
                      hooks);
  // At a border of nodes a page belongs to two workers.
  int elsewhere = 0;
  for (std::uint32_t i = 0; i < scheduler.worker_count(); ++i) {
    const auto* worker = reinterpret_cast<const char*>(&scheduler.worker(i));
    elsewhere += node_of(worker + sizeof(Worker) / 2) != machine.node_of(cpus[i]) ? 1 : 0;
  }
  EXPECT_EQ(elsewhere, 0) << "of " << cpus.size();
}

}  // namespace
}  // namespace sorrel::core
