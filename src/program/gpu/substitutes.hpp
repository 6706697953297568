//! Substitutes - the functions that ranks get in the place of some of the driver's, by the names
//! under which programs ask for them.
//!
//! A program finds the driver's functions by dlsym(), by cuGetProcAddress(), which is among them,
//! or because it is linked with libcuda.so.1. All three ways lead here, so static runtimes and
//! libraries get them, too.
#pragma once

#include <cstdint>
#include <span>

namespace sorrel::program::gpu {

/// Whether a function has two symbols, of which one takes a null stream for that of the thread.
enum class Variant : std::uint8_t { only, legacy, per_thread };

struct Substitute {
  /// The name for cuGetProcAddress().
  const char* name;
  const char* symbol;
  /// The first version of CUDA whose programs mean this symbol by `name`: 3020 is 3.2.
  int version;
  Variant variant;
  void* function;
};

/// What a program gets for `found`, the address of a symbol: itself, or a substitute if it is of
/// the driver. Any thread. Loads the driver's functions at the first use.
[[nodiscard]] void* substitute_for(void* found, const char* symbol);

/// Before images of the program are made, and after record_driver_libraries(): the driver may be
/// loaded already.
void find_loaded_driver();

/// Whether the driver can be loaded, which it is then. Any thread.
[[nodiscard]] bool can_load_driver();

// The parts of the table.
[[nodiscard]] std::span<const Substitute> context_substitutes();
[[nodiscard]] std::span<const Substitute> copy_substitutes();
[[nodiscard]] std::span<const Substitute> memory_substitutes();
[[nodiscard]] std::span<const Substitute> stream_substitutes();
/// Functions that differ from the driver's in the stream alone; load_stream_operations() comes
/// first.
[[nodiscard]] std::span<const Substitute> operation_substitutes();
void load_stream_operations(void* library);

}  // namespace sorrel::program::gpu
