// A parallel loop and a reduction in a program without MPI.
#include <cstdint>
#include <functional>
#include <vector>

#include <sorrel/parallel.hpp>

int main() {
  std::vector<double> squares(100000);
  sorrel::parallel_for(0, 100000, [&](std::int64_t i) { squares[i] = static_cast<double>(i) * i; });
  const double sum = sorrel::parallel_reduce(
      0, 100000, 0.0,
      [&](sorrel::Range part, double partial) {
        for (const std::int64_t i : part)
          partial += squares[i];
        return partial;
      },
      std::plus<>());
  return sum != 333328333350000.0;
}
