#include "runtime/live/activity_description.hpp"

#include <algorithm>
#include <sys/auxv.h>

#include "core/worker.hpp"
#include "symbols/backtrace.hpp"
#include "symbols/source_lines.hpp"

namespace sorrel::runtime {

namespace {

/// Functions of the kernel in the process.
bool is_of_kernel(const void* address) {
  const unsigned long begin = getauxval(AT_SYSINFO_EHDR);
  return begin != 0 && symbols::are_in_one_file(address, reinterpret_cast<const void*>(begin));
}

/// Whether an address lies in code of the rank; for the only rank of a process, whether it lies
/// neither in this library nor in the system's.
bool is_code_of(const JobView& job, const mpi::RankState& rank, const void* address) {
  if (job.place_count() > 1) return job.rank_of_code(address) == rank.world_rank;
  return !symbols::is_of_this_library(address) && !symbols::is_of_c_library(address) &&
         !is_of_kernel(address);
}

/// Where the running rank is, in a signal handler that has interrupted it.
RunningAt running_at(const JobView& job, const mpi::RankState& rank) {
  symbols::Backtrace backtrace;
  backtrace.take_of_interruption();
  const auto addresses = backtrace.addresses();
  const auto found = std::ranges::find_if(
      addresses, [&](const void* address) { return is_code_of(job, rank, address); });
  RunningAt at{.place = found == addresses.end() ? nullptr : *found};
  if (addresses.empty()) return at;
  at.is_in_call = symbols::is_of_this_library(addresses.front());
  // While the worker switches to the rank, the calls are those of another one.
  if (at.is_in_call && at.place == nullptr) at.place = rank.fiber.call_site;
  if (symbols::is_of_c_library(addresses.front())) at.c_function = addresses.front();
  return at;
}

}  // namespace

ActivityDescription describe(const JobView& job, const mpi::RankState& rank) {
  ActivityDescription description{.activity = activity_of(rank),
                                  .running = {},
                                  .python_state = std::nullopt,
                                  .outside = job.body().outside_state(rank),
                                  .unexpected_count = rank.unexpected.count()};
  const bool is_interrupted =
      description.activity.state == core::FiberState::running && runs_flow_of(rank);
  if (is_interrupted) description.running = running_at(job, rank);
  if (is_interrupted) description.python_state = PythonState::interrupted;
  if (stays_suspended(rank.fiber)) description.python_state = PythonState::at_rest;
  return description;
}

ActivityDescription outline(const JobView& job, const mpi::RankState& rank) {
  return {.activity = outline_of(rank),
          .running = {},
          .python_state = std::nullopt,
          .outside = job.body().outside_state(rank)};
}

}  // namespace sorrel::runtime
