// ignoring return
// -Werror
#include <sorrel/parallel.hpp>

int main() {
  sorrel::parallel_for(0, 10, [](int) { return sorrel::LoopControl::cancel; });
}
