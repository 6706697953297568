//! next_definition - the C library's own function behind one that this module interposes.
//!
//! Any thread. The look-up happens once per call site (keep the result in a static local). Aborts
//! if the C library lacks the function, because a program could not have bound to it.
#pragma once

#include <dlfcn.h>

#include "base/check.hpp"

/// Marks a function that replaces the C library's for the program and for its libraries.
#define SORREL_INTERPOSED extern "C" [[gnu::visibility("default")]]

/// Marks the declaration of an interposed function that is another name of `function`.
#define SORREL_INTERPOSED_AS(function) \
  extern "C" [[gnu::visibility("default"), gnu::alias(#function)]]

namespace sorrel::program {

/// Whether `code`, a caller's return address, lies in this library: the runtime's own calls use the
/// C library's functions. False for program_calls.hpp, whose return addresses stand for the
/// program.
[[nodiscard]] bool is_of_this_library(const void* code);

/// The loader's dlsym, which this module interposes too.
[[nodiscard]] decltype(&::dlsym) loader_dlsym();

/// This library's handle, for the loader's functions.
[[nodiscard]] void* this_library();

/// The address of the C library's definition, or nullptr: the one that follows this library's in
/// the search order, or the first of all if the C library precedes this library.
[[nodiscard]] void* libc_function(const char* name);

template <class Function>
[[nodiscard]] Function* next_definition(const char* name) {
  void* found = libc_function(name);
  SORREL_CHECK(found != nullptr, "the C library has no %s", name);
  return reinterpret_cast<Function*>(found);
}

}  // namespace sorrel::program
