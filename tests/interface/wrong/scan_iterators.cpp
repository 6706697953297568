// parallel scans need random access iterators
#include <list>

#include <sorrel/parallel.hpp>

int main() {
  std::list<int> values{1, 2, 3};
  sorrel::parallel_inclusive_scan(values.begin(), values.end(), values.begin());
}
