// Common part of the programs of `sorrel bench graph`: a wavefront of empty tasks, each after the
// task above and the task to the left, built once and run many times.
//
//   PROGRAM ROWS COLUMNS ROUNDS     prints "build_ns N first_ns N replay_ns N", a task's share each
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

struct Wavefront {
  long rows;
  long columns;
  int rounds;
};

inline Wavefront wavefront_of(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s ROWS COLUMNS ROUNDS\n", argv[0]);
    std::exit(2);
  }
  return {std::atol(argv[1]), std::atol(argv[2]), std::atoi(argv[3])};
}

inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Times build() once and run() `rounds` times, the first separately.
template <class Build, class Run>
void time_wavefront(const Wavefront& wave, Build&& build, Run&& run) {
  const double began = seconds_now();
  build();
  const double built = seconds_now();
  run();
  const double first = seconds_now();
  double best = 1e30;
  for (int i = 0; i < wave.rounds; ++i) {
    const double start = seconds_now();
    run();
    best = std::min(best, seconds_now() - start);
  }
  const double tasks = static_cast<double>(wave.rows) * static_cast<double>(wave.columns);
  std::printf("build_ns %.4f first_ns %.3f replay_ns %.3f\n", (built - began) / tasks * 1e9,
              (first - built) / tasks * 1e9, best / tasks * 1e9);
}
