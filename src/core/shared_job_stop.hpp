//! SharedJobStop - stops of a job whose processes all share memory (sorrel run --procs, and those
//! of a host MPI on one node), or of a job of one process.
//!
//! One process requests a stop, and the others are called. README.md, "Stops of a job", has the
//! protocol and the proof.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "core/job_stop.hpp"
#include "core/stop_action.hpp"

namespace sorrel::core {

class JobMemory;
class Scheduler;

class SharedJobStop final : public JobStop, private StopAction {
 public:
  /// For the process of the scheduler, which outlives it.
  explicit SharedJobStop(Scheduler& scheduler);
  SharedJobStop(const SharedJobStop&) = delete;
  SharedJobStop& operator=(const SharedJobStop&) = delete;

  /// True in the last process.
  [[nodiscard]] bool must_request() override;
  [[nodiscard]] bool request(Worker& requester) override;
  void on_attention(Worker& worker) override;

  std::span<const std::uint64_t> exchange(std::uint64_t own) override;
  [[nodiscard]] bool gather(const void* own, void* all, std::size_t bytes) override;
  [[nodiscard]] std::optional<std::vector<std::string>> exchange_parcels(
      std::span<const Parcel> parcels, std::span<const std::uint32_t> senders) override;
  [[nodiscard]] bool ship(std::span<const Shipment> sent,
                          std::span<const Shipment> awaited) override;

  [[nodiscard]] bool sends_memory() const override { return false; }

 private:
  void on_stopped() override;
  void on_resumed(Worker& requester) override;
  [[nodiscard]] bool wait_for_all(std::uint32_t number);
  [[nodiscard]] bool has_ended_process() const;
  [[nodiscard]] std::int32_t pid_of(std::uint32_t process) const;

  Scheduler& scheduler_;
  JobMemory& memory_;
  const std::uint32_t process_;
  const std::uint32_t process_count_;

  /// The workers of this process are being stopped. Acquire and release: of the rest.
  std::atomic<bool> is_taking_part_{false};
  /// The stop in which this process has arrived last. Relaxed: a process arrives while no worker of
  /// it polls.
  std::atomic<std::uint32_t> arrived_number_{0};

  // The stop that lasts: while is_taking_part_.
  /// For which the workers of this process are being stopped.
  std::uint32_t number_ = 0;
  bool is_requester_ = false;
  bool was_stopped_ = false;
  // While all workers are stopped.
  std::uint64_t round_ = 0;
  std::vector<std::uint64_t> numbers_;
};

}  // namespace sorrel::core
