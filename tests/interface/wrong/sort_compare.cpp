// the comparison of parallel_sort takes two values, bool compare(const Value&, const Value&)
#include <vector>

#include <sorrel/parallel.hpp>

int main() {
  std::vector<int> values{3, 1, 2};
  sorrel::parallel_sort(values.begin(), values.end(), [](int value) { return value; });
}
