// Compiled by `sorrel selftest`: a parallel loop in a program without MPI.
#include <cstdint>
#include <cstdio>
#include <vector>

#include <sorrel/parallel.hpp>

int main() {
  std::vector<int> calls(100000);
  sorrel::parallel_for(0, 100000, [&](std::int64_t i) { ++calls[static_cast<std::size_t>(i)]; });
  int wrong = 0;
  for (const int count : calls)
    wrong += count != 1;
  std::printf("a loop, %d wrong values\n", wrong);
}
