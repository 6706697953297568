//! EarlyModules - what libsorrel-early.so.0 has done, for program/image.
//!
//! Written before any constructor of the process runs, constant afterwards. `sorrel run` preloads
//! the library for a job with private libraries, and below a wrapper that may start such a program.
//! It is the only library that the loader initialises before all others (DF_1_INITFIRST). It
//! changes the dynamic sections of the modules of the private set so that the loader runs none of
//! their constructors and destructors, and records what it has replaced. This header is used by
//! both sides and needs no C++ library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <link.h>

namespace sorrel::early {

/// Entries of a module's dynamic section as they were; 0: it has none.
struct Module {
  std::uintptr_t base;
  const ElfW(Dyn) * dynamic;  ///< null: it could not be changed
  std::uintptr_t init;
  std::uintptr_t fini;
  std::size_t init_bytes;
  std::size_t fini_bytes;
  std::size_t preinit_bytes;
};

struct Modules {
  static constexpr std::size_t count_max = 1024;

  /// More modules of the set are loaded than fit here; none was changed.
  bool are_too_many;
  std::size_t count;  ///< 0: the job has no private libraries
  Module modules[count_max];
};

inline constexpr const char* modules_symbol = "sorrel_early_modules_1";

}  // namespace sorrel::early
