#include "mpi/rank_state.hpp"

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

RankState* current_rank() {
  core::Worker* worker = core::Worker::current();
  if (worker == nullptr) return nullptr;
  return static_cast<RankState*>(worker->running().user);
}

}  // namespace sorrel::mpi
