#include "runtime/host/host_session.hpp"

#include <array>
#include <csignal>
#include <cstdint>
#include <link.h>
#include <poll.h>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

#include "base/check.hpp"
#include "os/clock.hpp"
#include "os/peer_memory.hpp"
#include "runtime/host/host_status_block.hpp"
#include "transport/host/host_library.hpp"

namespace sorrel::runtime {

namespace {

/// Other processes read it to test whether they may read this process's memory. The value is unique
/// to this process, so that a process of another node is not mistaken for it.
std::uint64_t probe_value = 0;

// A process has one host MPI, until it ends.
transport::HostJob* the_host_job = nullptr;
/// The launcher lets the other processes continue when one has failed.
bool must_abort = false;

/// Called when the host MPI cannot continue.
void on_host_failure(const char* text) {
  // The usual cause is that a process has ended. Its own parent reports that, and the launcher will
  // soon end this process.
  ::poll(nullptr, 0, 1000);
  end_host_process(host_error_status, "process %u: the host MPI (%s) has failed: %s",
                   the_host_job == nullptr ? 0 : the_host_job->process,
                   the_host_job == nullptr ? "starting" : the_host_job->api->name, text);
}

/// Restores the signal handlers of this process: crash handlers that the host MPI installs would
/// replace them.
class SignalKeeper {
 public:
  SignalKeeper() {
    for (std::size_t i = 1; i < actions_.size(); ++i)
      sigaction(static_cast<int>(i), nullptr, &actions_[i]);
  }

  ~SignalKeeper() {
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGTERM, SIGINT})
      sigaction(number, &actions_[static_cast<std::size_t>(number)], nullptr);
  }

  SignalKeeper(const SignalKeeper&) = delete;
  SignalKeeper& operator=(const SignalKeeper&) = delete;

 private:
  std::array<struct sigaction, 32> actions_{};
};

std::vector<std::uintptr_t> loaded_files() {
  std::vector<std::uintptr_t> addresses;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* argument) {
        static_cast<std::vector<std::uintptr_t>*>(argument)->push_back(info->dlpi_addr);
        return 0;
      },
      &addresses);
  return addresses;
}

void start_plugin(transport::HostJob& job, const launch::HostSpec& spec) {
  std::string reason;
  const SignalKeeper keeper;
  job.program_files = loaded_files();
  job.api = transport::open_host_plugin(spec.plugin, reason);
  if (job.api == nullptr)
    end_host_process(host_error_status, "cannot load the host MPI: %s", reason.c_str());
  const sorrel_host_hooks hooks{.fail = on_host_failure};
  sorrel_host_place place{};
  char error[256] = "";
  job.host = job.api->begin(spec.library.c_str(), &hooks, &place, error, sizeof error);
  if (job.host == nullptr)
    end_host_process(host_error_status, "cannot start the host MPI (%s): %s", spec.name.c_str(),
                     error);
  SORREL_CHECK(place.process >= 0 && place.process < place.process_count,
               "the host MPI (%s) says: process %d of %d", spec.name.c_str(), place.process,
               place.process_count);
  job.process = static_cast<std::uint32_t>(place.process);
  job.process_count = static_cast<std::uint32_t>(place.process_count);
  job.any_thread = place.any_thread != 0;
  job.members.resize(job.process_count);
  job.members[job.process].node = place.node_first_process;
}

void gather_members(transport::HostJob& job, pid_t daemon) {
  std::random_device random;
  probe_value = std::uint64_t{random()} << 32 | random();
  // All processes of a node descend from the launcher's daemon there.
  job.common_ancestor = daemon > 1 ? daemon : 0;
  if (daemon > 1) os::let_descendants_read(job.common_ancestor);
  transport::HostMember mine = job.members[job.process];
  mine.pid = getpid();
  mine.probe_address = reinterpret_cast<std::uintptr_t>(&probe_value);
  mine.probe_value = probe_value;
  job.members = job.gather(mine);
  SORREL_CHECK(job.members.size() == job.process_count, "%zu members of %u processes",
               job.members.size(), job.process_count);
}

}  // namespace

transport::HostJob& begin_host_session(const launch::HostSpec& spec) {
  must_abort = spec.must_abort;
  auto& job = *new transport::HostJob;
  start_plugin(job, spec);
  the_host_job = &job;
  gather_members(job, spec.daemon);
  return job;
}

void end_host_session(transport::HostJob& job) {
  if (!job.has_ended && job.process_count > 1) {
    // A process that has never called MPI.
    job.api->begin_end(job.host);
    while (job.api->has_ended(job.host) == 0)
      os::sleep_ns(1'000'000);
  }
  set_host_phase(transport::HostPhase::finished);
  job.api->finish(job.host);
}

bool must_end_others() {
  return the_host_job != nullptr && must_abort;
}

void abort_host(int status) {
  if (the_host_job != nullptr && must_abort) the_host_job->api->abort(the_host_job->host, status);
}

}  // namespace sorrel::runtime
