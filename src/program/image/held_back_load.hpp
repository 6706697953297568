//! HeldBackLoad - has the loader load libraries while the constructors of some of them are held
//! back.
//!
//! The loader runs the constructors of what it loads before dlopen() returns. But it initialises
//! one module before all others, if that has the flag DF_1_INITFIRST; all relocations are done by
//! then. So the module that is opened is not the library itself. It is a small file in memory that
//! has this flag, needs the library, and has one constructor, which holds back those of others
//! (early/hold_back.hpp). The library's own name, place and search path stay what they are.
//! One thread at a time.
#pragma once

#include <functional>
#include <link.h>
#include <span>
#include <string>
#include <vector>

#include "early/early_modules.hpp"

namespace sorrel::program {

/// A module that a load has brought in.
struct NewModule {
  const link_map* map = nullptr;
  bool is_held_back = false;
  early::Module record{};  ///< what was held back
};

struct HeldBackLoad {
  /// For dlclose(); null if the loader has failed, and its dlerror() has the reason. What has been
  /// loaded stays until then, or as long as there are handles of it.
  void* handle = nullptr;
  std::vector<NewModule> modules;
};

/// Loads what `names` names, with all that it needs; symbols are looked up in this order.
/// `is_held_back` decides for each new module, before any of their constructors has run.
[[nodiscard]] HeldBackLoad load_held_back(std::span<const std::string> names,
                                          const std::function<bool(const link_map&)>& is_held_back);

}  // namespace sorrel::program
