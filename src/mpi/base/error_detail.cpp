#include "mpi/base/error_detail.hpp"

#include <cstdarg>
#include <cstdio>

namespace sorrel::mpi {

int ErrorDetail::fail(int error_class, const char* format, ...) {
  va_list values;
  va_start(values, format);
  std::vsnprintf(text_.data(), text_.size(), format, values);
  va_end(values);
  return error_class;
}

}  // namespace sorrel::mpi
