#include "mpi/match/rank_state.hpp"

#include <cstdarg>
#include <cstdio>

namespace sorrel::mpi {

int RankState::fail(int error_class, const char* format, ...) {
  va_list values;
  va_start(values, format);
  char text[256];
  std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  return detail().fail(error_class, "%s", text);
}

}  // namespace sorrel::mpi
