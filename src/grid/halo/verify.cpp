#include <algorithm>
#include <cstddef>
#include <utility>

#include <sorrel/grid/verify.hpp>

#include "base/text.hpp"
#include "grid/halo/stepper.hpp"

namespace sorrel::grid {
namespace {

constexpr int batch_count = 8;

// Seconds that some steps take together, agreed by all ranks.
double batch_s(MPI_Comm comm, Stepper& stepper, int step_count) {
  MPI_Barrier(comm);
  const double begin = MPI_Wtime();
  for (int i = 0; i < step_count; ++i)
    stepper.step();
  MPI_Barrier(comm);
  double seconds = MPI_Wtime() - begin;
  // The rank that was let go first: others may have worked before one of them got its turn.
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
  return seconds;
}

}  // namespace

Result<double> time_step(MPI_Comm comm,
                         const Problem& problem,
                         const Candidate& candidate,
                         const TimingOptions& options) {
  Result<Stepper> made = Stepper::make(comm, problem, candidate);
  if (!made.ok()) return Trouble{made.trouble()};
  Stepper stepper = std::move(made).value();
  const double first_s =
      std::max(std::min(batch_s(comm, stepper, 1), batch_s(comm, stepper, 1)), 1e-9);
  const int step_count =
      static_cast<int>(std::clamp(options.seconds / batch_count / first_s, 1.0, 1e6));
  double least_s = first_s;
  for (int i = 0; i < batch_count; ++i)
    least_s = std::min(least_s, batch_s(comm, stepper, step_count) / step_count);
  return least_s;
}

Result<Verification> verify(MPI_Comm comm,
                            const Plan& plan,
                            int count,
                            const TimingOptions& options) {
  Verification verification;
  double fastest_s = 0;
  for (const Candidate& candidate : plan.candidates()) {
    if (static_cast<int>(verification.timed.size()) == count) break;
    const Result<double> measured = time_step(comm, plan.problem(), candidate, options);
    if (!measured.ok()) return Trouble{measured.trouble()};
    verification.timed.push_back({.candidate = candidate, .measured_s = measured.value()});
    if (fastest_s == 0 || measured.value() < fastest_s) fastest_s = measured.value();
  }
  verification.regret = verification.timed.front().measured_s / fastest_s - 1;
  return verification;
}

std::string Verification::table(const Problem& problem) const {
  std::string text = text_of("%-16s %-12s %12s %12s\n", "grid", "overlap", "predicted", "measured");
  for (const Timed& one : timed)
    text += text_of("%-16s %-12s %9.3f ms %9.3f ms\n", name_of(one.candidate.grid, problem).c_str(),
                    name_of(one.candidate.overlap).c_str(), one.candidate.time.step_s() * 1e3,
                    one.measured_s * 1e3);
  return text + text_of("regret %.1f %%\n", regret * 100);
}

}  // namespace sorrel::grid
