//! symbol_of_rank - what a function or variable of the template image is for the calling rank.
#pragma once

namespace sorrel::program {

/// `symbol` is an address that the loader has found. In a module of which each rank has its own
/// copy, the result is that of the calling rank, or null if the rank has not opened the library;
/// otherwise it is `symbol`. Any thread; safe in signal handlers.
[[nodiscard]] void* symbol_of_rank(void* symbol);

/// Finds the instance of another rank, by its index among those of this process; -1: the process is
/// the rank.
[[nodiscard]] void* symbol_of_rank(void* symbol, int index);

/// The definition behind this library's, for a call of a rank: mostly the C library's, but perhaps
/// one in the rank's copy of a library that wraps it.
template <class Function>
[[nodiscard]] Function* definition_of_rank(Function* next) {
  return reinterpret_cast<Function*>(symbol_of_rank(reinterpret_cast<void*>(next)));
}

}  // namespace sorrel::program
