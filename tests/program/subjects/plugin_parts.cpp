// A plug-in with everything that an instance must have for itself: data with constructors and
// destructors, thread-locals with and without pointers, exceptions, handlers, calls in both
// directions.
#include "plugin_parts.hpp"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <stdexcept>
#include <string>

extern int host_rank;
extern "C" void host_note(const char* what);
extern "C" int base_next();
extern int base_count;

namespace {

struct Object {
  Object() : text("of rank " + std::to_string(host_rank)) { host_note("plug-in begins"); }

  ~Object() { host_note("plug-in ends"); }

  std::string text;
};

Object object;
int target = 3;
thread_local int plain = 7;
thread_local int* pointer = &target;

struct OfThread {
  ~OfThread() { is_gone = true; }

  int value = 0;
  static bool is_gone;
};

bool OfThread::is_gone = false;
int (*const table[])() = {[] { return target; }, base_next};

}  // namespace

// Bound by name: the loader could find another definition first.
int plugin_own = 20;

extern "C" int plugin_interposable() {
  return ++plugin_own;
}

extern "C" {
const char* plugin_text() {
  return object.text.c_str();
}

int plugin_next() {
  base_count += 100;
  return table[1]();
}

int* plugin_target() {
  return &target;
}

int plugin_through_name() {
  return plugin_interposable();
}

int plugin_thread_locals(int value) {
  static thread_local OfThread of_thread;
  of_thread.value += value;
  plain += value;
  *pointer += value;
  return pointer == &target ? plain * 1000 + of_thread.value : -1;
}

int plugin_catches() {
  try {
    throw std::runtime_error("inside");
  } catch (const std::exception& error) {
    return std::string(error.what()) == "inside" ? 1 : 0;
  }
}

void plugin_throws(int value) {
  throw value;
}

int plugin_shared() {
  return ++shared_by_plugins();
}

void plugin_at_exit() {
  std::atexit([] { host_note("handler"); });
}

const void* plugin_find(const char* name) {
  return dlsym(RTLD_DEFAULT, name);
}

const void* plugin_next_definition(const char* name) {
  return dlsym(RTLD_NEXT, name);
}
}
