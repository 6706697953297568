#include "mpi/comm/topology/dims.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <mpi.h>
#include <vector>

#include "base/divisors.hpp"

namespace sorrel::mpi {
namespace {

// Whether base^exponent is at least bound, without overflow.
bool power_reaches(int base, std::size_t exponent, int bound) {
  std::int64_t power = 1;
  for (std::size_t i = 0; i < exponent; ++i) {
    power *= base;
    if (power >= bound) return true;
    if (base <= 1) break;
  }
  return power >= bound;
}

// Branch and bound over the non-increasing factorisations of a number.
class Search {
 public:
  Search(int number, std::size_t factor_count)
      : divisors_(divisors_of(number)), factors_(factor_count) {}

  std::vector<int> best(int number) {
    descend(0, number, number);
    return best_;
  }

 private:
  // Chooses factors_[depth..]: their product is `rest`, none is above `limit`.
  void descend(std::size_t depth, int rest, int limit) {
    const std::size_t left = factors_.size() - depth;
    if (left == 1) {
      if (rest > limit) return;
      factors_[depth] = rest;
      consider();
      return;
    }
    for (const int factor : divisors_) {
      if (factor > limit || factor > rest) return;
      // Factors below the root leave too large a product for the remaining ones.
      if (rest % factor != 0 || !power_reaches(factor, left, rest)) continue;
      // At best all remaining factors are equal, so the last factor is no larger than the root of
      // the rest. That root only falls as this factor grows: no later one wins either.
      const int largest = depth == 0 ? factor : factors_[0];
      const int smallest = largest - best_spread_;
      if (smallest > 1 && !power_reaches_from_below(smallest, left - 1, rest / factor)) return;
      factors_[depth] = factor;
      descend(depth + 1, rest / factor, factor);
    }
  }

  // Whether `count` factors of at least `smallest` can have the product `product`.
  static bool power_reaches_from_below(int smallest, std::size_t count, int product) {
    std::int64_t power = 1;
    for (std::size_t i = 0; i < count; ++i) {
      power *= smallest;
      if (power > product) return false;
    }
    return true;
  }

  void consider() {
    const int spread = factors_.front() - factors_.back();
    std::int64_t sum = 0;
    for (const int factor : factors_)
      sum += factor;
    // Largest factors come in ascending order, so of equals the later has the larger smallest one.
    if (spread > best_spread_ || (spread == best_spread_ && sum > best_sum_)) return;
    best_spread_ = spread;
    best_sum_ = sum;
    best_ = factors_;
  }

  const std::vector<int> divisors_;
  std::vector<int> factors_;
  std::vector<int> best_;
  int best_spread_ = std::numeric_limits<int>::max();
  std::int64_t best_sum_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace

int dims_create(int rank_count, std::span<int> dims, ErrorDetail& detail) {
  if (rank_count < 1)
    return detail.fail(MPI_ERR_ARG, "nnodes is %d; it must be at least 1", rank_count);
  int rest = rank_count;
  std::size_t free_count = 0;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0)
      return detail.fail(MPI_ERR_DIMS, "dims[%zu] is %d; it must be at least 0", i, dims[i]);
    if (dims[i] == 0) {
      ++free_count;
    } else if (rest % dims[i] == 0) {
      rest /= dims[i];
    } else {
      return detail.fail(
          MPI_ERR_DIMS,
          "nnodes is %d; the product of the nonzero dims must divide it (dims[%zu] is %d)",
          rank_count, i, dims[i]);
    }
  }
  if (free_count == 0) return MPI_SUCCESS;
  const std::vector<int> factors = Search(rest, free_count).best(rest);
  auto next = factors.begin();
  for (int& extent : dims)
    if (extent == 0) extent = *next++;
  return MPI_SUCCESS;
}

}  // namespace sorrel::mpi
