// the C++ headers of Sorrel need C++20
// -std=c++17
#include <sorrel/parallel.hpp>

int main() {
  sorrel::parallel_for(0, 10, [](int) {});
}
