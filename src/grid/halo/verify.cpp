#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <sorrel/grid/verify.hpp>

#include "base/text.hpp"
#include "grid/halo/stepper.hpp"

namespace sorrel::grid {
namespace {

constexpr int batch_count = 8;
// With fewer steps or less time, the barriers around them distort the result if messages are slow.
constexpr double step_count_min = 8;
constexpr double batch_s_min = 0.05;

// Seconds that some steps take together, the same on all ranks.
double batch_s(MPI_Comm comm, Stepper& stepper, int step_count) {
  MPI_Barrier(comm);
  const double begin = MPI_Wtime();
  for (int i = 0; i < step_count; ++i)
    stepper.step();
  MPI_Barrier(comm);
  double seconds = MPI_Wtime() - begin;
  // The maximum: a rank may leave the barrier late, after other ranks have begun their steps.
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
  return seconds;
}

// Seconds of one step, the least of several batches.
Result<double> step_s(
    MPI_Comm comm, const Problem& problem, const Cut& cut, double seconds, StepperMemory& memory) {
  Result<Stepper> made = Stepper::make(comm, problem, cut, memory);
  if (!made.has_value()) return Error{made.error()};
  Stepper stepper = std::move(made).value();
  // The first step starts with cold caches and page tables.
  double spent_s = batch_s(comm, stepper, 1);
  const double first_s = std::max(std::min(batch_s(comm, stepper, 1), spent_s), 1e-9);
  const double least_count = std::min(step_count_min, std::ceil(batch_s_min / first_s));
  const int step_count =
      static_cast<int>(std::clamp(seconds / batch_count / first_s, least_count, 1e6));
  double least_s = first_s;
  for (spent_s += first_s; spent_s < seconds;) {
    const double batch = batch_s(comm, stepper, step_count);
    least_s = std::min(least_s, batch / step_count);
    spent_s += batch;
  }
  return least_s;
}

}  // namespace

Result<double> time_step(MPI_Comm comm,
                         const Problem& problem,
                         const Cut& cut,
                         const TimingOptions& options) {
  StepperMemory memory;
  return step_s(comm, problem, cut, options.seconds, memory);
}

Result<std::vector<std::vector<double>>> time_rounds(MPI_Comm comm,
                                                     const Problem& problem,
                                                     std::span<const Cut> cuts,
                                                     const TimingOptions& options) {
  std::vector<std::vector<double>> rounds_s(cuts.size());
  const int round_count = std::max(options.round_count, 1);
  StepperMemory memory;
  for (int round = 0; round < round_count; ++round) {
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      const Result<double> timed =
          step_s(comm, problem, cuts[i], options.seconds / round_count, memory);
      if (!timed.has_value()) return Error{timed.error()};
      rounds_s[i].push_back(timed.value());
    }
  }
  return rounds_s;
}

Result<std::vector<double>> time_steps(MPI_Comm comm,
                                       const Problem& problem,
                                       std::span<const Cut> cuts,
                                       const TimingOptions& options) {
  const auto rounds = time_rounds(comm, problem, cuts, options);
  if (!rounds.has_value()) return Error{rounds.error()};
  std::vector<double> least_s;
  for (const std::vector<double>& of_one : rounds.value())
    least_s.push_back(*std::min_element(of_one.begin(), of_one.end()));
  return least_s;
}

Result<Verification> verify(MPI_Comm comm,
                            const Plan& plan,
                            int count,
                            const TimingOptions& options) {
  const std::vector<Cut>& all = plan.cuts();
  const std::span first(all.data(), std::min(all.size(), static_cast<std::size_t>(count)));
  const Result<std::vector<double>> measured = time_steps(comm, plan.problem(), first, options);
  if (!measured.has_value()) return Error{measured.error()};
  const std::vector<double>& seconds = measured.value();
  Verification verification;
  for (std::size_t i = 0; i < first.size(); ++i)
    verification.timed.push_back({.cut = first[i], .measured_s = seconds[i]});
  verification.regret = seconds.front() / *std::min_element(seconds.begin(), seconds.end()) - 1;
  return verification;
}

std::string Verification::table(const Problem& problem) const {
  std::string text = text_of("%-16s %-12s %12s %12s\n", "grid", "overlap", "predicted", "measured");
  for (const Timed& one : timed)
    text += text_of("%-16s %-12s %9.3f ms %9.3f ms\n", name_of(one.cut.grid, problem).c_str(),
                    name_of(one.cut.overlap).c_str(), one.cut.time.step_s() * 1e3,
                    one.measured_s * 1e3);
  return text + text_of("regret %.1f %%\n", regret * 100);
}

}  // namespace sorrel::grid
