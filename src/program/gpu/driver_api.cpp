#include "program/gpu/driver_api.hpp"

#include <atomic>

#include "program/base/libc.hpp"

namespace sorrel::program::gpu {

namespace {

DriverApi functions;
// (L) release, when all tables of functions are written; acquire before they are called.
std::atomic<void*> loaded_library{nullptr};

}  // namespace

const DriverApi& driver() {
  return functions;
}

bool has_driver() {
  return loaded_library.load(std::memory_order_acquire) != nullptr;  // (L)
}

void* driver_symbol(const char* symbol) {
  void* library = loaded_library.load(std::memory_order_acquire);  // (L)
  return library != nullptr ? loader_dlsym()(library, symbol) : nullptr;
}

void load_driver(void* library) {
#define SORREL_FIND(symbol, parameters) \
  functions.symbol = reinterpret_cast<decltype(functions.symbol)>(loader_dlsym()(library, #symbol));
  SORREL_DRIVER_FUNCTIONS(SORREL_FIND)
#undef SORREL_FIND
}

void announce_driver(void* library) {
  loaded_library.store(library, std::memory_order_release);  // (L)
}

}  // namespace sorrel::program::gpu
