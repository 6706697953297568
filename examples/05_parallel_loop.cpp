// A parallel loop without MPI: the calling thread begins at once, and idle threads join.
//
//   at=~/.local    # where Sorrel was installed: cmake --install build/release --prefix ~/.local
//   places="-I$at/include -L$at/lib -Wl,-rpath,$at/lib"
//   c++ -O2 05_parallel_loop.cpp $places -lsorrel -o loop && ./loop

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <vector>

#include <sorrel/parallel.hpp>

int main() {
  constexpr std::int64_t count = 1'000'000;
  std::vector<double> root(count);

  sorrel::parallel_for(0, count,
                       [&](std::int64_t i) { root[i] = std::sqrt(static_cast<double>(i)); });

  // The sum is the same to the last bit, however many threads there are.
  const double sum = sorrel::parallel_reduce(
      0, count, 0.0,
      [&](sorrel::Range part, double partial) {
        for (const std::int64_t i : part)
          partial += root[i];
        return partial;
      },
      std::plus<>());

  std::printf("the roots of 0 to %lld sum up to %.6f\n", static_cast<long long>(count - 1), sum);
  return std::fabs(sum - 666666166.4588) > 1e-3;
}
