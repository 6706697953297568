// A program without MPI whose loops read the environment.
#include <cstdint>
#include <cstdio>
#include <functional>

#include <sorrel/parallel.hpp>

int main() {
  const auto sum = sorrel::parallel_reduce(
      0, 1000, std::int64_t{0},
      [](sorrel::Range part, std::int64_t partial) {
        for (const std::int64_t i : part)
          partial += i;
        return partial;
      },
      std::plus<>());
  std::printf("sum %lld\n", static_cast<long long>(sum));
}
