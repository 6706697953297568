// the body of parallel_reduce adds a part to a value, Value body(sorrel::Range, Value), where Value
// is the type of `identity`
#include <sorrel/parallel.hpp>

int main() {
  // The sum would be an int, the type of 0.
  const auto body = [](sorrel::Range part, double sum) {
    return sum + 0.75 * static_cast<double>(part.size());
  };
  return sorrel::parallel_reduce(0, 1000, 0, body, std::plus<>());
}
