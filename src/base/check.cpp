#include "base/check.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace sorrel {

void check_failed(const char* file, int line, const char* condition, const char* format, ...) {
  char message[512];
  va_list values;
  va_start(values, format);
  std::vsnprintf(message, sizeof message, format, values);
  va_end(values);
  std::fprintf(stderr, "sorrel: %s:%d: check failed: %s;%s\n", file, line, condition, message);
  std::abort();
}

}  // namespace sorrel
