//! Processes - a test in several processes that share memory: each runs fibers on workers of its
//! own.
//!
//! run() forks one child for each process; a child's failed expectations make its exit status,
//! which run() expects to be 0. A child is killed with its parent.
#pragma once

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "os/memory_barrier.hpp"
#include "transport/shm/shm_transport.hpp"
#include "unit/core/fiber_run.hpp"

namespace sorrel::transport {

inline std::unique_ptr<core::JobMemory> make_shared_memory(const core::JobShape& shape) {
  auto memory = std::make_unique<core::JobMemory>(
      shape, os::SharedSegment::create(core::JobMemory::bytes_needed(shape)));
  memory->set_has_barrier(os::has_barrier_of_processes());
  return memory;
}

/// One process of the job: add fibers to `run`, handlers to `transport`, then run.run().
struct OneProcess {
  OneProcess(core::JobMemory& memory, std::uint32_t process, ShmTransport::Pulling pulling)
      : run({.worker_count = memory.shape().workers_per_process,
             .limits = {.spin_ns_max = 0},
             .cpus = {},
             .memory = &memory,
             .process = process}),
        transport(run.scheduler(), pulling, getppid()) {}

  core::FiberRun run;
  ShmTransport transport;
};

class Processes {
 public:
  using Body = std::function<void(OneProcess& self, std::uint32_t process)>;

  explicit Processes(const core::JobShape& shape,
                     ShmTransport::Pulling pulling = ShmTransport::Pulling::when_allowed)
      : pulling_(pulling), memory_(make_shared_memory(shape)) {}

  void run(const Body& body) {
    std::vector<pid_t> children;
    for (std::uint32_t i = 0; i < memory_->shape().process_count; ++i)
      children.push_back(start(body, i));
    for (std::size_t i = 0; i < children.size(); ++i) {
      int status = 0;
      const pid_t ended = waitpid(-1, &status, 0);
      EXPECT_EQ(status, 0) << "process " << index_of(children, ended) << ": see its output above";
      // The others would wait for it.
      for (const pid_t child : children) {
        if (status != 0 && child != ended) kill(child, SIGKILL);
      }
    }
  }

  [[nodiscard]] core::JobMemory& memory() { return *memory_; }

 private:
  static std::ptrdiff_t index_of(const std::vector<pid_t>& children, pid_t child) {
    return std::find(children.begin(), children.end(), child) - children.begin();
  }

  pid_t start(const Body& body, std::uint32_t process) {
    const pid_t child = fork();
    if (child != 0) return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    {
      OneProcess self(*memory_, process, pulling_);
      body(self, process);
    }
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }

  ShmTransport::Pulling pulling_;
  std::unique_ptr<core::JobMemory> memory_;
};

}  // namespace sorrel::transport
