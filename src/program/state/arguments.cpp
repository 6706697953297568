#include "program/state/arguments.hpp"

#include <cstring>

namespace sorrel::program {

Arguments::Arguments(int argc, char** argv) : count_(argc), values_(argv) {
  memory_.reset(new std::byte[bytes()]);
  copy_to(memory_.get(), argv);
}

std::size_t Arguments::bytes() const {
  std::size_t bytes = (static_cast<std::size_t>(count_) + 1) * sizeof(char*);
  for (int i = 0; i < count_; ++i)
    bytes += std::strlen(values_[i]) + 1;
  return bytes;
}

void Arguments::move_to(void* place) {
  copy_to(place, values_);
  memory_.reset();
}

void Arguments::copy_to(void* place, char* const* values) {
  auto** array = static_cast<char**>(place);
  char* next = reinterpret_cast<char*>(array + count_ + 1);
  for (int i = 0; i < count_; ++i) {
    const std::size_t size = std::strlen(values[i]) + 1;
    array[i] = static_cast<char*>(std::memcpy(next, values[i], size));
    next += size;
  }
  array[count_] = nullptr;
  values_ = array;
}

}  // namespace sorrel::program
