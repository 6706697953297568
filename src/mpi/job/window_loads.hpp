//! WindowLoads - the load of each process in the latest window, which the first process reads
//! (runtime/moves): in memory that all processes share, or by a packet of each process.
//!
//! publish() is for the worker at the root of the barrier by which the window has ended; the rest
//! for that of the first process.
#pragma once

#include <cstdint>
#include <vector>

#include "core/job_memory.hpp"
#include "core/window_load.hpp"
#include "mpi/comm/world.hpp"

namespace sorrel::mpi {

class WindowLoads {
 public:
  /// `memory`: of all processes of the job; null: they do not all share memory. All outlive it.
  /// Before the workers run.
  WindowLoads(World& world, core::JobMemory* memory);
  WindowLoads(const WindowLoads&) = delete;
  WindowLoads& operator=(const WindowLoads&) = delete;

  /// Each worker of this process has computed for so long, on average.
  void publish(std::uint32_t window, double load);

  /// Whether all processes have published their loads of the window.
  [[nodiscard]] bool are_of(std::uint32_t window);

  /// By process, when are_of() the latest window.
  [[nodiscard]] std::vector<double> loads();

 private:
  static void take(void* owner,
                   core::Worker& receiver,
                   Endpoint from,
                   const transport::Packet& packet,
                   const std::byte* payload);

  [[nodiscard]] core::WindowLoad& of(std::uint32_t process) {
    return memory_ != nullptr ? memory_->process(process).window_load : received_[process];
  }

  World& world_;
  core::JobMemory* const memory_;
  /// By process; written by the worker of the first process that takes the packets.
  std::vector<core::WindowLoad> received_;
};

}  // namespace sorrel::mpi
