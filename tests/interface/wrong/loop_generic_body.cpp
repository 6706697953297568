// the body of parallel_for says whether it takes an index, body(std::int64_t), or a part,
// body(sorrel::Range)
#include <sorrel/parallel.hpp>

int main() {
  std::atomic<int> calls{0};
  sorrel::parallel_for(0, 1000, [&](auto) { ++calls; });
}
