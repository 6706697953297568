#include "launch/job_parts.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace sorrel::launch {

std::vector<PartSpec> parts_of(const JobSpec& job) {
  if (!job.parts.empty()) return job.parts;
  return {{.rank_count = job.rank_count,
           .process_count = job.process_count,
           .worker_count = job.worker_count}};
}

std::vector<ProcessShare> shares_of(const JobSpec& job) {
  std::vector<ProcessShare> shares;
  ProcessShare next;
  for (const PartSpec& part : parts_of(job)) {
    for (std::uint32_t i = 0; i < part.process_count; ++i) {
      const auto before = [&](std::int64_t process) {
        return static_cast<std::int32_t>(part.rank_count * process / part.process_count);
      };
      next.rank_count = before(i + 1) - before(i);
      next.worker_count = part.worker_count;
      shares.push_back(next);
      next.first_rank += next.rank_count;
      next.first_worker += next.worker_count;
    }
    ++next.part;
  }
  SORREL_ASSERT(next.first_rank == job.rank_count && shares.size() == job.process_count,
                "%d ranks of %d in %zu processes of %u", next.first_rank, job.rank_count,
                shares.size(), job.process_count);
  return shares;
}

std::uint32_t workers_per_process(const JobSpec& job) {
  std::uint32_t most = 0;
  for (const PartSpec& part : parts_of(job))
    most = std::max(most, part.worker_count);
  return most;
}

}  // namespace sorrel::launch
