#include "runtime/own_mark.hpp"

#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace sorrel::runtime {

namespace {

/// Address of the variable's first value, which no code reads any more; null: none.
char* place = nullptr;
launch::ProcessMark mark;

void write_mark() {
  if (place == nullptr) return;
  const auto text = launch::encode(mark);
  std::memcpy(place, text.data(), text.size());
}

}  // namespace

void take_mark_from_environment() {
  char* value = ::secure_getenv(launch::mark_variable);
  if (value == nullptr) return;
  if (std::strlen(value) == launch::mark_bytes) {
    place = value;
    mark.process = getpid();
    write_mark();
  }
  unsetenv(launch::mark_variable);
}

void mark_request_handler(launch::RequestHandler handler) {
  mark.handler = handler;
  write_mark();
}

void mark_reporting_thread(pid_t thread) {
  mark.thread = thread;
  write_mark();
}

}  // namespace sorrel::runtime
