#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace fem {

Spread spread_of(double value, MPI_Comm comm) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  Spread spread;
  MPI_Allreduce(&value, &spread.least, 1, MPI_DOUBLE, MPI_MIN, comm);
  MPI_Allreduce(&value, &spread.mean, 1, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Allreduce(&value, &spread.greatest, 1, MPI_DOUBLE, MPI_MAX, comm);
  spread.mean /= size;
  return spread;
}

void EnergyBalance::add(const Energy& energy) {
  if (is_empty_) first_ = energy.total();
  is_empty_ = false;
  last_ = energy;
  // What is not a number is the greatest change.
  const double change = std::abs(energy.total() - first_);
  if (!(change <= change_)) change_ = std::isnan(change) ? 1e300 : change;
  scale_ = std::max({scale_, energy.kinetic, std::abs(energy.strain), std::abs(energy.work)});
}

void add_sizes(Report& report, const Body& body, MPI_Comm comm) {
  const Chunk& chunk = body.chunk();
  double sums[3] = {
      static_cast<double>(chunk.elements.size()),
      static_cast<double>(std::count(chunk.is_counted.begin(), chunk.is_counted.end(), 1)),
      static_cast<double>(chunk.x.size())};
  report.elements_of_rank = spread_of(sums[0], comm);
  report.neighbours_of_rank = spread_of(body.seams().neighbour_count(), comm);
  MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_DOUBLE, MPI_SUM, comm);
  report.elements = static_cast<long long>(sums[0]);
  report.nodes = static_cast<long long>(sums[1]);
  report.shared_part = sums[2] / sums[1] - 1;
  MPI_Comm_size(comm, &report.ranks);
}

void print(const Report& r, bool is_csv) {
  const double steps = std::max(1, r.steps);
  if (is_csv) {
    std::printf(
        "elements,nodes,ranks,steps,seconds_per_step,process_seconds_per_step,work_least,work_mean,"
        "work_greatest,"
        "shared_part,energy_drift,elongation,right\n"
        "%lld,%lld,%d,%d,%.9g,%.9g,%.9g,%.9g,%.9g,%.6g,%.6g,%.17g,%d\n",
        r.elements, r.nodes, r.ranks, r.steps, r.seconds / steps, r.process_seconds / steps,
        r.work.least / steps, r.work.mean / steps, r.work.greatest / steps, r.shared_part,
        r.energy.drift(), r.elongation, r.is_right() ? 1 : 0);
    return;
  }
  std::printf(
      "%lld elements, %lld nodes; %d chunks, %s: %.0f to %.0f elements, %.0f to %.0f neighbours, "
      "%.1f %% more nodes\n",
      r.elements, r.nodes, r.ranks, r.cut_method.c_str(), r.elements_of_rank.least,
      r.elements_of_rank.greatest, r.neighbours_of_rank.least, r.neighbours_of_rank.greatest,
      100 * r.shared_part);
  std::printf("%d %s, %.4g ms each; work of a rank %.4g to %.4g ms, greatest over mean %.3f\n",
              r.steps, r.step_length > 0 ? "steps" : "iterations", 1e3 * r.seconds / steps,
              1e3 * r.work.least / steps, 1e3 * r.work.greatest / steps,
              r.work.mean > 0 ? r.work.greatest / r.work.mean : 1.0);
  if (r.step_length > 0) {
    const Energy& e = r.energy.last();
    std::printf(
        "a step is %.4g s; kinetic %.6g J + strain %.6g J - work %.6g J = %.3g J; drift %.1e%s\n",
        r.step_length, e.kinetic, e.strain, e.work, e.total(), r.energy.drift(),
        r.is_energy_right ? "" : ": WRONG");
  } else {
    std::printf("residual %.1e of that at the start\n", r.residual);
  }
  std::printf("elongation %.12g m, greatest von Mises' stress %.9g Pa\n", r.elongation,
              r.stress_max);
  if (r.answer.what != nullptr)
    std::printf("%s: relative error %.1e: %s\n", r.answer.what, r.answer.error,
                r.answer.is_right() ? "right" : "WRONG");
}

}  // namespace fem
