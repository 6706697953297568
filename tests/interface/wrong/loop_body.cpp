// the body of parallel_for takes an index, body(std::int64_t), or a part, body(sorrel::Range)
#include <string>

#include <sorrel/parallel.hpp>

int main() {
  sorrel::parallel_for(0, 10, [](const std::string& text) { return text.size(); });
}
