//! HostJobStop - stops of a job over a host MPI: its processes do not all share memory.
//!
//! Every process requests the stop, when it is ready, and first meets the others: a collective of
//! the host MPI, which it polls while its workers run. So nothing is interrupted, and no process
//! stops before all are ready. README.md, "Stops of a job", has the protocol and the proof.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/job_stop.hpp"
#include "core/stop_action.hpp"
#include "transport/host/host_streams.hpp"
#include "transport/host/host_transport.hpp"

namespace sorrel::transport {

class HostJobStop final : public core::JobStop, private core::StopAction {
 public:
  /// In every process of the job, before its workers run: they exchange messages here, so that the
  /// host MPI has connected all of them. All outlive it.
  HostJobStop(core::Scheduler& scheduler, HostTransport& transport, const HostJob& job);
  HostJobStop(const HostJobStop&) = delete;
  HostJobStop& operator=(const HostJobStop&) = delete;

  /// Whether it works: any worker may use the host MPI, or there is one. The same in all processes.
  [[nodiscard]] static bool is_possible(const HostJob& job, std::uint32_t worker_count) {
    return job.any_thread || worker_count == 1;
  }

  [[nodiscard]] bool must_request() override { return true; }

  [[nodiscard]] bool request(core::Worker& requester) override;

  std::span<const std::uint64_t> exchange(std::uint64_t own) override;
  [[nodiscard]] bool gather(const void* own, void* all, std::size_t bytes) override;
  [[nodiscard]] std::optional<std::vector<std::string>> exchange_parcels(
      std::span<const Parcel> parcels, std::span<const std::uint32_t> senders) override;
  [[nodiscard]] bool ship(std::span<const Shipment> sent,
                          std::span<const Shipment> awaited) override;

  [[nodiscard]] bool sends_memory() const override { return true; }

 private:
  void on_stopped() override;
  void on_resumed(core::Worker& requester) override;
  void connect();
  void meet(core::Worker& worker);
  [[nodiscard]] bool is_near(std::uint32_t process) const;
  void find_readers();
  template <class Use>
  void use_host(const Use& use);

  core::Scheduler& scheduler_;
  HostTransport& transport_;
  const HostJob& job_;
  HostStreams streams_;

  // On the thread of the requester, or while all workers are stopped.
  /// All processes are ready for the next stop.
  bool have_met_ = false;
  bool was_stopped_ = false;
  std::vector<std::uint64_t> numbers_;
  /// By process: whether it can read the memory of all processes of its node. Empty: not known.
  std::vector<std::uint64_t> readers_;
};

}  // namespace sorrel::transport
