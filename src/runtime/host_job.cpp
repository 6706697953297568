#include "runtime/host_job.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <random>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "core/job_memory.hpp"
#include "governor/cpu_budget.hpp"
#include "mpi/base/rank_layout.hpp"
#include "os/cgroup.hpp"
#include "os/clock.hpp"
#include "os/cpu_set.hpp"
#include "os/memory_barrier.hpp"
#include "os/peer_memory.hpp"
#include "os/shared_segment.hpp"
#include "runtime/host_cores.hpp"
#include "transport/host/host_library.hpp"
#include "transport/host/host_status.hpp"
#include "transport/host/host_transport.hpp"

namespace sorrel::runtime {

namespace {

using transport::HostPhase;
using transport::HostStatus;

constexpr int error_status = 1;
constexpr int usage_error_status = 2;

/// Other processes read it to test whether they may read this process's memory. The value is unique
/// to this process, so that a process of another node is not mistaken for it.
std::uint64_t probe_value = 0;

// A process has one host MPI, until it ends.
transport::HostJob* the_job = nullptr;
HostStatus* the_host_status = nullptr;
/// The launcher lets the other processes continue when one has failed.
bool must_abort = false;

void set_phase(HostPhase phase) {
  // Release, pairs with the parent's acquire: the data of the status block.
  if (the_host_status != nullptr) the_host_status->phase.store(phase, std::memory_order_release);
}

[[noreturn, gnu::format(printf, 2, 3)]] void end_with(int status, const char* format, ...) {
  char text[400];
  va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  set_phase(HostPhase::ending);
  std::fprintf(stderr, "sorrel: %s\n", text);
  _exit(status);
}

/// Called when the host MPI cannot continue.
void on_host_failure(const char* text) {
  // The usual cause is that a process has ended. Its own parent reports that, and the launcher will
  // soon end this process.
  ::poll(nullptr, 0, 1000);
  end_with(error_status, "process %u: the host MPI (%s) has failed: %s",
           the_job == nullptr ? 0 : the_job->process,
           the_job == nullptr ? "starting" : the_job->api->name, text);
}

void map_host_status(const Config& config) {
  if (!config.host_mpi.status_descriptor) return;
  const int descriptor = *config.host_mpi.status_descriptor;
  static os::SharedSegment& segment = *new os::SharedSegment;
  segment = os::SharedSegment::adopt(descriptor, sizeof(HostStatus));
  if (segment.is_valid()) the_host_status = reinterpret_cast<HostStatus*>(segment.base());
  const char* wrapper = config.wrapper.name.c_str();
  if (*wrapper == '\0') return;
  if (the_host_status == nullptr) {
    end_with(usage_error_status,
             "%s has closed descriptor %d, by which `sorrel run` passes the job on", wrapper,
             descriptor);
  }
  // Acquire: orders this after the earlier program's end.
  if (the_host_status->phase.load(std::memory_order_acquire) != HostPhase::starting) {
    // The first process reports for all; the launcher ends the others.
    if (the_host_status->process != 0) ::poll(nullptr, 0, 1000);
    end_with(usage_error_status,
             "%s has started a second MPI program; under a host MPI a process can run one",
             wrapper);
  }
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

void begin_host(transport::HostJob& job, const launch::HostSpec& spec) {
  const std::string& folder = spec.plugin_folder;
  const std::string path = (folder.empty() ? transport::folder_of_this_library() : folder) + "/" +
                           transport::host_plugin_file(spec.name);
  std::string reason;
  const SignalKeeper keeper;
  job.api = transport::open_host_plugin(path, reason);
  if (job.api == nullptr) end_with(error_status, "cannot load the host MPI: %s", reason.c_str());
  const sorrel_host_hooks hooks{.fail = on_host_failure};
  sorrel_host_place place{};
  char error[256] = "";
  job.host = job.api->begin(spec.library.c_str(), &hooks, &place, error, sizeof error);
  if (job.host == nullptr)
    end_with(error_status, "cannot start the host MPI (%s): %s", spec.name.c_str(), error);
  job.process = static_cast<std::uint32_t>(place.process);
  job.process_count = static_cast<std::uint32_t>(place.process_count);
  job.any_thread = place.any_thread != 0;
  job.members.resize(job.process_count);
  job.members[job.process].node = place.node_first_process;
}

/// Gathers a value of the same type from all processes, by process.
template <class Words>
std::vector<Words> share(const transport::HostJob& job, const Words& mine) {
  std::vector<Words> all(job.process_count);
  job.api->share(job.host, &mine, all.data(), sizeof mine);
  return all;
}

void share_members(transport::HostJob& job, pid_t daemon) {
  std::random_device random;
  probe_value = std::uint64_t{random()} << 32 | random();
  // All processes of a node descend from the launcher's daemon there.
  job.common_ancestor = daemon > 1 ? daemon : 0;
  if (daemon > 1) os::let_descendants_read(job.common_ancestor);
  transport::HostMember mine = job.members[job.process];
  mine.pid = getpid();
  mine.probe_address = reinterpret_cast<std::uintptr_t>(&probe_value);
  mine.probe_value = probe_value;
  job.members = share(job, mine);
}

/// Divides cores and workers: as many workers in every process.
void divide_cores(transport::HostJob& job, Config& config) {
  HostCores mine{.cpus = {}, .node = job.members[job.process].node};
  for (const int cpu : config.cpus) {
    if (cpu < host_cpu_count_max) mine.cpus.set(static_cast<std::size_t>(cpu));
  }
  const std::vector<HostCores> all = share(job, mine);
  const std::uint32_t neighbours = count_on_node(all, job.process);
  config.cpus = own_share(all, job.process, config.cpus);
  const governor::CpuBudget budget{.allowed_cpus = config.cpus, .quota = os::cpu_quota()};
  const std::uint32_t possible = budget.thread_count(neighbours);
  if (config.worker_count == 0) {
    const std::vector<std::uint32_t> worker_counts = share(job, possible);
    config.worker_count = *std::min_element(worker_counts.begin(), worker_counts.end());
  }
  if (config.rank_count == 0)
    config.rank_count = static_cast<std::int32_t>(config.worker_count * job.process_count);
  const auto ranks = static_cast<std::uint32_t>(config.rank_count);
  if (ranks >= job.process_count)
    config.worker_count = std::min(config.worker_count, ranks / job.process_count);
  job.is_crowded = config.cpus.size() < config.worker_count;
  if (job.is_crowded || config.is_unbound) {
    config.cpus.clear();
  } else {
    config.cpus.resize(config.worker_count);
  }
}

/// The first process's description of the memory that it has made, for the other processes.
struct MemoryOffer {
  /// Of the first process; -1: there is none.
  std::int32_t descriptor = -1;
};

/// Memory for the whole job, and behind it a word that identifies it. Where processes see each
/// other's numbers differently, a descriptor of this number may belong to another process.
std::size_t offered_bytes(const core::JobShape& shape) {
  return core::JobMemory::bytes_needed(shape) + sizeof probe_value;
}

std::atomic<std::uint64_t>& word_behind(const os::SharedSegment& segment) {
  return *reinterpret_cast<std::atomic<std::uint64_t>*>(segment.base() + segment.bytes() -
                                                        sizeof probe_value);
}

os::SharedSegment open_offer(const transport::HostMember& from,
                             const MemoryOffer& offer,
                             std::size_t bytes) {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/%d/fd/%d", from.pid, offer.descriptor);
  const int descriptor = open(path.data(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return {};
  auto segment = os::SharedSegment::adopt(descriptor, bytes);
  // Relaxed: written before the offer, which the host MPI has delivered.
  const bool is_right = segment.is_valid() &&
                        word_behind(segment).load(std::memory_order_relaxed) == from.probe_value;
  return is_right ? std::move(segment) : os::SharedSegment();
}

/// The memory that the first process of this node has made for all processes there.
os::SharedSegment make_or_open(const transport::HostJob& job,
                               const core::JobShape& shape,
                               std::uint32_t first,
                               bool may_share) {
  const bool is_wanted =
      may_share && shape.process_count > 1 && shape.worker_count() <= core::job_worker_count_max;
  const std::size_t bytes = offered_bytes(shape);
  os::SharedSegment made;
  if (job.process == first && is_wanted) made = os::SharedSegment::create(bytes);
  if (made.is_valid())
    word_behind(made).store(job.members[first].probe_value, std::memory_order_relaxed);
  const MemoryOffer mine{.descriptor = made.is_valid() ? made.descriptor() : -1};
  const MemoryOffer offer = share(job, mine)[first];
  os::SharedSegment opened;
  if (offer.descriptor >= 0) opened = open_offer(job.members[first], offer, bytes);
  // The offer is kept until all processes have opened it.
  const std::vector<std::uint32_t> has_it = share(job, std::uint32_t{opened.is_valid()});
  const bool have_all = std::ranges::all_of(
      job.neighbours(), [&](std::uint32_t process) { return has_it[process] != 0; });
  return have_all ? std::move(opened) : os::SharedSegment();
}

/// Processes of one node need the host MPI only for start and end. They exchange records in memory
/// that they share, as those of `--procs` do. Either all processes of a node share memory or none.
void share_memory(transport::HostJob& job, Config& config) {
  const std::vector<std::uint32_t> neighbours = job.neighbours();
  const core::JobShape shape{.process_count = static_cast<std::uint32_t>(neighbours.size()),
                             .workers_per_process = config.worker_count,
                             .is_part = neighbours.size() != job.process_count};
  os::SharedSegment segment = make_or_open(job, shape, neighbours.front(), config.may_share_memory);
  if (segment.is_valid()) {
    config.memory = new core::JobMemory(shape, std::move(segment));
    config.process_in_memory =
        static_cast<std::uint32_t>(std::ranges::find(neighbours, job.process) - neighbours.begin());
    if (config.process_in_memory == 0)
      config.memory->set_has_barrier(os::has_barrier_of_processes());
  }
  // No process uses it before the first process of its node has initialised it.
  share(job, std::uint32_t{0});
}

std::uint32_t node_count_of(const transport::HostJob& job) {
  std::vector<std::int32_t> nodes;
  for (const transport::HostMember& member : job.members)
    nodes.push_back(member.node);
  std::ranges::sort(nodes);
  return static_cast<std::uint32_t>(std::ranges::unique(nodes).begin() - nodes.begin());
}

/// Prints the composition of the job, for `--verbose`.
void print_composition(const transport::HostJob& job, const Config& config) {
  std::array<char, 32> nodes{};
  const std::uint32_t node_count = node_count_of(job);
  if (node_count > 1) std::snprintf(nodes.data(), nodes.size(), " on %u nodes", node_count);
  const char* memory = "";
  if (config.memory != nullptr)
    memory = node_count > 1 ? "; those of a node share memory" : " that share memory";
  std::fprintf(stderr, "sorrel: host MPI %s (%s): %d ranks, %u processes of %u workers%s%s\n",
               job.api->name, job.api->version_text(job.host), config.rank_count, job.process_count,
               config.worker_count, nodes.data(), memory);
}

/// Records the host's segments, which the parent unlinks after a failure.
void record_segments() {
  static constexpr std::string_view folder = "/dev/shm/";
  std::ifstream maps("/proc/self/maps");
  std::string names;
  for (std::string line; std::getline(maps, line);) {
    const std::size_t at = line.find(folder);
    if (at == std::string::npos) continue;
    const std::string name = line.substr(at + folder.size()) + "\n";
    // A segment that is already unlinked has a remark after its name.
    if (!transport::is_host_segment(name) || name.find(' ') != std::string::npos) continue;
    if (names.find(name) == std::string::npos &&
        names.size() + name.size() < the_host_status->segments.size())
      names += name;
  }
  std::memcpy(the_host_status->segments.data(), names.data(), names.size());
}

void fill_host_status(const Config& config) {
  if (the_host_status == nullptr) return;
  record_segments();
  const mpi::RankLayout layout({.rank_count = config.rank_count,
                                .process_count = config.process_count,
                                .worker_count = config.worker_count});
  the_host_status->process = config.own_process;
  the_host_status->process_count = config.process_count;
  the_host_status->first_rank = layout.first_rank_of_process(config.own_process);
  the_host_status->last_rank = layout.first_rank_of_process(config.own_process + 1);
  set_phase(HostPhase::joined);
}

}  // namespace

void join_host(Config& config) {
  map_host_status(config);
  must_abort = config.host_mpi.must_abort;
  auto& job = *new transport::HostJob;
  begin_host(job, config.host_mpi);
  the_job = &job;
  share_members(job, config.host_mpi.daemon);
  divide_cores(job, config);
  config.process_count = job.process_count;
  config.own_process = job.process;
  config.host = &job;
  job.may_pull = config.may_pull;
  const auto ranks = static_cast<std::uint32_t>(config.rank_count);
  if (ranks < job.process_count || (config.process_mode && ranks != job.process_count)) {
    // One process reports for all; the others end with it.
    if (job.process != 0) ::poll(nullptr, 0, 1000);
    end_with(usage_error_status, "%u ranks for %u processes of the host MPI: each needs %s", ranks,
             job.process_count,
             config.process_mode ? "one, because the program runs as it is" : "one");
  }
  // Where every process has a node of its own, no processes share memory.
  if (node_count_of(job) != job.process_count) share_memory(job, config);
  fill_host_status(config);
  if (config.is_verbose && job.process == 0) print_composition(job, config);
}

void leave_host(const Config& config) {
  if (config.host == nullptr) return;
  transport::HostJob& job = *config.host;
  if (!job.has_ended && job.process_count > 1) {
    // A process that has never called MPI.
    job.api->begin_end(job.host);
    while (job.api->has_ended(job.host) == 0)
      os::sleep_ns(1'000'000);
  }
  set_phase(HostPhase::finished);
  job.api->finish(job.host);
}

void abort_host(int status) {
  if (the_job != nullptr && must_abort) the_job->api->abort(the_job->host, status);
}

void record_host_ending() {
  set_phase(HostPhase::ending);
}

}  // namespace sorrel::runtime
