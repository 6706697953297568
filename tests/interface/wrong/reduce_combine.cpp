// the last function of parallel_reduce combines two values, Value combine(Value, Value)
#include <sorrel/parallel.hpp>

int main() {
  return sorrel::parallel_reduce(
      0, 10, 0, [](sorrel::Range, int sum) { return sum; }, [](int sum) { return sum; });
}
