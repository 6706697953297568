#include "base/divisors.hpp"

#include <cstdint>

namespace sorrel {

std::vector<int> divisors_of(int number) {
  std::vector<int> small;
  std::vector<int> large;
  for (int i = 1; std::int64_t{i} * i <= number; ++i) {
    if (number % i != 0) continue;
    small.push_back(i);
    if (number / i != i) large.push_back(number / i);
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

}  // namespace sorrel
