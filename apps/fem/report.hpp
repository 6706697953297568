//! What a run prints: sizes, time, load of the ranks, energy, and whether the answer is right.
#pragma once

#include <mpi.h>
#include <string>

#include "body.hpp"
#include "problem.hpp"
#include "steps.hpp"

namespace fem {

/// Least, mean and greatest value of all ranks.
struct Spread {
  double least = 0, mean = 0, greatest = 0;
};

/// Collective.
Spread spread_of(double value, MPI_Comm comm);

/// Whether the energy of a run is conserved.
class EnergyBalance {
 public:
  void add(const Energy& energy);

  /// Greatest change of the total since the first sample, over the greatest part.
  double drift() const { return scale_ > 0 ? change_ / scale_ : change_; }

  const Energy& last() const { return last_; }

 private:
  Energy last_;
  double first_ = 0, change_ = 0, scale_ = 0;
  bool is_empty_ = true;
};

struct Report {
  long long elements = 0, nodes = 0;
  int ranks = 1;
  std::string cut_method;
  Spread elements_of_rank, neighbours_of_rank;
  double shared_part = 0;  ///< nodes on seams, each counted once a rank, over all nodes
  int steps = 0;           ///< or iterations
  double step_length = 0;  ///< s; 0: equilibrium
  double residual = 0;     ///< of the equilibrium
  double seconds = 0;      ///< of all steps, the slowest rank's
  double process_seconds =
      0;        ///< processor time of rank 0's process in all steps, of all ranks in it
  Spread work;  ///< s, of all steps, without waiting
  EnergyBalance energy;
  double elongation = 0;  ///< mean of the loaded nodes, m
  double stress_max = 0;  ///< von Mises, Pa
  Check answer;
  bool is_energy_right = true;

  bool is_right() const { return is_energy_right && answer.is_right(); }
};

/// Collective: sums over the ranks.
void add_sizes(Report& report, const Body& body, MPI_Comm comm);

/// On rank 0.
void print(const Report& report, bool is_csv);

}  // namespace fem
