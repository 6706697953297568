#include "program/state/arguments.hpp"

#include <cstddef>
#include <cstring>

namespace sorrel::program {

Arguments::Arguments(int argc, char** argv)
    : count_(argc), values_(new char*[static_cast<std::size_t>(argc) + 1]) {
  std::size_t text_size = 0;
  for (int i = 0; i < argc; ++i)
    text_size += std::strlen(argv[i]) + 1;
  text_.reset(new char[text_size + 1]);
  char* next = text_.get();
  for (int i = 0; i < argc; ++i) {
    const std::size_t size = std::strlen(argv[i]) + 1;
    values_[i] = static_cast<char*>(std::memcpy(next, argv[i], size));
    next += size;
  }
  values_[argc] = nullptr;
}

}  // namespace sorrel::program
