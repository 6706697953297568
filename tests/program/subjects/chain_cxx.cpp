#include "chain_cxx.hpp"

#include <cstdio>

ChainError::~ChainError() = default;

int ChainDerived::value() const {
  return chain_exported;
}

namespace {

std::string name = "made by a constructor, which counts to " + std::to_string(chain_count());
thread_local std::string thread_name = "of a thread, " + name;

// The program's handlers run before, the library's own destructors after.
struct Last {
  ~Last() {
    if (name.find("counts to 101") == std::string::npos) std::puts("a destructor sees wrong data");
  }
} last;

}  // namespace

thread_local int chain_cxx_thread_local = 8;

std::string& chain_name() {
  return name;
}

std::string& chain_thread_name() {
  return thread_name;
}

ChainBase* chain_make() {
  return new ChainDerived;
}

void chain_throw(int rank) {
  throw ChainError("thrown for " + std::to_string(rank), rank);
}

int chain_calls(void (*thrower)(int), int rank) {
  static int unwound = 0;

  struct Guard {
    ~Guard() { ++unwound; }
  } guard;

  try {
    thrower(rank);
  } catch (const std::logic_error&) {
    return -1;
  }
  return unwound;
}

int chain_inline_seen() {
  return chain_inline;
}

int chain_local_static_seen() {
  return chain_local_static();
}
