// the body of parallel_reduce adds a part to a value, Value body(sorrel::Range, Value)
#include <functional>

#include <sorrel/parallel.hpp>

int main() {
  return sorrel::parallel_reduce(
      0, 10, 0, [](std::int64_t i) { return static_cast<int>(i); }, std::plus<>());
}
