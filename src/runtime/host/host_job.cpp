#include "runtime/host/host_job.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <poll.h>
#include <vector>

#include "base/check.hpp"
#include "governor/cpu_budget.hpp"
#include "mpi/base/rank_layout.hpp"
#include "os/cgroup.hpp"
#include "runtime/host/host_calls.hpp"
#include "runtime/host/host_cores.hpp"
#include "runtime/host/host_memory.hpp"
#include "runtime/host/host_session.hpp"
#include "runtime/host/host_status_block.hpp"
#include "transport/host/host_job_stop.hpp"

namespace sorrel::runtime {

namespace {

/// Divides cores and workers: as many workers in every process.
void divide_cores(transport::HostJob& job, Config& config) {
  HostCores mine{.cpus = {}, .node = job.members[job.process].node};
  for (const int cpu : config.cpus) {
    if (cpu < host_cpu_count_max) mine.cpus.set(static_cast<std::size_t>(cpu));
  }
  const std::vector<HostCores> all = job.gather(mine);
  const std::uint32_t neighbours = count_on_node(all, job.process);
  config.cpus = own_share(all, job.process, config.cpus);
  const governor::CpuBudget budget{.allowed_cpus = config.cpus, .quota = os::cpu_quota()};
  const std::uint32_t possible = budget.thread_count(neighbours);
  if (config.worker_count == 0) {
    const std::vector<std::uint32_t> worker_counts = job.gather(possible);
    config.worker_count = *std::min_element(worker_counts.begin(), worker_counts.end());
  }
  if (config.rank_count == 0)
    config.rank_count = static_cast<std::int32_t>(config.worker_count * job.process_count);
  const auto ranks = static_cast<std::uint32_t>(config.rank_count);
  // Workers without ranks are useful only beside a communication worker.
  if (config.has_comm_worker) {
    config.worker_count = std::max(config.worker_count, 2U);
  } else if (ranks >= job.process_count) {
    config.worker_count = std::min(config.worker_count, ranks / job.process_count);
  }
  SORREL_CHECK(config.worker_count > 0 && config.rank_count > 0, "%u workers, %d ranks",
               config.worker_count, config.rank_count);
  job.is_crowded = config.cpus.size() < config.worker_count;
  if (job.is_crowded || config.is_unbound) {
    config.cpus.clear();
  } else {
    config.cpus.resize(config.worker_count);
  }
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

/// Whether ranks change their process, as `sorrel run` would have it.
bool may_move_between(const Config& config) {
  if (config.process_count == 1 || config.process_mode ||
      config.rank_count > launch::moving_rank_count_max)
    return false;
  const bool may_move = config.is_all_near() ||
                        transport::HostJobStop::is_possible(*config.host, config.worker_count);
  if (!may_move && config.own_process == 0) {
    std::fprintf(
        stderr,
        "sorrel: note: ranks stay in their processes, since the host MPI admits one thread "
        "only: use --workers 1\n");
  }
  return may_move;
}

void publish_status(const Config& config) {
  const mpi::RankLayout layout({.rank_count = config.rank_count,
                                .process_count = config.process_count,
                                .worker_count = config.rank_worker_count()});
  publish_host_status(config.own_process, config.process_count,
                      layout.first_rank_of_process(config.own_process),
                      layout.first_rank_of_process(config.own_process + 1));
}

}  // namespace

void join_host(Config& config) {
  if (config.host_mpi.status_descriptor)
    map_host_status(*config.host_mpi.status_descriptor, config.wrapper.name);
  transport::HostJob& job = begin_host_session(config.host_mpi);
  if (job.process_count == 1 && config.process_count > 1) {
    end_host_process(host_usage_error_status,
                     "the launcher has started %u processes, and the host MPI (%s) has found none "
                     "of the others: each would run a job of its own; use the launcher of this "
                     "MPI, or --host none for a job in each",
                     config.process_count, job.api->name);
  }
  divide_cores(job, config);
  config.process_count = job.process_count;
  config.own_process = job.process;
  config.host = &job;
  job.may_pull = config.may_pull;
  const auto ranks = static_cast<std::uint32_t>(config.rank_count);
  if (ranks < job.process_count || (config.process_mode && ranks != job.process_count)) {
    // One process reports for all; the others end with it.
    if (job.process != 0) ::poll(nullptr, 0, 1000);
    end_host_process(
        host_usage_error_status, "%u ranks for %u processes of the host MPI: each needs %s", ranks,
        job.process_count, config.process_mode ? "one, because the program runs as it is" : "one");
  }
  // Where every process has a node of its own, no processes share memory.
  if (node_count_of(job) != job.process_count) {
    const HostMemory shared = share_host_memory(job, config.worker_count, config.may_share_memory);
    config.memory = shared.memory;
    config.process_in_memory = shared.process;
  }
  config.moves_between = config.moves_between && may_move_between(config);
  if (config.moves_between && !config.is_all_near()) job.api = &calls_outside_of_heaps(*job.api);
  publish_status(config);
  if (config.is_verbose && job.process == 0) print_composition(job, config);
}

void leave_host(const Config& config) {
  if (config.host != nullptr) end_host_session(*config.host);
}

void record_host_ending() {
  set_host_phase(transport::HostPhase::ending);
}

}  // namespace sorrel::runtime
