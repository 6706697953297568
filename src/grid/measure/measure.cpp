#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <sorrel/grid/measure.hpp>

#include "base/check.hpp"
#include "grid/measure/probes.hpp"

namespace sorrel::grid {

double ProbeContext::largest(double value) const {
  double mine = is_first_of_processor() ? value : 0;
  double result = 0;
  MPI_Allreduce(&mine, &result, 1, MPI_DOUBLE, MPI_MAX, comm);
  return result;
}

double least_seconds(int repeat_count,
                     const std::function<void()>& body,
                     const std::function<void()>& before) {
  double least = 1e9;
  for (int i = 0; i <= repeat_count; ++i) {
    if (before) before();
    const double start = MPI_Wtime();
    body();
    const double seconds = MPI_Wtime() - start;
    if (i > 0) least = std::min(least, seconds);
  }
  return least;
}

double least_seconds_together(const ProbeContext& context,
                              int repeat_count,
                              const std::function<void()>& body,
                              const std::function<void()>& before) {
  double least = 1e9;
  for (int i = 0; i <= repeat_count; ++i) {
    if (before) before();
    MPI_Barrier(context.firsts);
    const double start = MPI_Wtime();
    body();
    double seconds = MPI_Wtime() - start;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, context.firsts);
    if (i > 0) least = std::min(least, seconds);
  }
  return least;
}

namespace {

/// Median time beyond the best time, as a share.
double spread_of(std::vector<double> seconds) {
  if (seconds.empty()) return 0;
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2] / seconds.front() - 1;
}

}  // namespace

Machine measure(MPI_Comm comm, const MeasureOptions& options) {
  ProbeContext context{.comm = comm, .large_set_bytes = options.large_set_bytes};
  MPI_Comm_rank(comm, &context.rank);
  MPI_Comm_size(comm, &context.rank_count);
  SORREL_CHECK(context.rank_count >= 2, "a machine is measured with at least two ranks");
  if (options.processor_count > 0)
    context.ranks_per_processor =
        (context.rank_count + options.processor_count - 1) / options.processor_count;
  MPI_Comm_split(comm, context.is_first_of_processor() ? 0 : MPI_UNDEFINED, context.rank,
                 &context.firsts);

  Machine machine;
  machine.name = options.name;
  machine.processor_count = options.processor_count;
  // At the begin and at the end, so that a change of the machine's speed is visible.
  std::vector<double> same_work_s = time_same_work(context);
  probe_computing(context, machine);
  probe_copying(context, machine);
  probe_messages(context, machine);
  for (const double seconds : time_same_work(context))
    same_work_s.push_back(seconds);
  machine.measurement = {.date = "",
                         .spread = context.largest(spread_of(std::move(same_work_s))),
                         .other_work = std::nullopt};
  if (context.firsts != MPI_COMM_NULL) MPI_Comm_free(&context.firsts);
  for (const char* value :
       {"processors", "flops_per_second", "row_start_seconds", "ghost_share", "skin_penalty",
        "row_end_seconds", "poll_seconds", "memory", "planes", "copy", "blocked", "datatype"})
    machine.sources.push_back({.value = value, .text = "measured", .is_assumed = false});
  return machine;
}

}  // namespace sorrel::grid
