#include "runtime/host/host_memory.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <fcntl.h>
#include <utility>
#include <vector>

#include "os/memory_barrier.hpp"
#include "os/shared_segment.hpp"

namespace sorrel::runtime {

namespace {

/// The first process's description of the memory that it has made, for the other processes.
struct MemoryOffer {
  /// Descriptor in the first process; -1: there is none.
  std::int32_t descriptor = -1;
};

/// Memory for the whole job, and behind it a word that identifies it. Where processes see each
/// other's numbers differently, a descriptor of this number may belong to another process.
std::size_t offered_bytes(const core::JobShape& shape) {
  return core::JobMemory::bytes_needed(shape) + sizeof(std::uint64_t);
}

std::atomic<std::uint64_t>& word_behind(const os::SharedSegment& segment) {
  return *reinterpret_cast<std::atomic<std::uint64_t>*>(segment.base() + segment.bytes() -
                                                        sizeof(std::uint64_t));
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
  const MemoryOffer offer = job.gather(mine)[first];
  os::SharedSegment opened;
  if (offer.descriptor >= 0) opened = open_offer(job.members[first], offer, bytes);
  // The offer is kept until all processes have opened it.
  const std::vector<std::uint32_t> has_it = job.gather(std::uint32_t{opened.is_valid()});
  const bool have_all = std::ranges::all_of(
      job.neighbours(), [&](std::uint32_t process) { return has_it[process] != 0; });
  return have_all ? std::move(opened) : os::SharedSegment();
}

}  // namespace

HostMemory share_host_memory(const transport::HostJob& job,
                             std::uint32_t workers_per_process,
                             bool may_share) {
  const std::vector<std::uint32_t> neighbours = job.neighbours();
  const core::JobShape shape{.process_count = static_cast<std::uint32_t>(neighbours.size()),
                             .workers_per_process = workers_per_process,
                             .is_part = neighbours.size() != job.process_count};
  os::SharedSegment segment = make_or_open(job, shape, neighbours.front(), may_share);
  HostMemory shared;
  if (segment.is_valid()) {
    const auto own = std::ranges::find(neighbours, job.process);
    shared = {.memory = new core::JobMemory(shape, std::move(segment)),
              .process = static_cast<std::uint32_t>(own - neighbours.begin())};
    if (shared.process == 0) shared.memory->set_has_barrier(os::has_barrier_of_processes());
  }
  // No process uses it before the first process of its node has initialised it.
  (void)job.gather(std::uint32_t{0});
  return shared;
}

}  // namespace sorrel::runtime
