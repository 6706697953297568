//! ReportingLauncher - the parent of the processes of a job, which makes one report of their
//! answers.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>
#include <sys/types.h>

#include "core/job_memory.hpp"

namespace sorrel::runtime {

/// Requests are numbered; zero is none. Safe in signal handlers.
struct ReportingLauncher {
  // Set before the handler is installed.
  core::JobMemory* memory = nullptr;
  std::uint32_t process = 0;
  pid_t pid = 0;
  // Relaxed: written by the only thread that answers.
  std::atomic<std::uint32_t> answered{0};

  void set_handles_requests(std::uint32_t value) const {
    // Relaxed: a signal sent meanwhile may be either's.
    if (memory != nullptr)
      memory->process(process).handles_requests.store(value, std::memory_order_relaxed);
  }

  /// The number of a request that has not been answered; 0: none, the process itself reports.
  [[nodiscard]] std::uint32_t new_request() {
    if (memory == nullptr) return 0;
    const std::uint32_t request = memory->requested_activity();
    if (request == answered.load(std::memory_order_relaxed)) return 0;
    answered.store(request, std::memory_order_relaxed);
    return request;
  }

  [[nodiscard]] bool has_request() const {
    return memory == nullptr ||
           memory->requested_activity() != answered.load(std::memory_order_relaxed);
  }

  [[nodiscard]] std::span<char> space() const { return memory->activity_space(process); }

  void answer(std::uint32_t request, std::string_view text) const {
    const std::size_t bytes = std::min(text.size(), space().size());
    std::copy_n(text.begin(), bytes, space().begin());
    memory->answer_activity(process, request, bytes);
  }
};

}  // namespace sorrel::runtime
