#include "tools/sorrel/run/part_plan.hpp"

#include <algorithm>
#include <fmt/core.h>

#include "base/check.hpp"
#include "tools/sorrel/machine/worker_plan.hpp"
#include "tools/sorrel/run/run_options.hpp"

namespace sorrel::tool {

namespace {

using launch::PartSpec;

std::uint64_t process_count(std::span<const PartSpec> parts) {
  std::uint64_t sum = 0;
  for (const PartSpec& part : parts)
    sum += part.process_count;
  return sum;
}

/// The part with the most ranks in a process, if it can have one more process; or null.
PartSpec* most_crowded(std::vector<PartSpec>& parts) {
  PartSpec* found = nullptr;
  for (PartSpec& part : parts) {
    if (part.process_count >= static_cast<std::uint32_t>(part.rank_count)) continue;
    // Compares the ratios ranks / processes.
    if (found == nullptr || std::int64_t{part.rank_count} * found->process_count >
                                std::int64_t{found->rank_count} * part.process_count)
      found = &part;
  }
  return found;
}

/// The workers of a process: the part of the cores that its ranks are of all ranks.
std::uint32_t workers_of(const PartSpec& part, std::uint64_t all_ranks, const PartLimits& limits) {
  const auto ranks = static_cast<std::uint64_t>(part.rank_count);
  const std::uint64_t share = limits.cores * ranks / (all_ranks * part.process_count);
  const std::uint64_t wanted = limits.workers.value_or(std::max<std::uint64_t>(share, 1));
  return static_cast<std::uint32_t>(std::min(wanted, ranks / part.process_count));
}

/// The workers of each process without ranks: the cores that the others leave, or half of all.
std::uint32_t workers_of_hosts(const std::vector<PartSpec>& parts, const PartLimits& limits) {
  std::uint64_t used = 0;
  std::uint64_t hosts = 0;
  for (const PartSpec& part : parts) {
    used += part.rank_count == 0 ? 0 : std::uint64_t{part.process_count} * part.worker_count;
    hosts += part.rank_count == 0 ? 1 : 0;
  }
  const std::uint64_t left = limits.cores - std::min(used, limits.cores);
  const std::uint64_t share =
      std::max(left, (limits.cores + 1) / 2) / std::max(hosts, std::uint64_t{1});
  return static_cast<std::uint32_t>(limits.workers.value_or(std::max(share, std::uint64_t{1})));
}

}  // namespace

Result<std::vector<PartSpec>> plan_parts(std::span<const PartRequest> requests,
                                         const PartLimits& limits) {
  std::vector<PartSpec> parts;
  std::uint64_t ranks = 0;
  for (const PartRequest& request : requests) {
    ranks += request.ranks;
    parts.push_back(
        {.rank_count = static_cast<std::int32_t>(request.ranks),
         .process_count = static_cast<std::uint32_t>(
             request.must_spread && request.ranks > 0 ? request.ranks : std::uint64_t{1}),
         .worker_count = 1});
  }
  if (ranks > ranks_max)
    return Error{fmt::format("a job can have {} ranks, not {}", ranks_max, ranks)};
  if (ranks == 0) return Error{"a job needs a rank: -n 1 or more for one of its programs"};
  const std::uint64_t least = process_count(parts);
  const std::uint64_t wanted = limits.processes.value_or(least);
  const auto hosts = static_cast<std::uint64_t>(
      std::ranges::count(parts, 0, [](const PartSpec& part) { return part.rank_count; }));
  if (wanted < least || wanted > ranks + hosts) {
    return Error{
        fmt::format("--procs must be from {} to {}, not {}: each program has processes of its own",
                    least, ranks + hosts, wanted)};
  }
  for (std::uint64_t left = wanted - least; left > 0; --left) {
    PartSpec* const part = most_crowded(parts);
    SORREL_CHECK(part != nullptr, "%llu processes for %llu ranks",
                 static_cast<unsigned long long>(wanted), static_cast<unsigned long long>(ranks));
    ++part->process_count;
  }
  SORREL_ASSERT(process_count(parts) == wanted, "%llu processes, not %llu",
                static_cast<unsigned long long>(process_count(parts)),
                static_cast<unsigned long long>(wanted));
  std::uint32_t widest = 1;
  for (PartSpec& part : parts) {
    if (part.rank_count != 0) part.worker_count = workers_of(part, ranks, limits);
  }
  for (PartSpec& part : parts) {
    if (part.rank_count == 0) part.worker_count = workers_of_hosts(parts, limits);
    SORREL_ASSERT(part.worker_count >= 1, "%d ranks in %u processes have no worker",
                  part.rank_count, part.process_count);
    widest = std::max(widest, part.worker_count);
  }
  if (wanted * widest > workers_max) {
    return Error{fmt::format("{} processes of up to {} workers are more than {} workers in all",
                             wanted, widest, workers_max)};
  }
  return parts;
}

bool is_process_mode(const PartSpec& part, const PartRequest& request, const PartLimits& limits) {
  return (request.must_spread || limits.processes.has_value()) &&
         part.process_count == static_cast<std::uint32_t>(part.rank_count);
}

}  // namespace sorrel::tool
