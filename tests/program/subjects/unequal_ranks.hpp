// What programs with unequal ranks share (loans.cpp, moves.cpp): the rank, and its time.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mpi.h>

namespace {

using Clock = std::chrono::steady_clock;

thread_local int own_rank = -1;
int rank_of_global = -1;
int rank_count = 0;

void compute(std::chrono::microseconds duration) {
  const auto end = Clock::now() + duration;
  while (Clock::now() < end) {
  }
}

[[noreturn]] void fail(const char* what) {
  std::printf("rank %d: %s\n", rank_of_global, what);
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 9);
  std::abort();
}

}  // namespace
